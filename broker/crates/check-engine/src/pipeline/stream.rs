//! A check under way: from the answers of each file to what is reported of it, and to the summary.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use lint::{CHANGED, Completeness, FileFindings as Side, FindingKey, Unit, delta, suppress};
use overlay::{ContentHash, FileKind, Skipped, View, WorkspacePath};

use super::{
    Change, Comparison, FileFindings, FileReport, LinterSummary, Reported, Request, Sink, Summary,
    comparison::{Answered, Answers},
    evaluator::PolicyEvaluator,
    unchanged::Unchanged,
};
use crate::{
    Answer, Coverage, Excluded, FileAnswers, IN_PARENT, Incomplete, Level, Listener, MissingLinter, Refused,
    Router, Subject, Totals, contents::Contents, kept::FactCollector, read,
};

pub(super) struct CheckStream<'a, S> {
    evaluator: &'a PolicyEvaluator<'a>,
    before: Option<Before<'a>>,
    /// Files that are not looked at, since both views have them alike.
    unchanged: Option<Arc<Unchanged>>,
    /// Facts about each file, if they are kept.
    facts: Option<FactCollector>,
    sink: &'a mut S,
    /// Names of the linters, for the evaluator, which is asked about each file.
    names: Arc<[String]>,
    contents: Vec<(WorkspacePath, Option<ContentHash>)>,
    summary: Summary,
    /// The first thing that is wrong with the configuration.
    wrong: Option<Refused>,
}

/// The other view of a comparison.
struct Before<'a> {
    evaluator: PolicyEvaluator<'a>,
    comparison: &'a Comparison,
    answers: Answers,
}

