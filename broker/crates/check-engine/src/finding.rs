//! Contents of a report for each file: findings with lines and columns, and answers that are incomplete.

use std::{cmp::Ordering, fmt, sync::Arc};

use lint::{Applicability, Completeness, FindingKey, LineColumn, Severity, Span};
use overlay::{ContentHash, WorkspacePath};

/// A finding. There can be very many, so equal parts are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub file: Arc<CheckedFile>,
    pub rule: Arc<RuleRef>,
    pub message: Arc<str>,
    pub severity: Severity,
    /// The notebook cell that the range (and that of every edit) counts in.
    pub cell: Option<FindingCell>,
    pub span: Span,
    pub range: Range,
    pub fixes: Arc<[Fix]>,
    pub related: Arc<[Related]>,
}

/// A file, and the content that the findings are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedFile {
    pub path: WorkspacePath,
    pub content: Option<ContentHash>,
}

/// Rule of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleRef {
    pub linter: Arc<str>,
    pub code: String,
    pub name: Option<String>,
    pub url: Option<String>,
    /// Whether the rule reports that the file cannot be parsed, so that other findings of the linter may be missing.
    pub is_syntax_error: bool,
    /// Whether fixes of the rule are made before all others of a file.
    pub fixes_first: bool,
    /// Whether the rule reports code that is not needed.
    pub is_unnecessary: bool,
    /// Whether the rule reports the use of something deprecated.
    pub is_deprecated: bool,
    /// Name that it shares with rules of other linters that find the same.
    pub shared_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingCell {
    /// From 0.
    pub index: u32,
    pub text: Arc<str>,
}

/// Lines from 1, columns from 1 in Unicode scalar values, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    pub start: LineColumn,
    pub end: LineColumn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub message: Option<Box<str>>,
    pub applicability: Applicability,
    pub edits: Box<[Edit]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub range: Range,
    pub replacement: Box<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// `None`: the finding's own file.
    pub path: Option<WorkspacePath>,
    /// `None` if the other file could not be read.
    pub range: Option<Range>,
    pub span: Span,
    pub message: Box<str>,
}

/// An answer that is not all there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    pub subject: Subject,
    /// `None` if it holds for every linter.
    pub linter: Option<Arc<str>>,
    pub level: Level,
    pub reason: String,
}

/// Reason of an answer that had not come when the check was due.
pub const NOT_YET: &str = "not computed yet";

/// Beginning of the reason where an answer about the parent is incomplete.
pub const IN_PARENT: &str = "in the parent, so that what is new here may not be: ";

impl Incomplete {
    /// Whether the answer is still being computed: another check, or the same one later, has it.
    pub fn is_not_yet(&self) -> bool {
        self.level == Level::Pending && self.reason == NOT_YET
    }
}

/// A file that a linter leaves out for its content, such as a template, or of which it cannot read a part: no configuration
/// says so, and nothing in the file has to be fixed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excluded {
    pub path: WorkspacePath,
    pub linter: Arc<str>,
    /// Whether the rest of the file is checked.
    pub in_part: bool,
    pub reason: Box<str>,
}

/// A linter that would have been asked, were it there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unavailable {
    pub linter: String,
    /// File, or table of a file, by which the project asks for the linter.
    pub marker: Option<String>,
    pub reason: String,
}

/// Beginning of the reason why a linter is unavailable whose tool one command installs. Names of tools follow.
pub const ADD_TOOLS: &str = "not installed: broker server add ";

/// A sentence for each reason, with the linters that were not asked for it and what asks for each:
/// `eslint (eslint.config.js), ty (pyproject.toml): REASON`. One command adds all tools.
pub fn not_asked(unavailable: &[Unavailable]) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<String>, Vec<&str>)> = Vec::new();
    for it in unavailable {
        let linter = match &it.marker {
            Some(marker) => format!("{} ({marker})", it.linter),
            None => it.linter.clone(),
        };
        let (reason, tool) = match it.reason.strip_prefix(ADD_TOOLS) {
            Some(tool) => (ADD_TOOLS, Some(tool)),
            None => (&*it.reason, None),
        };
        let known = by_reason.iter().position(|(other, ..)| *other == reason);
        let place = known.unwrap_or_else(|| {
            by_reason.push((reason, Vec::new(), Vec::new()));
            by_reason.len() - 1
        });
        let (_, linters, tools) = &mut by_reason[place];
        linters.push(linter);
        tools.extend(tool.filter(|it| !tools.contains(it)));
    }
    let sentence = |(reason, linters, tools): (&str, Vec<String>, Vec<&str>)| {
        format!("{}: {reason}{}", linters.join(", "), tools.join(" "))
    };
    by_reason.into_iter().map(sentence).collect()
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The linter as such.
    Everything,
    /// A path on the command line that is not in the workspace.
    Argument(String),
    Path(WorkspacePath),
}

/// Completeness of an answer, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Complete,
    Partial,
    Pending,
    Failed,
}

impl Level {
    /// `None` for a file that the linter's configuration leaves out.
    pub fn of(completeness: &Completeness) -> Option<Self> {
        match completeness {
            Completeness::Excluded => None,
            Completeness::Complete => Some(Self::Complete),
            Completeness::Partial(_) => Some(Self::Partial),
            Completeness::Pending(_) => Some(Self::Pending),
            Completeness::Failed(_) => Some(Self::Failed),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Pending => "pending",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.linter, self.code)
    }
}

impl Finding {
    /// Whether the finding has a fix that a machine may make without asking.
    pub fn is_fixable(&self) -> bool {
        self.fixes.iter().any(|it| it.applicability == Applicability::Safe)
    }

    /// Returns the key that the finding can be recognised by.
    pub fn key(&self) -> FindingKey<'_> {
        FindingKey {
            linter: &self.rule.linter,
            code: &self.rule.code,
            name: self.rule.name.as_deref(),
            message: &self.message,
            cell: self.cell.as_ref().map(|it| &*it.text),
            span: self.span,
        }
    }

    pub fn order(&self, other: &Self) -> Ordering {
        let key = |it: &Self| (it.cell.as_ref().map(|cell| cell.index), it.span);
        let paths = self.file.path.cmp(&other.file.path);
        paths.then_with(|| key(self).cmp(&key(other))).then_with(|| self.rule.cmp(&other.rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linters_that_lack_the_same_are_told_together() {
        let lacks = |linter: &str, marker: Option<&str>, reason: &str| Unavailable {
            linter: linter.to_owned(),
            marker: marker.map(str::to_owned),
            reason: reason.to_owned(),
        };
        let all = [
            lacks("eslint", Some("eslint.config.js"), "not trusted"),
            lacks("ty", None, "not installed: broker server add ty"),
            lacks("gopls", None, "not installed: go install gopls"),
            lacks("typescript", Some("tsconfig.json"), "not installed: broker server add typescript"),
            lacks("tsc", None, "not installed: broker server add typescript"),
            lacks("pyright", Some("pyproject.toml#tool.pyright"), "not trusted"),
        ];
        let want = [
            "eslint (eslint.config.js), pyright (pyproject.toml#tool.pyright): not trusted",
            "ty, typescript (tsconfig.json), tsc: not installed: broker server add ty typescript",
            "gopls: not installed: go install gopls",
        ];
        assert_eq!(not_asked(&all), want);
    }
}
