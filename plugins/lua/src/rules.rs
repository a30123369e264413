//! The lints of selene, and which of them are wanted.

use broker_plugin_sdk::{DEFAULT, Rule, Settings, Severity};

use crate::defaults;
use crate::table::TABLE;

/// What does not parse, in selene's own word for it.
pub(crate) const PARSE_ERROR: &str = "parse_error";

/// What the user asked for, on top of what is configured.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// In place of what is configured.
    select: Option<Vec<String>>,
    /// Besides that.
    more: Vec<String>,
    ignore: Vec<String>,
}

impl Selection {
    /// The selection, and the selectors that mean nothing.
    pub(crate) fn new(settings: &Settings) -> (Self, Vec<String>) {
        let is_known = |it: &&String| {
            ["ALL", DEFAULT, PARSE_ERROR].contains(&it.as_str()) || TABLE.iter().any(|row| row.0 == *it)
        };
        let (select, more) = settings.selected();
        let ignore = &settings.ignore;
        let unknown = select.unwrap_or_default().iter().chain(more).chain(ignore).filter(|it| !is_known(it));
        let unknown = unknown.cloned().collect();
        (Self { select: select.map(<[_]>::to_vec), more: more.to_vec(), ignore: ignore.clone() }, unknown)
    }

    /// Every lint.
    pub(crate) fn all() -> Self {
        Self { select: Some(vec!["ALL".to_owned()]), ..Self::default() }
    }

    pub(crate) fn includes(&self, code: &str) -> bool {
        self.select.as_ref().is_none_or(|it| names(it, code)) && !names(&self.ignore, code)
    }

    /// Whether the user asked for it, though it may be off.
    pub(crate) fn asks_for(&self, code: &str) -> bool {
        self.includes(code) && (self.is_chosen() || names(&self.more, code))
    }

    /// Whether what is selected takes the place of what is configured.
    pub(crate) fn is_chosen(&self) -> bool {
        self.select.is_some()
    }

    /// They are told whatever is selected: nothing else can be found in such a file.
    pub(crate) fn tells_syntax_errors(&self) -> bool {
        !names(&self.ignore, PARSE_ERROR)
    }
}

fn names(selectors: &[String], code: &str) -> bool {
    selectors.iter().any(|it| it == "ALL" || it == code)
}

/// Every lint, and what stands for one.
pub(crate) fn all() -> Vec<Rule> {
    let syntax = Rule {
        explanation: "What Lua cannot read. Where no `selene.toml` names a standard library, a file may be of any version of \
                      Lua from 5.1 to 5.4, LuaJIT, or Luau."
            .to_owned(),
        ..Rule::new(PARSE_ERROR, "Code that does not parse")
    };
    std::iter::once(syntax).chain(TABLE.iter().map(describe)).collect()
}

fn describe(row: &(&'static str, bool, &'static str, &'static str)) -> Rule {
    let (code, _, summary, explanation) = *row;
    let mut explanation = explanation.to_owned();
    if defaults::OFF.contains(&code) {
        explanation.push_str(if explanation.is_empty() { "" } else { " " });
        explanation.push_str("On by default where there is a `selene.toml`, and only there.");
    }
    Rule { explanation, url: Some(url(code)), default: !defaults::is_off(code), ..Rule::new(code, summary) }
}

/// How bad a lint's findings are without a configuration.
pub(crate) fn severity(code: &str) -> Severity {
    let is_error = TABLE.iter().any(|row| row.0 == code && row.1);
    if is_error { Severity::Error } else { Severity::Warning }
}

pub(crate) fn url(code: &str) -> String {
    format!("https://kampfkarren.github.io/selene/lints/{code}.html")
}