impl<'a, S: Sink> CheckStream<'a, S> {
    pub(super) fn new(
        evaluator: &'a PolicyEvaluator<'a>,
        before: Option<(PolicyEvaluator<'a>, Answers)>,
        unchanged: Option<Arc<Unchanged>>,
        facts: Option<FactCollector>,
        request: &'a Request,
        sink: &'a mut S,
    ) -> Self {
        let comparison = request.comparison.as_deref();
        let before = comparison.zip(before);
        let before =
            before.map(|(comparison, (evaluator, answers))| Before { evaluator, comparison, answers });
        let summary = Summary::new(request.schedule.revision, before.is_some());
        let (names, contents, wrong) = (Arc::default(), Vec::new(), None);
        Self { evaluator, before, unchanged, facts, sink, names, contents, summary, wrong }
    }

    /// Counts the answers about a file, and reports those that are incomplete or leave it out.
    fn count(&mut self, file: &FileAnswers, report: &mut FileReport) {
        let path = &file.unit.path;
        for (linter, answer) in &file.answers {
            let counts = &mut self.summary.linters[*linter];
            report.excluded.extend(Excluded::of_answer(path, &counts.linter.name, answer));
            let Some(level) = counts.add(&answer.completeness) else { continue };
            report.level = report.level.max(Some(level));
            report.incomplete.extend(Incomplete::of_answer(path, &counts.linter.name, answer));
        }
        let Some(worst) = report.level else { return };
        self.summary.files += 1;
        self.summary.level = self.summary.level.max(worst);
        let content = file.answers.iter().find_map(|(_, it)| it.content);
        self.contents.push((path.clone(), content));
    }

    /// Evaluates the answers about a file of the view that is compared with.
    fn evaluate_before(
        wrong: &mut Option<Refused>,
        evaluator: &PolicyEvaluator<'_>,
        old: &Answered,
    ) -> Option<Arc<FileFindings>> {
        let names: Vec<_> = old.linters.iter().map(String::as_str).collect();
        Self::noted(wrong, evaluator.evaluate(&old.file, &names, None).map_err(Refused::of_before))
    }

    /// Keeps the first error, with which the check ends.
    fn noted(
        wrong: &mut Option<Refused>,
        evaluated: Result<Option<Arc<FileFindings>>, Refused>,
    ) -> Option<Arc<FileFindings>> {
        evaluated.unwrap_or_else(|error| {
            wrong.get_or_insert(error);
            Some(Arc::default())
        })
    }

    /// Findings for a text that is gone are not reported as if they were for the one that is there.
    fn pend(&mut self, report: &mut FileReport, whose: &str) {
        self.summary.level = self.summary.level.max(Level::Pending);
        report.incomplete.push(Incomplete {
            subject: Subject::Path(report.unit.path.clone()),
            linter: None,
            level: Level::Pending,
            reason: format!("{whose} {CHANGED}"),
        });
    }

    async fn send(&mut self, report: FileReport) {
        let changes = report.changes.as_deref();
        let count = |of: Change| {
            let of_kind = changes.unwrap_or_default().iter().filter(|(change, _)| *change == of);
            of_kind.map(|(_, findings)| findings.len()).sum::<usize>()
        };
        self.summary.findings += changes.map_or(report.found.findings.len(), |_| count(Change::New));
        self.summary.fixed += count(Change::Fixed);
        self.sink.file(report).await;
    }

    /// Compares the findings of a file with those of the other view: new ones and fixed ones.
    fn compare(&mut self, file: &FileAnswers, report: &mut FileReport) {
        let Some(before) = &mut self.before else { return };
        let old_path = before.comparison.moved_from(&file.unit.path).unwrap_or(&file.unit.path);
        let Some(old) = before.answers.take(old_path) else {
            report.changes = Some(changes(report.found.findings.clone(), Vec::new()));
            return;
        };
        let evaluated = Self::evaluate_before(&mut self.wrong, &before.evaluator, &old);
        let old_view = before.evaluator.view();
        let Some(old_found) = evaluated else { return self.pend(report, "the parent's file") };
        report.excluded.retain(|it| !old.leaves_out(it));
        self.tell_unknown_before(&old, file, report);
        if Arc::ptr_eq(&old_found, &report.found) {
            return;
        }
        let sides = ((&old.file, &*old_found), (file, &*report.found));
        match difference(old_view, sides.0, self.evaluator.view(), sides.1) {
            Some((mut new, mut fixed)) => {
                let is_unknown = |linter: &str| {
                    let mut not_yet = report.incomplete.iter().filter(|it| it.is_not_yet());
                    not_yet.any(|it| it.linter.as_deref() == Some(linter))
                };
                // Findings that the parent may have as well, of which the linter has not said so yet.
                new.retain(|it| !is_unknown(&it.0.rule.linter));
                let (looked, is_broken) = (self.looked(file, &old), file.coverage.syntax_errors > 0);
                // A file that cannot be parsed has no other findings, and none of those is fixed.
                fixed.retain(|it| {
                    let rule = &it.0.rule;
                    looked.contains(&&*rule.linter) && (rule.is_syntax_error || !is_broken)
                });
                report.changes = Some(changes(new, fixed));
            }
            None => self.pend(report, "the file, or the parent's,"),
        }
    }

    /// Reports as incomplete that a linter did not look at the file before, so that findings reported as new may not be.
    fn tell_unknown_before(&mut self, old: &Answered, file: &FileAnswers, report: &mut FileReport) {
        for (linter, answer) in &old.file.answers {
            let Some(name) = old.linters.get(*linter) else { continue };
            let path = &old.file.unit.path;
            let now = self.answer_of(file, name);
            let aborted =
                || (answer.aborted && !now.is_some_and(|it| it.aborted)).then(|| aborted(path, name));
            let has_findings = now.is_some_and(|it| !it.findings.is_empty());
            let is_news = has_findings && answer.completeness == Completeness::Excluded;
            let left_out = || is_news.then(|| left_out(path, name));
            let unknown = Incomplete::of_answer(path, name, answer).or_else(aborted).or_else(left_out);
            let Some(unknown) = unknown else { continue };
            if unknown.is_not_yet() {
                self.add_not_yet(unknown, report);
                continue;
            }
            self.summary.level = self.summary.level.max(unknown.level);
            let reason = format!("{IN_PARENT}{}", unknown.reason);
            report.incomplete.push(Incomplete { reason, ..unknown });
        }
    }

    /// Reports once that a linter has not answered yet, on whichever side.
    fn add_not_yet(&mut self, unknown: Incomplete, report: &mut FileReport) {
        self.summary.level = self.summary.level.max(unknown.level);
        let is_reported = report.incomplete.iter().any(|it| it.is_not_yet() && it.linter == unknown.linter);
        report.incomplete.extend((!is_reported).then_some(unknown));
    }

    fn linter(&self, place: usize) -> Option<&lint::Identity> {
        self.summary.linters.get(place).map(|it| &it.linter)
    }

    fn answer_of<'f>(&self, file: &'f FileAnswers, name: &str) -> Option<&'f Answer> {
        let is_it = |linter: &usize| self.linter(*linter).is_some_and(|it| it.name == name);
        file.answers.iter().find(|(linter, _)| is_it(linter)).map(|(_, it)| &**it)
    }

    /// The linters that have looked at the file, with the rules of its parent: what they do not find any more is gone.
    fn looked<'s>(&'s self, file: &'s FileAnswers, old: &Answered) -> Vec<&'s str> {
        let whole = file.answers.iter().filter(|(_, it)| it.is_whole());
        let whole = whole.filter_map(|(linter, _)| self.linter(*linter));
        // Another selection, or another version, may not have the rule.
        let same = whole.filter(|it| old.digest(&it.name).is_none_or(|old| old == it.digest));
        let mut looked: Vec<_> = same.map(|it| it.name.as_str()).collect();
        if file.coverage.is_all() {
            // An unused suppression is not reported where it may be in use.
            looked.push(suppress::LINTER);
        }
        looked
    }

    /// Findings of files that are gone. Of a file that is there and not asked about any more nothing is known.
    async fn compare_gone(&mut self, skipped: &Skipped) {
        let Some(Before { evaluator, comparison, answers }) = self.before.take() else { return };
        for old in comparison.gone(answers) {
            // The findings that such a file has now are not known.
            let path = &old.file.unit.path;
            let now = self.evaluator.view().metadata(path);
            let is_there = now.is_ok_and(|it| it.kind != FileKind::Directory);
            if is_there || skipped.unreadable.keys().any(|it| path.starts_with(it)) {
                continue;
            }
            let mut report = FileReport { is_gone: true, ..FileReport::of(&old.file) };
            match Self::evaluate_before(&mut self.wrong, &evaluator, &old) {
                // Without the other side all of it is gone, wherever it stood.
                Some(found) => report.changes = Some(changes(Vec::new(), found.findings.clone())),
                None => self.pend(&mut report, "the parent's file"),
            }
            self.send(report).await;
        }
    }

    /// Adds the counts of the files that both views have alike. None of their findings is new or fixed.
    fn add_unchanged(&mut self, unchanged: &Unchanged) {
        let sums = unchanged.sums();
        self.summary.files += sums.files;
        self.summary.suppressed += sums.suppressed;
        self.summary.baselined += sums.baselined;
        self.summary.linters = whole(std::mem::take(&mut self.summary.linters), unchanged);
    }

    /// `None` where something is wrong with the configuration: what was reported of the files is not known then.
    pub(super) fn take_facts(&mut self) -> Option<FactCollector> {
        self.facts.take().filter(|_| self.wrong.is_none())
    }

    pub(super) async fn finish(mut self, totals: Totals, start: Instant) -> Result<Summary, Refused> {
        self.compare_gone(&totals.skipped).await;
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        Incomplete::unreadable(&totals.skipped).for_each(|it| self.sink.incomplete(it));
        if !totals.skipped.unreadable.is_empty() {
            self.summary.level = Level::Failed;
        }
        for (linter, cached) in self.summary.linters.iter_mut().zip(totals.cached) {
            linter.cached = cached;
        }
        let content = match self.unchanged.take() {
            Some(unchanged) => {
                self.add_unchanged(&unchanged);
                let mut contents = unchanged.contents();
                self.contents.drain(..).for_each(|(path, content)| contents.insert(path, content));
                contents.hash()
            }
            None => self.contents.drain(..).collect::<Contents>().hash(),
        };
        self.sink.pause().await;
        Ok(Summary {
            content,
            skipped: totals.skipped,
            queued: totals.queued,
            duration: start.elapsed(),
            ..self.summary
        })
    }
}

