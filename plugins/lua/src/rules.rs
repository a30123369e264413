//! The lints of selene, and which of them are wanted.

use broker_plugin_sdk::{Rule, Selectors, Settings, Severity};

use crate::defaults;
use crate::table::TABLE;

/// Code of syntax errors, as selene has it.
pub(crate) const PARSE_ERROR: &str = "parse_error";

/// Codes of lints, on top of what is configured.
pub(crate) type Selection = Selectors<&'static str>;

/// The selection, and the selectors that mean nothing.
pub(crate) fn selection(settings: &Settings) -> (Selection, Vec<String>) {
    Selectors::new(settings, |selector| {
        let named = codes().filter(|it| selector == "ALL" || selector == *it);
        Some(named.collect::<Vec<_>>()).filter(|it| !it.is_empty())
    })
}

/// The selection of every lint.
pub(crate) fn everything() -> Selection {
    Selection { select: Some(codes().collect()), ..Selection::default() }
}

fn codes() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|it| it.0).chain([PARSE_ERROR])
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
    if defaults::LEFT_OVER.contains(&code) {
        let note = "Where there is no `selene.toml`, it is not reported in what tests are given, and in folders such as `vendor`.";
        explanation.push_str(if explanation.is_empty() { "" } else { "\n\n" });
        explanation.push_str(note);
    }
    Rule { explanation, url: Some(url(code)), default: !defaults::is_off(code), ..Rule::new(code, summary) }
}

/// Returns the severity of a lint's findings without a configuration.
pub(crate) fn severity(code: &str) -> Severity {
    let is_error = TABLE.iter().any(|row| row.0 == code && row.1);
    if is_error { Severity::Error } else { Severity::Warning }
}

pub(crate) fn url(code: &str) -> String {
    format!("https://kampfkarren.github.io/selene/lints/{code}.html")
}
