//! From the daemon's messages back to a report.
//!
//! The messages name files only where there is something to say of them, do not tell apart what a walk passed
//! over, and leave out the texts of notebook cells: so a notebook's findings come without lines and fixes.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use broker_proto::{v1 as pb, v1::check_response::Event};
use checker::{
    Checked, CheckedFile, Counts, Coverage, Edit, Excluded, Finding, FindingCell, Fix, Incomplete, Level,
    Range, Related, Report, RuleRef, Subject, Unavailable,
};
use lint::{Applicability, Identity, LineColumn, LineTable, Severity, Span};
use overlay::{ContentHash, View, WorkspacePath};

use crate::CliError;

/// Everything that was said in one round.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) revision: u64,
    findings: Vec<pb::Finding>,
    incomplete: Vec<pb::Incomplete>,
    excluded: Vec<pb::ExcludedFile>,
    /// `None` if the round broke off.
    summary: Option<pb::CheckSummary>,
}

impl Round {
    /// There was nothing to ask.
    pub(super) fn of_nothing() -> Self {
        Self { summary: Some(pb::CheckSummary::default()), ..Self::default() }
    }

    pub(super) fn add(&mut self, event: Event) {
        match event {
            Event::Started(it) => self.revision = it.revision,
            Event::Findings(it) => self.findings.extend(it.findings),
            Event::Incomplete(it) => self.incomplete.push(it),
            Event::Excluded(it) => self.excluded.push(it),
            Event::Summary(it) => self.summary = Some(it),
        }
    }

    /// The report that was meant. `texts` are the branch's files at the round's revision.
    pub(super) fn report(&self, texts: &dyn View, is_comparison: bool) -> Result<Report, CliError> {
        let is_fixed = |it: &&pb::Finding| it.change() == pb::FindingChange::Fixed;
        let (fixed, found): (Vec<_>, Vec<_>) = self.findings.iter().partition(is_fixed);
        let mut places = Places::default();
        let incomplete: Vec<_> = self.incomplete.iter().map(incomplete).collect();
        let worst = worst(&incomplete);
        let mut report = Report {
            findings: places.findings(&found, Some(texts))?,
            excluded: self.excluded.iter().map(excluded).collect::<Result<_, _>>()?,
            gone: is_comparison.then(|| places.findings(&fixed, None)).transpose()?,
            ..Report::default()
        };
        report.excluded.sort();
        let with_findings = report.findings.iter().map(|it| (it.file.path.clone(), Level::Complete));
        let checked: BTreeMap<_, _> = with_findings.chain(worst.clone()).collect();
        let checked = checked.into_iter();
        let checked = checked.map(|(path, level)| Checked { path, level, coverage: Coverage::default() });
        report.checked = checked.collect();
        report.add_incomplete(incomplete);
        match &self.summary {
            Some(summary) => conclude(&mut report, summary, &worst),
            None => report.files = report.checked.len(),
        }
        report.introduce_ourselves();
        report.add_incomplete(self.summary.is_none().then(interrupted));
        Ok(report)
    }
}

fn interrupted() -> Incomplete {
    Incomplete {
        subject: Subject::Everything,
        linter: None,
        level: Level::Pending,
        reason: "the check was interrupted".to_owned(),
    }
}

/// Takes over what the summary counts.
fn conclude(report: &mut Report, summary: &pb::CheckSummary, worst: &BTreeMap<WorkspacePath, Level>) {
    report.files = summary.files as usize;
    report.suppressed = summary.suppressed as usize;
    report.baselined = summary.baselined as usize;
    report.duration = Duration::from_micros(summary.duration_us);
    let unavailable =
        |it: &pb::UnavailableLinter| Unavailable { linter: it.linter.clone(), reason: it.reason.clone() };
    report.unavailable = summary.unavailable.iter().map(unavailable).collect();
    report.linters = summary.linters.iter().filter_map(|it| identity(it.linter.as_ref()?)).collect();
    let count = |level| worst.values().filter(|it| **it == level).count();
    let (partial, pending, failed) = (count(Level::Partial), count(Level::Pending), count(Level::Failed));
    let complete = report.files.saturating_sub(partial + pending + failed);
    report.counts = Counts { complete, partial, pending, failed };
    // What could not be read is told one by one.
    let unreadable = report.incomplete.iter().filter(|it| is_unreadable(it)).count() as u64;
    report.passed_over = summary.skipped.saturating_sub(unreadable);
}

/// Files with the worst that was said of them. What could not even be read is no file that was checked.
fn worst(incomplete: &[Incomplete]) -> BTreeMap<WorkspacePath, Level> {
    let mut worst = BTreeMap::new();
    for it in incomplete.iter().filter(|it| !is_unreadable(it)) {
        if let Subject::Path(path) = &it.subject {
            let level = worst.entry(path.clone()).or_insert(it.level);
            *level = it.level.max(*level);
        }
    }
    worst
}

fn is_unreadable(it: &Incomplete) -> bool {
    it.linter.is_none() && it.level == Level::Failed
}