impl<S: Sink> Listener for CheckStream<'_, S> {
    async fn start(
        &mut self,
        router: &Arc<Router>,
        missing: Vec<MissingLinter>,
        files: usize,
        answers: usize,
    ) {
        let unchanged = self.unchanged.as_deref();
        let missing = unchanged.map_or(missing, |it| it.missing.clone());
        let (files, answers) = unchanged.map_or((files, answers), |it| it.plus(files, answers));
        for missing in missing {
            match missing.sorted() {
                Ok(failed) => {
                    self.summary.level = Level::Failed;
                    self.sink.incomplete(failed);
                }
                Err(unavailable) => self.summary.unavailable.push(unavailable),
            }
        }
        // The linters that would be asked about no files are not known.
        let is_nothing = unchanged.is_some_and(|it| it.after.units.is_empty());
        let linters = router.linters().iter().filter(|_| !is_nothing);
        let linters: Vec<_> = linters.map(|it| it.identity().clone()).collect();
        match unchanged {
            Some(unchanged) => self.sink.started(&unchanged.all_linters(&linters), files, answers).await,
            None => self.sink.started(&linters, files, answers).await,
        }
        self.summary.linters = linters.into_iter().map(LinterSummary::of).collect();
        self.names = router.names();
    }

    async fn file(&mut self, file: FileAnswers) {
        let names = Arc::clone(&self.names);
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let before = self.before.as_ref();
        let moved_from = before.and_then(|it| it.comparison.moved_from(&file.unit.path));
        let found = Self::noted(&mut self.wrong, self.evaluator.evaluate(&file, &names, moved_from));
        let mut report = FileReport::of(&file);
        let Some(found) = found else {
            self.summary.files += 1;
            report.level = Some(Level::Pending);
            report.coverage = Coverage::default();
            // The file is there, so that none of its findings is gone.
            let old = moved_from.unwrap_or(&file.unit.path).clone();
            let _not_compared = self.before.as_mut().and_then(|it| it.answers.take(&old));
            self.pend(&mut report, "the file");
            return self.send(report).await;
        };
        self.count(&file, &mut report);
        self.summary.suppressed += found.suppressed;
        self.summary.baselined += found.baselined;
        if let Some(facts) = &mut self.facts {
            facts.add(&file, self.evaluator.view(), found.counts());
        }
        report.found = found;
        report.changes = self.before.is_some().then(Vec::new);
        self.compare(&file, &mut report);
        self.send(report).await;
    }

    async fn pause(&mut self) {
        self.sink.pause().await;
    }
}

