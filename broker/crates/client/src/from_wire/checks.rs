//! Answers of checks.

use std::{collections::HashSet, sync::Arc, time::Duration};

use broker_proto::v1::{self as pb, check_response::Event as Answered, watch_response::Event as Watched};
use check_engine::{
    AnswerTime, CheckedFile, Edit, Excluded, Finding, FindingCell, Fix, Incomplete, Level, ListedFile,
    Related, RuleRef, Subject, Unavailable,
    pipeline::{Change, LinterSummary},
};
use lint::{Applicability, Fingerprint, Identity, Severity};
use overlay::Revision;
use workspaces::{
    CheckSummary, ErrorKind, Event, FileFindings, FixedFile, FixedFiles, ListedFiles, RequestError, Started,
    UnfixedFinding, UpdatedBaseline, WatchEvent,
};

use super::{Answer, hash, maybe_hash, path, paths, range, some, span, there};

/// `None` for an event of a newer daemon.
pub(crate) fn event(it: pb::CheckResponse) -> Answer<Option<Event>> {
    it.event.map(answered).transpose()
}

/// `None` for an event of a newer daemon.
pub(crate) fn watch_event(it: pb::WatchResponse) -> Answer<Option<WatchEvent>> {
    let Some(event) = it.event else { return Ok(None) };
    let event = match event {
        Watched::Started(it) => Answered::Started(it),
        Watched::Findings(it) => Answered::Findings(it),
        Watched::Incomplete(it) => Answered::Incomplete(it),
        Watched::Excluded(it) => Answered::Excluded(it),
        Watched::Summary(it) => Answered::Summary(it),
        Watched::Superseded(it) => return Ok(Some(WatchEvent::Superseded(Revision(it.revision)))),
        Watched::Refused(it) => return Ok(Some(WatchEvent::Refused(refused(it)))),
    };
    answered(event).map(|it| Some(WatchEvent::Check(it)))
}

fn answered(it: Answered) -> Answer<Event> {
    Ok(match it {
        Answered::Started(it) => {
            Event::Started(Started { revision: Revision(it.revision), files: it.files as usize })
        }
        Answered::Findings(it) => Event::Files(files(it)?),
        Answered::Incomplete(it) => Event::Incomplete(vec![incomplete(it)]),
        Answered::Excluded(it) => Event::Excluded(vec![excluded(&it)?]),
        Answered::Summary(it) => Event::Summary(Box::new(summary(it)?)),
    })
}

fn refused(it: pb::RoundRefused) -> RequestError {
    let hint = some(it.hint);
    let sentence = match &hint {
        Some(hint) => format!("{} ({hint})", it.message),
        None => it.message,
    };
    RequestError { hint, ..RequestError::new(ErrorKind::Refused, it.reason, sentence) }
}

/// Findings that share their file and what is alike of their rules.
fn files(it: pb::Findings) -> Answer<Vec<FileFindings>> {
    let mut shared = Shared::default();
    let mut files: Vec<FileFindings> = Vec::new();
    for it in it.findings {
        let change = change(it.change());
        let finding = Arc::new(shared.finding(it)?);
        match files.last_mut() {
            Some(last) if last.change == change && last.findings[0].0.file.path == finding.0.file.path => {
                last.findings.push(finding);
            }
            _ => files.push(FileFindings { findings: vec![finding], change }),
        }
    }
    Ok(files)
}

fn change(it: pb::FindingChange) -> Option<Change> {
    match it {
        pb::FindingChange::Unspecified => None,
        pb::FindingChange::New => Some(Change::New),
        pb::FindingChange::Fixed => Some(Change::Fixed),
    }
}

#[derive(Default)]
struct Shared {
    file: Option<Arc<CheckedFile>>,
    rules: HashSet<Arc<RuleRef>>,
}

impl Shared {
    fn finding(&mut self, it: pb::Finding) -> Answer<(Finding, Fingerprint)> {
        let fingerprint = there(Fingerprint::from_hex(&it.fingerprint), "the fingerprint of a finding")?;
        let (file, severity) = (self.file(&it)?, severity(it.severity()));
        let rule = self.rule(&it);
        let finding = Finding {
            file,
            rule,
            message: it.message.into(),
            severity,
            // The text of a cell is not sent.
            cell: it.cell.map(|number| FindingCell { index: number.saturating_sub(1), text: "".into() }),
            span: span(there(it.span, "the span of a finding")?),
            range: range(there(it.range, "the range of a finding")?)?,
            fixes: it.fixes.into_iter().map(fix).collect::<Answer<_>>()?,
            related: it.related.into_iter().map(related).collect::<Answer<_>>()?,
        };
        Ok((finding, fingerprint))
    }

    fn file(&mut self, it: &pb::Finding) -> Answer<Arc<CheckedFile>> {
        let file = CheckedFile { path: path(&it.path)?, content: maybe_hash(&it.content_hash)? };
        let known = self.file.take().filter(|known| **known == file);
        Ok(Arc::clone(self.file.insert(known.unwrap_or_else(|| Arc::new(file)))))
    }