fn identity(it: &pb::Linter) -> Option<Identity> {
    let digest = ContentHash::from_hex(&it.digest)?;
    Some(Identity { name: it.name.clone(), version: it.version.clone(), digest })
}

pub(super) fn incomplete(it: &pb::Incomplete) -> Incomplete {
    let subject = match (it.path.as_str(), WorkspacePath::new(&it.path)) {
        ("", _) => Subject::Everything,
        (_, Ok(path)) => Subject::Path(path),
        (given, Err(_)) => Subject::Argument(given.to_owned()),
    };
    Incomplete {
        subject,
        linter: Some(it.linter.as_str()).filter(|it| !it.is_empty()).map(Into::into),
        level: match it.completeness() {
            pb::Completeness::Complete => Level::Complete,
            pb::Completeness::Partial => Level::Partial,
            pb::Completeness::Pending => Level::Pending,
            pb::Completeness::Failed | pb::Completeness::Unspecified => Level::Failed,
        },
        reason: it.reason.clone(),
    }
}

fn excluded(it: &pb::ExcludedFile) -> Result<Excluded, CliError> {
    let (linter, reason) = (it.linter.as_str().into(), it.reason.as_str().into());
    Ok(Excluded { path: path(&it.path)?, linter, reason })
}

/// Gives fixes their lines and columns, and shares what is alike among findings.
#[derive(Default)]
struct Places {
    rules: HashSet<Arc<RuleRef>>,
}

impl Places {
    /// In the order of a report. Without `texts`, findings have no fixes.
    fn findings(
        &mut self,
        messages: &[&pb::Finding],
        texts: Option<&dyn View>,
    ) -> Result<Vec<Finding>, CliError> {
        let mut messages = messages.to_vec();
        messages.sort_by(|a, b| a.path.cmp(&b.path));
        let mut findings = Vec::with_capacity(messages.len());
        for of_file in messages.chunk_by(|a, b| a.path == b.path) {
            let path = path(&of_file[0].path)?;
            let needs_text = of_file.iter().any(|it| !it.fixes.is_empty());
            let text = texts.filter(|_| needs_text).and_then(|it| it.open(&path).ok());
            let text = text.map(|text| (ContentHash::of(&text), text));
            let table = text.as_ref().map(|(_, text)| LineTable::new(text));
            for it in of_file {
                let content = ContentHash::from_hex(&it.content_hash);
                let is_that = content.is_some() && content == text.as_ref().map(|(hash, _)| *hash);
                let file = Arc::new(CheckedFile { path: path.clone(), content });
                findings.push(self.finding(it, file, table.as_ref().filter(|_| is_that))?);
            }
        }
        findings.sort_by(Finding::order);
        Ok(findings)
    }

    fn finding(
        &mut self,
        it: &pb::Finding,
        file: Arc<CheckedFile>,
        table: Option<&LineTable<'_>>,
    ) -> Result<Finding, CliError> {
        let table = table.filter(|_| it.cell.is_none());
        Ok(Finding {
            file,
            rule: self.rule(it),
            message: it.message.as_str().into(),
            severity: severity(it.severity()),
            cell: it.cell.map(|number| FindingCell { index: number.saturating_sub(1), text: "".into() }),
            span: span(it.span),
            range: it.range.map(range).ok_or_else(|| senseless("a finding without a place"))?,
            fixes: table.map(|table| it.fixes.iter().map(|it| fix(it, table)).collect()).unwrap_or_default(),
            related: it.related.iter().map(related).collect::<Result<_, _>>()?,
        })
    }

    fn rule(&mut self, it: &pb::Finding) -> Arc<RuleRef> {
        let some = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
        let rule = RuleRef {
            linter: it.linter.as_str().into(),
            code: it.code.clone(),
            name: some(&it.name),
            url: some(&it.url),
            // Only the one who checks has to know.
            is_syntax_error: false,
            fixes_first: false,
            is_unnecessary: false,
            is_deprecated: false,
            shared_name: None,
        };
        if let Some(known) = self.rules.get(&rule) {
            return Arc::clone(known);
        }
        let rule = Arc::new(rule);
        self.rules.insert(Arc::clone(&rule));
        rule
    }
}

fn fix(it: &pb::Fix, table: &LineTable<'_>) -> Fix {
    let edit = |it: &pb::TextEdit| {
        let span = span(it.span);
        let range = Range { start: table.scalar(span.start), end: table.scalar(span.end) };
        Edit { span, range, replacement: it.replacement.as_str().into() }
    };
    Fix {
        message: Some(it.message.as_str()).filter(|it| !it.is_empty()).map(Into::into),
        applicability: match it.applicability() {
            pb::Applicability::Safe => Applicability::Safe,
            pb::Applicability::Unsafe => Applicability::Unsafe,
            pb::Applicability::DisplayOnly | pb::Applicability::Unspecified => Applicability::DisplayOnly,
        },
        edits: it.edits.iter().map(edit).collect(),
    }
}