impl FileReport {
    fn of(file: &FileAnswers) -> Self {
        let linters = file.answers.iter().map(|(linter, _)| *linter);
        let reads = linters.zip(file.reads.iter().cloned()).collect();
        Self { coverage: file.coverage.clone(), reads, ..Self::new(file.unit.clone()) }
    }

    fn new(unit: Unit) -> Self {
        Self {
            unit,
            is_gone: false,
            level: None,
            coverage: Coverage::default(),
            found: Arc::default(),
            changes: None,
            incomplete: Vec::new(),
            excluded: Vec::new(),
            reads: Vec::new(),
        }
    }
}

/// The counts of `looked_at` and of the unchanged, in the order in which all linters stand.
fn whole(looked_at: Vec<LinterSummary>, unchanged: &Unchanged) -> Vec<LinterSummary> {
    let identities: Vec<_> = looked_at.iter().map(|it| it.linter.clone()).collect();
    let mut whole: Vec<_> = unchanged.all_linters(&identities).into_iter().map(LinterSummary::of).collect();
    for (linter, (complete, excluded)) in whole.iter_mut().zip(&unchanged.sums().linters) {
        (linter.complete, linter.excluded, linter.cached) = (*complete, *excluded, complete + excluded);
    }
    for more in looked_at {
        if let Some(sum) = whole.iter_mut().find(|it| it.linter == more.linter) {
            sum.complete += more.complete;
            sum.excluded += more.excluded;
            sum.partial += more.partial;
            sum.pending += more.pending;
            sum.failed += more.failed;
            sum.cached += more.cached;
        }
    }
    whole
}

fn changes(new: Vec<Reported>, fixed: Vec<Reported>) -> Vec<(Change, Vec<Reported>)> {
    let both = [(Change::New, new), (Change::Fixed, fixed)];
    both.into_iter().filter(|(_, findings)| !findings.is_empty()).collect()
}

fn aborted(path: &WorkspacePath, linter: &str) -> Incomplete {
    partial(
        path,
        linter,
        format!("{linter} ran only some of its analyses, since something there does not compile"),
    )
}

fn left_out(path: &WorkspacePath, linter: &str) -> Incomplete {
    partial(path, linter, format!("{linter} left the file out"))
}

fn partial(path: &WorkspacePath, linter: &str, reason: String) -> Incomplete {
    Incomplete {
        subject: Subject::Path(path.clone()),
        linter: Some(linter.into()),
        level: Level::Partial,
        reason,
    }
}

fn keys(findings: &[Reported]) -> Vec<FindingKey<'_>> {
    findings.iter().map(|it| it.0.key()).collect()
}

type Evaluated<'a> = (&'a FileAnswers, &'a FileFindings);

/// The findings that only `after` has, and those that only `before` has. `None` if a text is not the one any
/// more that the findings are for.
fn difference(
    before_view: &dyn View,
    before: Evaluated<'_>,
    after_view: &dyn View,
    after: Evaluated<'_>,
) -> Option<(Vec<Reported>, Vec<Reported>)> {
    let text = |view: &dyn View, (file, found): Evaluated<'_>| {
        if found.findings.is_empty() {
            // Nothing in it has to be found again.
            return Some(Bytes::new());
        }
        let content = file.answers.iter().find_map(|(_, it)| it.content);
        read(view, &file.unit.path, content).ok()
    };
    let (before_text, after_text) = (text(before_view, before)?, text(after_view, after)?);
    let (old, new) = (&before.1.findings, &after.1.findings);
    let delta = delta(
        Side { text: &before_text, findings: &keys(old) },
        Side { text: &after_text, findings: &keys(new) },
    );
    let pick = |all: &[Reported], picked: &[usize]| picked.iter().map(|it| Arc::clone(&all[*it])).collect();
    Some((pick(new, &delta.new), pick(old, &delta.fixed)))
}
