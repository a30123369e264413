//! Findings as a model reads them: the worst first, few at a time, with how many more there are.

use std::{sync::Arc, time::Duration};

use check_engine::{Finding, Incomplete, Level, Unfinished, not_asked};
use lint::Applicability;
use overlay::Revision;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;
use workspaces::{CheckOptions, CheckRequest, CheckSummary, Daemon, Event};

use crate::{
    limits::{self, count},
    question::Question,
    reasons::{self, ReportedReasons, StillAsked},
    reply::ToolError,
};

/// Result of a check of a branch.
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
    #[serde(flatten)]
    pub(crate) listed: Listed,
    /// Reasons why some answers are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_checked: Vec<String>,
    /// Linters that have not answered yet, so that their findings are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) still_asked: Vec<StillAsked>,
    /// Reasons that no call can change, which a session is told once.
    #[serde(skip)]
    unavailable: Vec<String>,
    /// Whether the next call of the session has what is still asked.
    #[serde(skip)]
    pub(crate) is_followed: bool,
    #[serde(skip)]
    pub(crate) is_new_only: bool,
}

/// Findings that an answer lists, and how many it does not.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// The worst first. Hints only if there is nothing worse.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<ShownFinding>,
    /// Findings, but for hints, that are not listed.
    #[serde(skip)]
    pub(crate) more: usize,
    #[serde(skip)]
    pub(crate) hints: usize,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ShownFinding {
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
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Part of the time after which a check answers with what is known: the rest is for the answer.
const DUE: f64 = 0.9;

/// Answers within `wait`, with what is known then.
pub(crate) async fn within(
    daemon: &Arc<Daemon>,
    question: &Question,
    wait: Duration,
) -> Result<(Findings, Option<Arc<Unfinished>>), ToolError> {
    let (_, revision) = daemon.view(&question.target).await?;
    let asked = ask(daemon, question, Some(wait.mul_f64(DUE)));
    match timeout(wait, asked).await {
        Ok(found) => found,
        // The files to ask about are not known, either.
        Err(_) => Ok((Findings::unknown(revision, question), None)),
    }
}

/// Answers once all is known.
pub(crate) async fn whole(daemon: &Arc<Daemon>, question: &Question) -> Result<Findings, ToolError> {
    ask(daemon, question, None).await.map(|it| it.0)
}

async fn ask(
    daemon: &Arc<Daemon>,
    Question { target, paths, new_only }: &Question,
    wait: Option<Duration>,
) -> Result<(Findings, Option<Arc<Unfinished>>), ToolError> {
    let request = CheckRequest {
        paths: paths.iter().map(|it| it.as_str().to_owned()).collect(),
        // Others have no findings but new ones for the sake of these.
        dependents: *new_only && !paths.is_empty(),
        new_only: *new_only,
        options: CheckOptions { wait, ..CheckOptions::default() },
        ..CheckRequest::of(target.clone())
    };
    let mut events = daemon.check(request)?;
    let mut gathered = Gathered::default();
    while let Some(event) = events.recv().await {
        match event? {
            Event::Files(files) => gathered.add(files),
            Event::Incomplete(incomplete) => gathered.incomplete.extend(incomplete),
            Event::Summary(summary) => {
                let unfinished = summary.unfinished.clone();
                return Ok((gathered.finish(*summary, *new_only), unfinished));
            }
            Event::Started(_) | Event::Excluded(_) => {}
        }
    }
    Err(ToolError::new("the check ended without an answer; this is a bug in Broker"))
}

#[derive(Default)]
struct Gathered {
    findings: Vec<ShownFinding>,
    incomplete: Vec<Incomplete>,
}

impl Gathered {
    fn add(&mut self, files: Vec<workspaces::FileFindings>) {
        for file in files {
            if file.change == Some(check_engine::pipeline::Change::Fixed) {
                continue;
            }
            self.findings.extend(file.findings.iter().map(|it| ShownFinding::of(&it.0)));
        }
    }

    fn finish(self, summary: CheckSummary, is_new_only: bool) -> Findings {
        let listed = Listed::of(self.findings);
        let total = listed.findings.len() + listed.more + listed.hints;
        let (late, rest): (Vec<_>, Vec<_>) = self.incomplete.into_iter().partition(Incomplete::is_not_yet);
        Findings {
            ok: total == 0 && summary.level == Level::Complete,
            revision: summary.revision.0,
            total,
            fixed: summary.fixed,
            files: summary.files,
            listed,
            still_asked: reasons::still_asked(&late),
            not_checked: reasons::grouped(&rest),
            unavailable: not_asked(&summary.unavailable),
            is_followed: false,
            is_new_only,
        }
    }
}

impl Listed {
    fn of(mut findings: Vec<ShownFinding>) -> Self {
        let total = findings.len();
        findings.sort_by(|a, b| a.rank().cmp(&b.rank()));
        let is_worse = |it: &ShownFinding| it.severity != "hint";
        if findings.iter().any(is_worse) {
            findings.retain(is_worse);
        }
        let (hints, worse) = (total - findings.len(), findings.len());
        findings.truncate(limits::FINDINGS);
        let is_few = findings.len() <= limits::WHOLE_MESSAGES;
        let bytes = if is_few { limits::LONG_MESSAGE } else { limits::MESSAGE };
        findings.iter_mut().for_each(|it| it.cut(bytes));
        Self { more: worse - findings.len(), hints, findings }
    }

    fn text(&self) -> String {
        let mut text: String = self.findings.iter().map(|it| format!("\n{}", it.text())).collect();
        if self.more > 0 {
            text.push_str(&format!("\n… {} more; check single paths to see them", self.more));
        }
        if self.hints > 0 {
            text.push_str(&format!("\n{} not listed", count(self.hints, "hint", "hints")));
        }
        text
    }
}

impl ShownFinding {
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

    /// Leaves the message's first line, or more of it if it has no more than this number of bytes.
    fn cut(&mut self, bytes: usize) {
        if self.message.len() <= bytes {
            return;
        }
        let line = self.message.lines().next().unwrap_or_default();
        let end = line.floor_char_boundary(bytes);
        self.message = format!("{} …", line[..end].trim_end());
    }

    /// Identity of the finding in answers that cut its message differently.
    pub(crate) fn key(&self) -> String {
        let line = self.message.lines().next().unwrap_or_default();
        let start = line[..line.floor_char_boundary(limits::MESSAGE / 2)].trim_end_matches(" …");
        Self { message: start.to_owned(), ..self.clone() }.text()
    }

    pub(crate) fn text(&self) -> String {
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
            listed: Listed::default(),
            not_checked: Vec::new(),
            still_asked: Vec::new(),
            unavailable: Vec::new(),
            is_followed: false,
            is_new_only: true,
        }
    }

    /// Returns what there is to say before any linter has been asked.
    fn unknown(revision: Revision, question: &Question) -> Self {
        let all = StillAsked { linter: "linters".to_owned(), files: question.paths.len() };
        let is_new_only = question.new_only;
        Self { ok: false, revision: revision.0, still_asked: vec![all], is_new_only, ..Self::none() }
    }

    /// Whether an answer is still being computed.
    pub(crate) fn is_late(&self) -> bool {
        !self.still_asked.is_empty()
    }

    /// The findings with the reasons that the session was not told before.
    pub(crate) fn without_reported(mut self, told: &ReportedReasons) -> Self {
        told.retain_new(&mut self.unavailable);
        self.not_checked.append(&mut self.unavailable);
        self
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
        text.push_str(&self.listed.text());
        text.extend(reasons::still_asked_text(&self.still_asked, self.is_followed));
        for reason in &self.not_checked {
            text.push_str(&format!("\nnot checked: {reason}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(file: &str, cell: Option<u32>, line: u32) -> ShownFinding {
        ShownFinding {
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
        let told = |it: &ShownFinding| {
            it.text().split(' ').take_while(|it| *it != "warning").collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(&shown("n.ipynb", Some(12), 4)), "n.ipynb:cell 12:4:6");
        assert_eq!(told(&shown("a.py", None, 4)), "a.py:4:6");
        let json = |it: &ShownFinding| serde_json::to_value(it).unwrap()["cell"].clone();
        assert_eq!(json(&shown("n.ipynb", Some(12), 4)), 12);
        assert_eq!(json(&shown("a.py", None, 4)), serde_json::Value::Null);
    }

    #[test]
    fn long_messages_are_cut_and_hints_counted() {
        let found = |severity: &'static str, message: &str| ShownFinding {
            severity,
            message: message.to_owned(),
            ..shown("a.py", None, 1)
        };
        let told = |findings: Vec<ShownFinding>| Listed::of(findings).text();
        let chain = "is not assignable\n  since it is none";
        assert_eq!(
            told(vec![found("hint", "await"), found("error", chain)]),
            format!("\na.py:1:6 error python/F401 {chain}\n1 hint not listed")
        );
        assert!(told(vec![found("hint", "await")]).ends_with("hint python/F401 await"));
        let long = format!("first\n{}", "info: a place\n".repeat(20));
        let all = (0..5).map(|_| found("error", &long)).collect();
        assert_eq!(told(all).lines().nth(1), Some("a.py:1:6 error python/F401 first …"));
        let long = "ä".repeat(1000);
        assert!(told(vec![found("error", &long)]).len() < 700);
    }

    #[test]
    fn findings_of_a_notebook_are_listed_by_cell() {
        let mut all =
            [shown("n.ipynb", Some(10), 1), shown("n.ipynb", Some(9), 3), shown("n.ipynb", Some(9), 2)];
        all.sort_by(|a, b| a.rank().cmp(&b.rank()));
        assert_eq!(all.map(|it| (it.cell.unwrap(), it.line)), [(9, 2), (9, 3), (10, 1)]);
    }
}
