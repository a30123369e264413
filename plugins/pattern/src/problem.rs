//! Problems of the rules themselves.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Severity};

use crate::languages::Lang;

/// The code of a problem that is told in the file that it is in.
pub(crate) const INVALID_RULE: &str = "invalid-rule";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Path relative to the root.
    pub(crate) path: String,
    span: Range<usize>,
    message: String,
    reach: Reach,
}

/// Files that have fewer findings because of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    Language(Lang),
    /// No files that Broker could report anything about.
    Nothing,
}

impl Problem {
    /// Makes a problem that may cost any file its findings.
    pub(crate) fn new(path: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), span, message: message.into(), reach: Reach::All }
    }

    pub(crate) fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let severity = if self.reach == Reach::Nothing { Severity::Warning } else { Severity::Error };
        Diagnostic { severity, ..Diagnostic::new(INVALID_RULE, self.message.clone(), self.span.clone()) }
    }

    fn concerns(&self, path: &str, langs: &[Lang]) -> bool {
        let reaches = match self.reach {
            Reach::All => true,
            Reach::Language(it) => langs.contains(&it),
            Reach::Nothing => false,
        };
        reaches && self.path != path
    }
}

/// Returns the reason why findings in a file with text in these languages may be missing, in one sentence.
pub(crate) fn incomplete(problems: &[Problem], path: &str, langs: &[Lang]) -> Option<String> {
    let mut concerned = problems.iter().filter(|it| it.concerns(path, langs));
    let first = concerned.next()?;
    let told = format!("a rule in `{}` is not used: {}", first.path, first.message);
    match concerned.count() {
        0 => Some(told),
        more => Some(format!("{told} (and {more} more)")),
    }
}