fn related(it: &pb::RelatedPlace) -> Result<Related, CliError> {
    Ok(Related {
        path: if it.path.is_empty() { None } else { Some(path(&it.path)?) },
        range: it.range.map(range),
        span: span(it.span),
        message: it.message.as_str().into(),
    })
}

fn severity(it: pb::Severity) -> Severity {
    match it {
        pb::Severity::Hint => Severity::Hint,
        pb::Severity::Info => Severity::Info,
        pb::Severity::Warning => Severity::Warning,
        pb::Severity::Error | pb::Severity::Unspecified => Severity::Error,
    }
}

fn span(it: Option<pb::Span>) -> Span {
    let it = it.unwrap_or_default();
    Span::new(it.start, it.end)
}

fn range(it: pb::Range) -> Range {
    let place = |it: Option<pb::Position>| {
        it.map_or(LineColumn { line: 1, column: 1 }, |it| LineColumn { line: it.line, column: it.column })
    };
    Range { start: place(it.start), end: place(it.end) }
}

fn path(text: &str) -> Result<WorkspacePath, CliError> {
    WorkspacePath::new(text).map_err(|error| senseless(&format!("the path `{text}`: {error}")))
}

fn senseless(what: &str) -> CliError {
    CliError::files(format!("the daemon's answer makes no sense: {what}"))
        .hint("is it of another version? `broker stop` ends it, and the next command starts another")
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    const TEXT: &str = "x = 1\nimport os\n";

    fn finding(text: &str) -> pb::Finding {
        let place = |line, column| Some(pb::Position { line, column });
        let edit = pb::TextEdit { span: Some(pb::Span { start: 6, end: 16 }), replacement: String::new() };
        pb::Finding {
            path: "a.py".to_owned(),
            linter: "python".to_owned(),
            code: "F401".to_owned(),
            message: "unused".to_owned(),
            severity: pb::Severity::Warning.into(),
            span: Some(pb::Span { start: 13, end: 15 }),
            range: Some(pb::Range { start: place(2, 8), end: place(2, 10) }),
            fixes: vec![pb::Fix {
                message: "remove".to_owned(),
                applicability: pb::Applicability::Safe.into(),
                edits: vec![edit],
            }],
            content_hash: ContentHash::of(text.as_bytes()).to_string(),
            ..pb::Finding::default()
        }
    }

    fn incomplete(path: &str, linter: &str, level: pb::Completeness) -> pb::Incomplete {
        let (path, linter) = (path.to_owned(), linter.to_owned());
        pb::Incomplete { path, linter, completeness: level.into(), reason: "why".to_owned() }
    }

    fn report(round: &Round, is_comparison: bool) -> Report {
        let texts = Memory::from_files([("a.py", TEXT)]).unwrap();
        round.report(&texts, is_comparison).unwrap()
    }

    #[test]
    fn fixes_get_their_lines_from_the_text() {
        let round = Round { findings: vec![finding(TEXT)], ..Round::default() };
        let report = report(&round, false);
        let edit = &report.findings[0].fixes[0].edits[0];
        assert_eq!((edit.range.start.line, edit.range.end.line), (2, 3));
        assert_eq!((report.fixable(), report.gone), (1, None));
    }

    #[test]
    fn fixes_for_another_text_are_left_out() {
        let round = Round { findings: vec![finding("something else")], ..Round::default() };
        let report = report(&round, false);
        assert_eq!((report.findings.len(), report.fixable()), (1, 0));
    }

    #[test]
    fn what_is_fixed_is_apart() {
        let mut fixed = finding(TEXT);
        fixed.change = pb::FindingChange::Fixed.into();
        let summary = Some(pb::CheckSummary { files: 1, ..pb::CheckSummary::default() });
        let round = Round { findings: vec![fixed, finding(TEXT)], summary, ..Round::default() };
        let report = report(&round, true);
        assert_eq!((report.findings.len(), report.gone.as_ref().map(Vec::len)), (1, Some(1)));
        assert!(report.is_complete());
    }

    #[test]
    fn files_count_by_the_worst_that_was_said_of_them() {
        let summary = Some(pb::CheckSummary { files: 5, skipped: 3, ..pb::CheckSummary::default() });
        let incomplete = vec![
            incomplete("b.py", "python", pb::Completeness::Partial),
            incomplete("b.py", "text", pb::Completeness::Failed),
            incomplete("c.py", "", pb::Completeness::Pending),
            incomplete("secret", "", pb::Completeness::Failed),
            incomplete("", "text", pb::Completeness::Failed),
        ];
        let report = report(&Round { incomplete, summary, ..Round::default() }, false);
        assert_eq!(report.counts, Counts { complete: 3, partial: 0, pending: 1, failed: 1 });
        assert_eq!((report.incomplete.len(), report.passed_over), (5, 2));
        assert_eq!(report.incomplete[0].subject, Subject::Everything);
    }

    #[test]
    fn a_round_that_broke_off_is_not_complete() {
        let report = report(&Round { findings: vec![finding(TEXT)], ..Round::default() }, false);
        assert_eq!((report.incomplete.len(), report.incomplete[0].level), (1, Level::Pending));
    }
}