    fn rule(&mut self, it: &pb::Finding) -> Arc<RuleRef> {
        let has = |tag: pb::FindingTag| it.tags().any(|it| it == tag);
        let rule = RuleRef {
            linter: it.linter.as_str().into(),
            code: it.code.clone(),
            name: some(it.name.clone()),
            url: some(it.url.clone()),
            is_syntax_error: has(pb::FindingTag::SyntaxError),
            is_unnecessary: has(pb::FindingTag::Unnecessary),
            is_deprecated: has(pb::FindingTag::Deprecated),
            // The pipeline alone needs these.
            fixes_first: false,
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

pub(super) fn severity(it: pb::Severity) -> Severity {
    match it {
        pb::Severity::Hint => Severity::Hint,
        pb::Severity::Info => Severity::Info,
        pb::Severity::Warning => Severity::Warning,
        pb::Severity::Error | pb::Severity::Unspecified => Severity::Error,
    }
}

fn fix(it: pb::Fix) -> Answer<Fix> {
    let applicability = match it.applicability() {
        pb::Applicability::Safe => Applicability::Safe,
        pb::Applicability::Unsafe => Applicability::Unsafe,
        pb::Applicability::DisplayOnly | pb::Applicability::Unspecified => Applicability::DisplayOnly,
    };
    let edit = |it: pb::TextEdit| {
        Ok(Edit {
            span: span(there(it.span, "the span of an edit")?),
            range: range(there(it.range, "the range of an edit")?)?,
            replacement: it.replacement.into(),
        })
    };
    Ok(Fix {
        message: some(it.message).map(Into::into),
        applicability,
        edits: it.edits.into_iter().map(edit).collect::<Answer<_>>()?,
    })
}

fn related(it: pb::RelatedPlace) -> Answer<Related> {
    Ok(Related {
        path: some(it.path).map(|it| path(&it)).transpose()?,
        range: it.range.map(range).transpose()?,
        span: span(there(it.span, "the span of a related place")?),
        message: it.message.into(),
    })
}

fn level(it: pb::Completeness) -> Level {
    match it {
        pb::Completeness::Complete => Level::Complete,
        pb::Completeness::Partial => Level::Partial,
        pb::Completeness::Pending => Level::Pending,
        pb::Completeness::Failed | pb::Completeness::Unspecified => Level::Failed,
    }
}

fn incomplete(it: pb::Incomplete) -> Incomplete {
    let level = level(it.completeness());
    let subject = match path(&it.path) {
        _ if it.path.is_empty() => Subject::Everything,
        Ok(path) => Subject::Path(path),
        Err(_) => Subject::Argument(it.path),
    };
    Incomplete { subject, linter: some(it.linter).map(Into::into), level, reason: it.reason }
}

fn excluded(it: &pb::ExcludedFile) -> Answer<Excluded> {
    let (linter, reason) = (it.linter.as_str().into(), it.reason.as_str().into());
    Ok(Excluded { path: path(&it.path)?, linter, in_part: it.in_part, reason })
}

fn summary(it: pb::CheckSummary) -> Answer<CheckSummary> {
    let unavailable =
        |it: pb::UnavailableLinter| Unavailable { linter: it.linter, marker: it.marker, reason: it.reason };
    Ok(CheckSummary {
        revision: Revision(it.revision),
        content: hash(&it.content_hash)?,
        level: level(it.completeness()),
        files: it.files as usize,
        findings: it.findings as usize,
        new: it.new_findings as usize,
        fixed: it.fixed_findings as usize,
        suppressed: it.suppressed as usize,
        baselined: it.baselined as usize,
        skipped: it.skipped,
        duration: Duration::from_micros(it.duration_us),
        queued: Duration::from_micros(it.queued_us),
        linters: it.linters.into_iter().map(linter_summary).collect::<Answer<_>>()?,
        unavailable: it.unavailable.into_iter().map(unavailable).collect(),
        unfinished: None,
        timings: it.timings.into_iter().map(answer_time).collect::<Answer<_>>()?,
        local: None,
    })
}

fn answer_time(it: pb::AnswerTime) -> Answer<AnswerTime> {
    let duration = Duration::from_micros(it.duration_us);
    Ok(AnswerTime { path: path(&it.path)?, linter: it.linter, duration })
}

pub(crate) fn listed_files(it: pb::ListCheckedFilesResponse) -> Answer<ListedFiles> {
    let file = |it: pb::ListedFile| Ok(ListedFile { path: path(&it.path)?, linters: it.linters });
    Ok(ListedFiles {
        files: it.files.into_iter().map(file).collect::<Answer<_>>()?,
        incomplete: it.incomplete.into_iter().map(incomplete).collect(),
    })
}

pub(crate) fn baseline(it: pb::UpdateBaselineResponse) -> Answer<UpdatedBaseline> {
    let path = some(it.path).map(|it| path(&it)).transpose()?;
    let incomplete = it.incomplete.into_iter().map(incomplete).collect();
    let (content, findings) = (it.content, it.findings);
    Ok(UpdatedBaseline { path, content, findings, is_changed: true, incomplete, local: None })
}

pub(super) fn identity(it: pb::Linter) -> Answer<Identity> {
    Ok(Identity { name: it.name, version: it.version, digest: hash(&it.digest)? })
}

fn linter_summary(it: pb::LinterSummary) -> Answer<LinterSummary> {
    Ok(LinterSummary {
        linter: identity(there(it.linter, "a linter")?)?,
        complete: it.complete,
        excluded: it.excluded,
        partial: it.partial,
        pending: it.pending,
        failed: it.failed,
        cached: it.cached,
    })
}

pub(crate) fn fixed(it: pb::FixFilesResponse) -> Answer<FixedFiles> {
    Ok(FixedFiles {
        revision: Revision(it.revision),
        count: it.fixes as usize,
        paths: paths(&it.paths)?,
        patch: it.patch,
        files: it.files.into_iter().map(fixed_file).collect::<Answer<_>>()?,
        notes: it.unfixed.into_iter().map(unfixed).collect::<Answer<_>>()?,
        incomplete: it.incomplete.into_iter().map(incomplete).collect(),
        local: None,
    })
}

fn fixed_file(it: pb::FixedFile) -> Answer<FixedFile> {
    Ok(FixedFile { path: path(&it.path)?, checked: hash(&it.content_hash)?, content: it.content })
}

fn unfixed(it: pb::UnfixedFinding) -> Answer<UnfixedFinding> {
    let path = some(it.path).map(|it| path(&it)).transpose()?;
    Ok(UnfixedFinding { path, rule: it.rule, reason: it.reason })
}

#[cfg(test)]
mod tests {
    use overlay::ContentHash;

    use super::*;

    fn finding(path: &str, code: &str) -> pb::Finding {
        let position = |line, column| Some(pb::Position { line, column });
        let range = Some(pb::Range { start: position(2, 8), end: position(3, 1) });
        let span = Some(pb::Span { start: 6, end: 16 });
        let edit = pb::TextEdit { span, replacement: String::new(), range };
        pb::Finding {
            path: path.to_owned(),
            linter: "python".to_owned(),
            code: code.to_owned(),
            message: "unused".to_owned(),
            severity: pb::Severity::Warning.into(),
            span,
            range,
            fixes: vec![pb::Fix { edits: vec![edit], ..pb::Fix::default() }],
            content_hash: ContentHash::of(b"x").to_string(),
            fingerprint: "ab".repeat(32),
            tags: vec![pb::FindingTag::Unnecessary.into()],
            ..pb::Finding::default()
        }
    }

    #[test]
    fn findings_share_their_file_and_their_rule() {
        let mut new = finding("b.py", "F401");
        new.change = pb::FindingChange::New.into();
        let findings = vec![finding("a.py", "F401"), finding("a.py", "F401"), finding("b.py", "F401"), new];
        let files = files(pb::Findings { findings }).unwrap();
        let changes: Vec<_> = files.iter().map(|it| (it.findings.len(), it.change)).collect();
        assert_eq!(changes, [(2, None), (1, None), (1, Some(Change::New))]);
        let (first, second) = (&files[0].findings[0].0, &files[0].findings[1].0);
        assert!(Arc::ptr_eq(&first.file, &second.file) && Arc::ptr_eq(&first.rule, &second.rule));
        assert!(Arc::ptr_eq(&first.rule, &files[2].findings[0].0.rule) && first.rule.is_unnecessary);
        assert_eq!(first.fixes[0].edits[0].range.end.line, 3);
    }

    #[test]
    fn an_answer_of_another_version_is_an_error() {
        let without = |change: fn(&mut pb::Finding)| {
            let mut one = finding("a.py", "F401");
            change(&mut one);
            files(pb::Findings { findings: vec![one] }).unwrap_err()
        };
        let error = without(|it| it.fixes[0].edits[0].range = None);
        assert_eq!(error.sentence, "the daemon's answer makes no sense: the range of an edit is missing");
        assert!(error.hint.unwrap().contains("another version"));
        without(|it| it.path = "../a".to_owned());
        without(|it| it.span = None);
        assert!(event(pb::CheckResponse { event: None }).unwrap().is_none(), "one that is not known yet");
    }

    #[test]
    fn a_refused_round_has_its_remedy() {
        let refused = |hint: &str| {
            let (reason, message) = ("BAD_CONFIGURATION".to_owned(), "wrong".to_owned());
            super::refused(pb::RoundRefused { reason, message, hint: hint.to_owned() })
        };
        assert_eq!((refused("do").message(), refused("do").sentence.as_str()), ("wrong", "wrong (do)"));
        assert_eq!((refused("").hint, refused("").reason.as_str()), (None, "BAD_CONFIGURATION"));
    }
}
