//! Findings as a model reads them: the worst first, few at a time, with how many more there are.

use std::sync::Arc;

use checker::{Finding, Incomplete, Level, Subject};
use lint::Applicability;
use overlay::{Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::Serialize;
use workspaces::{CheckRequest, Daemon, Event, TargetId};

use crate::{
    limits::{self, count},
    reply::ToolError,
};

/// What a check of a branch says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Findings {
    /// Whether there is nothing to mend, and every linter that could be asked has answered in full.
    pub(crate) ok: bool,
    pub(crate) revision: u64,
    /// Findings that the parent has not; all, if all were asked for.
    pub(crate) total: usize,
    /// Findings of the parent that are gone.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) fixed: usize,
    pub(crate) files: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Shown>,
    /// What could not be checked, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_checked: Vec<String>,
    #[serde(skip)]
    is_new_only: bool,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Shown {
    pub(crate) file: String,
    /// The cell of a notebook, from 1, in which lines count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cell: Option<u32>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) severity: &'static str,
    pub(crate) rule: String,
    pub(crate) message: String,
    /// Whether `apply_fixes` mends it.
    pub(crate) fixable: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Reasons why something is not checked, in one answer.
const REASONS: usize = 5;

/// Checks files of a branch; all of it if none are named.
pub(crate) async fn check(
    daemon: &Arc<Daemon>,
    target: TargetId,
    paths: &[WorkspacePath],
    new_only: bool,
) -> Result<Findings, ToolError> {
    let request = CheckRequest {
        paths: paths.iter().map(|it| it.as_str().to_owned()).collect(),
        dependents: !paths.is_empty(),
        new_only,
        ..CheckRequest::of(target)
    };
    let mut events = daemon.check(request)?;
    let mut gathered = Gathered::default();
    while let Some(event) = events.recv().await {
        match event? {
            Event::Files(files) => gathered.add(files),
            Event::Incomplete(incomplete) => gathered.incomplete.extend(incomplete),
            Event::Summary(summary) => {
                let unavailable = summary.unavailable.iter();
                gathered.unavailable =
                    unavailable.map(|it| format!("{}: {}", it.linter, it.reason)).collect();
                return Ok(gathered.finish(
                    summary.revision,
                    summary.level,
                    summary.files,
                    summary.fixed,
                    new_only,
                ));
            }
            Event::Started(_) | Event::Excluded(_) => {}
        }
    }
    Err(ToolError::new("the check ended without an answer; this is a bug in Broker"))
}

#[derive(Default)]
struct Gathered {
    findings: Vec<Shown>,
    incomplete: Vec<Incomplete>,
    unavailable: Vec<String>,
}

impl Gathered {
    fn add(&mut self, files: Vec<workspaces::FileFindings>) {
        for file in files {
            if file.change == Some(checker::pipeline::Change::Fixed) {
                continue;
            }
            self.findings.extend(file.findings.iter().map(|it| Shown::of(&it.0)));
        }
    }

    fn finish(
        mut self,
        revision: Revision,
        level: Level,
        files: usize,
        fixed: usize,
        is_new_only: bool,
    ) -> Findings {
        let total = self.findings.len();
        self.findings.sort_by(|a, b| a.rank().cmp(&b.rank()));
        self.findings.truncate(limits::FINDINGS);
        let mut not_checked: Vec<_> = self.incomplete.iter().map(reason).chain(self.unavailable).collect();
        not_checked.dedup();
        let more = not_checked.len().saturating_sub(REASONS);
        not_checked.truncate(REASONS);
        not_checked.extend((more > 0).then(|| format!("{more} more reasons")));
        let ok = total == 0 && level == Level::Complete;
        Findings {
            ok,
            revision: revision.0,
            total,
            fixed,
            files,
            findings: self.findings,
            not_checked,
            is_new_only,
        }
    }
}

impl Shown {
    fn of(finding: &Finding) -> Self {
        let is_safe = finding.fixes.iter().any(|it| it.applicability == Applicability::Safe);
        Self {
            file: finding.file.path.as_str().to_owned(),
            cell: finding.cell.as_ref().map(|it| it.index + 1),
            line: finding.range.start.line,
            column: finding.range.start.column,
            severity: finding.severity.name(),
            rule: format!("{}/{}", finding.rule.linter, finding.rule.code),
            message: finding.message.to_string(),
            // In notebooks nothing is fixed.
            fixable: is_safe && finding.cell.is_none(),
        }
    }

    /// Errors first, then by place.
    fn rank(&self) -> (u8, &str, Option<u32>, u32, u32) {
        let rank = match self.severity {
            "error" => 0,
            "warning" => 1,
            _ => 2,
        };
        (rank, &self.file, self.cell, self.line, self.column)
    }

    fn text(&self) -> String {
        let Self { file, cell, line, column, severity, rule, message, fixable } = self;
        let fix = if *fixable { " [fixable]" } else { "" };
        let cell = cell.map(|it| format!("cell {it}:")).unwrap_or_default();
        format!("{file}:{cell}{line}:{column} {severity} {rule} {message}{fix}")
    }
}

impl Findings {
    /// Returns the findings of a check of no files.
    pub(crate) fn none() -> Self {
        Self {
            ok: true,
            revision: 0,
            total: 0,
            fixed: 0,
            files: 0,
            findings: Vec::new(),
            not_checked: Vec::new(),
            is_new_only: true,
        }
    }

    pub(crate) fn text(&self) -> String {
        let what = if self.is_new_only { "nothing new" } else { "no findings" };
        let files = count(self.files, "file", "files");
        let mut text = match (self.ok, self.total) {
            (true, _) => format!("ok: {what} in {files}"),
            (false, 0) => format!("{what} in {files} as far as they were checked"),
            (false, total) if self.is_new_only => count(total, "new finding", "new findings"),
            (false, total) => count(total, "finding", "findings"),
        };
        if self.fixed > 0 {
            text.push_str(&format!(", {} fixed", self.fixed));
        }
        for finding in &self.findings {
            text.push_str(&format!("\n{}", finding.text()));
        }
        let more = self.total - self.findings.len();
        if more > 0 {
            text.push_str(&format!("\n… {more} more; check single paths to see them"));
        }
        for reason in &self.not_checked {
            text.push_str(&format!("\nnot checked: {reason}"));
        }
        text
    }
}

pub(crate) fn reason(incomplete: &Incomplete) -> String {
    let linter = incomplete.linter.as_deref().map(|it| format!("{it}: ")).unwrap_or_default();
    let subject = match &incomplete.subject {
        Subject::Everything => String::new(),
        Subject::Argument(path) => format!("{path}: "),
        Subject::Path(path) => format!("{path}: "),
    };
    format!("{linter}{subject}{}", incomplete.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(file: &str, cell: Option<u32>, line: u32) -> Shown {
        Shown {
            file: file.to_owned(),
            cell,
            line,
            column: 6,
            severity: "warning",
            rule: "python/F401".to_owned(),
            message: "`os` imported but unused".to_owned(),
            fixable: false,
        }
    }

    #[test]
    fn places_in_notebooks_name_the_cell() {
        let told =
            |it: &Shown| it.text().split(' ').take_while(|it| *it != "warning").collect::<Vec<_>>().join(" ");
        assert_eq!(told(&shown("n.ipynb", Some(12), 4)), "n.ipynb:cell 12:4:6");
        assert_eq!(told(&shown("a.py", None, 4)), "a.py:4:6");
        let json = |it: &Shown| serde_json::to_value(it).unwrap()["cell"].clone();
        assert_eq!(json(&shown("n.ipynb", Some(12), 4)), 12);
        assert_eq!(json(&shown("a.py", None, 4)), serde_json::Value::Null);
    }

    #[test]
    fn findings_of_a_notebook_are_listed_by_cell() {
        let mut all =
            [shown("n.ipynb", Some(10), 1), shown("n.ipynb", Some(9), 3), shown("n.ipynb", Some(9), 2)];
        all.sort_by(|a, b| a.rank().cmp(&b.rank()));
        assert_eq!(all.map(|it| (it.cell.unwrap(), it.line)), [(9, 2), (9, 3), (10, 1)]);
    }
}
