//! Rules of ShellCheck that shuck has not, each under ShellCheck's code: what they are called, and which of them hold.
//!
//! The rules are off where there is a `.shuck.toml`, which cannot name them.

use std::ops::Range;

use broker_plugin_sdk::{self as plugin, Diagnostic, Severity};
use shuck_ast::File;
use shuck_linter::{AnalysisRequest, ShellCheckCodeMap};

use crate::commands::{self, Found};
use crate::shellcheck::ShellCheckRc;
use crate::tree::{Statements, range};

/// Rule that shuck has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    MissingBang,
    SetAssigns,
    ReadExpands,
    VariableCompared,
    EmptyCommand,
}

impl Extra {
    pub(crate) const ALL: [Self; 5] =
        [Self::MissingBang, Self::SetAssigns, Self::ReadExpands, Self::VariableCompared, Self::EmptyCommand];

    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::MissingBang => "SC1113",
            Self::SetAssigns => "SC2121",
            Self::ReadExpands => "SC2229",
            Self::VariableCompared => "SC2284",
            Self::EmptyCommand => "SC2286",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MissingBang => "shebang-without-bang",
            Self::SetAssigns => "assignment-by-set",
            Self::ReadExpands => "read-of-expansion",
            Self::VariableCompared => "comparison-as-command",
            Self::EmptyCommand => "empty-command",
        }
    }

    /// Returns the rules that a selector names.
    pub(crate) fn selected(selector: &str) -> Vec<Self> {
        let is_named = |it: &Self| selector == "ALL" || it.code() == selector || it.name() == selector;
        Self::ALL.into_iter().filter(is_named).collect()
    }

    fn summary(self) -> &'static str {
        match self {
            Self::MissingBang => "First line that begins with `#` instead of `#!`",
            Self::SetAssigns => "`set name=value`, which sets `$1`",
            Self::ReadExpands => "`read $name`, which does not read `name`",
            Self::VariableCompared => "`$name == value`, which runs a command",
            Self::EmptyCommand => "Empty string as the name of a command",
        }
    }

    fn explanation(self) -> &'static str {
        match self {
            Self::MissingBang => {
                "A first line such as `#/bin/bash` is a comment, and the script runs in whatever shell starts it."
            }
            Self::SetAssigns => {
                "In csh, `set name=value` assigns; in the shells checked here, it makes `name=value` the first positional \
                 parameter. Reported where it is the only argument."
            }
            Self::ReadExpands => {
                "`read $name` reads into the variable whose name is the value of `name`. Reported for scripts with a `#!` that \
                 run no other text, where nothing sets the variable and its value is used."
            }
            Self::VariableCompared => {
                "A comparison needs `[ … ]` or `[[ … ]]`: `if $name == 1` runs the value of `name` as a command, with \
                 `==` and `1` as its arguments."
            }
            Self::EmptyCommand => {
                "`command || \"\"` runs a command without a name, which always fails with status 127: `|| true` is meant, or \
                 `|| echo \"\"`."
            }
        }
    }

    pub(crate) fn rule(self) -> plugin::Rule {
        let note = "It is a rule of ShellCheck's that shuck has not, and off where there is a `.shuck.toml`.";
        plugin::Rule {
            name: self.name().to_owned(),
            explanation: format!("{}\n\n{note}", self.explanation()),
            url: Some(self.url()),
            default: true,
            ..plugin::Rule::new(self.code(), self.summary())
        }
    }

    fn severity(self) -> Severity {
        match self {
            Self::SetAssigns | Self::ReadExpands => Severity::Warning,
            Self::MissingBang | Self::VariableCompared | Self::EmptyCommand => Severity::Error,
        }
    }

    fn url(self) -> String {
        format!("https://www.shellcheck.net/wiki/{}", self.code())
    }
}

/// Returns the findings of the rules that are `on`, without those that the script's comments switch off.
pub(crate) fn check(file: &File, text: &str, on: &[Extra], directives: &[Directive]) -> Vec<Found> {
    if on.is_empty() {
        return Vec::new();
    }
    let mut found = commands::check(file, text);
    found.retain(|it| on.contains(&it.0));
    let statements = Statements::of(&file.body);
    let directives = directives.iter().filter(|it| !it.extras.is_empty());
    let parts: Vec<_> = directives.map(|it| (&it.extras, it.holds_for(&statements, text))).collect();
    let is_ignored = |(extra, place, _): &Found| {
        parts.iter().any(|(extras, part)| extras.contains(extra) && part.contains(&place.start))
    };
    found.retain(|it| !is_ignored(it));
    found
}

pub(crate) fn finding((extra, place, message): Found) -> Diagnostic {
    Diagnostic {
        name: Some(extra.name().to_owned()),
        severity: extra.severity(),
        url: Some(extra.url()),
        ..Diagnostic::new(extra.code(), message, place)
    }
}

/// `# shellcheck disable=SC2229`.
#[derive(Debug)]
pub(crate) struct Directive {
    extras: Vec<Extra>,
    /// Offset of the comment's end.
    end: usize,
}

impl Directive {
    /// Returns the directives in comments that have a line to themselves.
    pub(crate) fn all(request: &AnalysisRequest<'_>, text: &str, map: &ShellCheckCodeMap) -> Vec<Self> {
        let comments = request.indexer().comment_index().comments().iter().filter(|it| it.is_own_line);
        let directive = |it: Range<usize>| {
            let words = text.get(it.clone())?.trim_start_matches('#').trim_start();
            let settings = words.strip_prefix("shellcheck").filter(|it| it.starts_with([' ', '\t']))?;
            Some(Self { extras: ShellCheckRc::parse(settings, map).extras, end: it.end })
        };
        comments.filter_map(|it| directive(it.range.start().into()..it.range.end().into())).collect()
    }

    /// The statement that follows, or all where that is the first one.
    fn holds_for(&self, statements: &Statements<'_>, text: &str) -> Range<usize> {
        let is_code = |it: &&str| !it.trim_start().starts_with('#') && !it.trim().is_empty();
        let Some(code) = text[self.end..].lines().find(is_code) else { return 0..text.len() };
        let at = code.trim_start().as_ptr() as usize - text.as_ptr() as usize;
        if statements.first().is_none_or(|it| it >= at) {
            return 0..text.len();
        }
        statements.beginning(at).map_or(at..at, |it| range(it.span))
    }
}
