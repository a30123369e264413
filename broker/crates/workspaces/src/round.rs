//! One round of answers: from files as they are done to events, and to the summary.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use checker::{
    Answer, Excluded, FileAnswers, Incomplete, Lack, Level, Listener, Router, Subject, Totals, Unavailable,
    read,
};
use lint::{Completeness, FileFindings as Side, Site, delta, suppress};
use overlay::{Revision, Skipped, View, WorkspacePath};

use super::{
    DaemonError,
    ask::Ask,
    events::{Change, Event, Events, FileFindings, LinterSummary, Started, Summary},
    judge::{Judge, Judged, Told},
    parent::{Answered, Parent},
};

/// Findings that go into one event.
const GATHERED: usize = 500;

pub(super) struct Round<'a> {
    judge: &'a Judge<'a>,
    revision: Revision,
    parent: Option<Parent<'a>>,
    events: Events<'a>,
    gathered: Vec<FileFindings>,
    /// How many findings are gathered.
    waiting: usize,
    incomplete: Vec<Incomplete>,
    excluded: Vec<Excluded>,
    unavailable: Vec<Unavailable>,
    /// Sorted at the end: files come as they are done.
    contents: Vec<(WorkspacePath, Option<overlay::ContentHash>)>,
    linters: Vec<LinterSummary>,
    /// Of the linters, for the judge, who is asked about each file.
    names: Arc<[String]>,
    files: usize,
    findings: usize,
    fixed: usize,
    suppressed: usize,
    baselined: usize,
    is_comparison: bool,
    level: Level,
    /// The first thing that is wrong with the configuration.
    wrong: Option<DaemonError>,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        judge: &'a Judge<'a>,
        revision: Revision,
        parent: Option<Parent<'a>>,
        events: Events<'a>,
    ) -> Self {
        Self {
            judge,
            revision,
            is_comparison: parent.is_some(),
            parent,
            events,
            gathered: Vec::new(),
            waiting: 0,
            incomplete: Vec::new(),
            excluded: Vec::new(),
            unavailable: Vec::new(),
            contents: Vec::new(),
            linters: Vec::new(),
            names: Arc::default(),
            files: 0,
            findings: 0,
            fixed: 0,
            suppressed: 0,
            baselined: 0,
            level: Level::Complete,
            wrong: None,
        }
    }

    async fn flush(&mut self) {
        if !self.gathered.is_empty() {
            let files = std::mem::take(&mut self.gathered);
            self.waiting = 0;
            self.events.send(Event::Files(files)).await;
        }
        if !self.incomplete.is_empty() {
            let incomplete = std::mem::take(&mut self.incomplete);
            self.events.send(Event::Incomplete(incomplete)).await;
        }
        if !self.excluded.is_empty() {
            let excluded = std::mem::take(&mut self.excluded);
            self.events.send(Event::Excluded(excluded)).await;
        }
    }

    fn count(&mut self, file: &FileAnswers) {
        let mut worst = None;
        for (linter, answer) in &file.answers {
            let counts = &mut self.linters[*linter];
            self.excluded.extend(Excluded::of_answer(&file.unit.path, &counts.linter.name, answer));
            let Some(level) = counts.add(&answer.completeness) else { continue };
            worst = worst.max(Some(level));
            self.incomplete.extend(Incomplete::of_answer(&file.unit.path, &counts.linter.name, answer));
        }
        let Some(worst) = worst else { return };
        self.files += 1;
        self.level = self.level.max(worst);
        let content = file.answers.iter().find_map(|(_, it)| it.content);
        self.contents.push((file.unit.path.clone(), content));
    }

    async fn take(&mut self, findings: FileFindings) {
        match findings.change {
            Some(Change::Fixed) => self.fixed += findings.findings.len(),
            Some(Change::New) | None => self.findings += findings.findings.len(),
        }
        self.waiting += findings.findings.len();
        self.gathered.push(findings);
        if self.waiting >= GATHERED {
            self.flush().await;
        }
    }

    /// `linters` are those that the file's answers count in.
    fn judged(
        &mut self,
        judge: &Judge<'_>,
        file: &FileAnswers,
        linters: &[String],
        moved_from: Option<&WorkspacePath>,
    ) -> Option<Arc<Judged>> {
        let names: Vec<_> = linters.iter().map(String::as_str).collect();
        judge.judge(file, &names, moved_from).unwrap_or_else(|error| {
            self.wrong.get_or_insert(error);
            Some(Arc::default())
        })
    }

    /// Findings for a text that is gone are not told as if they were for the one that is there.
    fn pend(&mut self, path: &WorkspacePath, whose: &str) {
        self.level = self.level.max(Level::Pending);
        self.incomplete.push(Incomplete {
            subject: Subject::Path(path.clone()),
            linter: None,
            level: Level::Pending,
            reason: format!("{whose} changed while it was checked"),
        });
    }

    async fn show(&mut self, judged: &Judged) {
        if !judged.findings.is_empty() {
            self.take(FileFindings { findings: judged.findings.clone(), change: None }).await;
        }
    }

    /// Shows what of a file its parent has not, and what it has no more.
    async fn compare(&mut self, file: &FileAnswers, judged: &Arc<Judged>) {
        let Some(parent) = &mut self.parent else { return };
        let (judge, own) = (parent.judge, self.judge);
        let Some(old) = parent.answers.take(&file.unit.path) else {
            return self.take_both(judged.findings.clone(), Vec::new()).await;
        };
        let Some(old_judged) = self.judged(judge, &old.file, &old.linters, None) else {
            return self.pend(&file.unit.path, "the parent's file");
        };
        self.tell_unknown_before(&old, file);
        if Arc::ptr_eq(&old_judged, judged) {
            return;
        }
        let sides = ((&old.file, &*old_judged), (file, &**judged));
        match difference(judge.view(), sides.0, own.view(), sides.1) {
            Some((new, mut fixed)) => {
                let (looked, is_broken) = (self.looked(file, &old), file.coverage.syntax_errors > 0);
                // What cannot be parsed has no other findings, and nothing of that is fixed.
                fixed.retain(|it| {
                    let rule = &it.0.rule;
                    looked.contains(&&*rule.linter) && (rule.is_syntax_error || !is_broken)
                });
                self.take_both(new, fixed).await;
            }
            None => self.pend(&file.unit.path, "the file, or the parent's,"),
        }
    }

    /// What a linter did not find in the parent because it did not look is told as new, and that it may not be.
    fn tell_unknown_before(&mut self, old: &Answered, file: &FileAnswers) {
        for (linter, answer) in &old.file.answers {
            let Some(name) = old.linters.get(*linter) else { continue };
            let path = &old.file.unit.path;
            let now = self.answer_of(file, name);
            let halted = || (answer.halted && !now.is_some_and(|it| it.halted)).then(|| halted(path, name));
            let has_findings = now.is_some_and(|it| !it.findings.is_empty());
            let is_news = has_findings && answer.completeness == Completeness::Excluded;
            let left_out = || is_news.then(|| left_out(path, name));
            let unknown = Incomplete::of_answer(path, name, answer).or_else(halted).or_else(left_out);
            let Some(unknown) = unknown else { continue };
            self.level = self.level.max(unknown.level);
            let reason = format!("in the parent, so that what is new here may not be: {}", unknown.reason);
            self.incomplete.push(Incomplete { reason, ..unknown });
        }
    }

    fn answer_of<'f>(&self, file: &'f FileAnswers, name: &str) -> Option<&'f Answer> {
        let is_it = |linter: &usize| self.linters.get(*linter).is_some_and(|it| it.linter.name == name);
        file.answers.iter().find(|(linter, _)| is_it(linter)).map(|(_, it)| &**it)
    }

    /// The linters that have looked at the file, with the rules of its parent: what they do not find any more is gone.
    fn looked<'s>(&'s self, file: &'s FileAnswers, old: &Answered) -> Vec<&'s str> {
        let has_looked = |it: &Answer| it.completeness == Completeness::Complete && !it.halted;
        let whole = file.answers.iter().filter(|(_, it)| has_looked(it));
        let whole = whole.filter_map(|(linter, _)| self.linters.get(*linter));
        // Another selection, or another version, may lack the rule.
        let same = whole.filter(|it| old.digest(&it.linter.name).is_none_or(|old| old == it.linter.digest));
        let mut looked: Vec<_> = same.map(|it| it.linter.name.as_str()).collect();
        if file.coverage.is_all() {
            // An unused suppression is not reported where it may be in use.
            looked.push(suppress::LINTER);
        }
        looked
    }

    async fn take_both(&mut self, new: Vec<Told>, fixed: Vec<Told>) {
        for (findings, change) in [(new, Change::New), (fixed, Change::Fixed)] {
            if !findings.is_empty() {
                self.take(FileFindings { findings, change: Some(change) }).await;
            }
        }
    }

    /// Findings of files that are gone. Of a file that is there and not asked about any more nothing is known.
    async fn compare_gone(&mut self, ask: &Ask, skipped: &Skipped) {
        let Some(parent) = self.parent.take() else { return };
        for old in parent.answers.into_gone(ask) {
            // Nobody knows what is there now.
            let path = &old.file.unit.path;
            let is_there = self.judge.view().metadata(path).is_ok();
            if is_there || skipped.unreadable.keys().any(|it| path.starts_with(it)) {
                continue;
            }
            let Some(judged) = self.judged(parent.judge, &old.file, &old.linters, None) else {
                self.pend(&old.file.unit.path, "the parent's file");
                continue;
            };
            // Without the other side all of it is gone, wherever it stood.
            self.take_both(Vec::new(), judged.findings.clone()).await;
        }
    }

    pub(super) async fn finish(
        mut self,
        totals: Totals,
        ask: &Ask,
        start: Instant,
    ) -> Result<(), DaemonError> {
        self.compare_gone(ask, &totals.skipped).await;
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        self.incomplete.extend(Incomplete::unreadable(&totals.skipped));
        if !totals.skipped.unreadable.is_empty() {
            self.level = Level::Failed;
        }
        self.flush().await;
        for (linter, cached) in self.linters.iter_mut().zip(totals.cached) {
            linter.cached = cached;
        }
        let summary = Summary {
            revision: self.revision,
            content: content_of(&mut self.contents),
            level: self.level,
            files: self.files,
            findings: self.findings,
            is_comparison: self.is_comparison,
            fixed: self.fixed,
            suppressed: self.suppressed,
            baselined: self.baselined,
            linters: std::mem::take(&mut self.linters),
            unavailable: std::mem::take(&mut self.unavailable),
            skipped: totals.skipped,
            duration: start.elapsed(),
            queued: totals.queued,
        };
        self.events.send(Event::Summary(Box::new(summary))).await;
        Ok(())
    }
}

impl Listener for Round<'_> {
    async fn start(&mut self, router: &Router, lacks: Vec<Lack>, files: usize, _answers: usize) {
        for lack in lacks {
            match lack.sorted() {
                Ok(failed) => {
                    self.level = Level::Failed;
                    self.incomplete.push(failed);
                }
                Err(unavailable) => self.unavailable.push(unavailable),
            }
        }
        self.linters = router.linters().iter().map(|it| LinterSummary::of(it.identity().clone())).collect();
        self.names = router.names();
        self.events.send(Event::Started(Started { revision: self.revision, files })).await;
    }

    async fn file(&mut self, file: FileAnswers) {
        let names = Arc::clone(&self.names);
        let moved_from = self.parent.as_ref().and_then(|it| it.answers.moved.get(&file.unit.path)).cloned();
        let Some(judged) = self.judged(self.judge, &file, &names, moved_from.as_ref()) else {
            self.files += 1;
            // It is there, so that nothing of it is gone.
            let _not_compared = self.parent.as_mut().and_then(|it| it.answers.take(&file.unit.path));
            return self.pend(&file.unit.path, "the file");
        };
        self.count(&file);
        self.suppressed += judged.suppressed;
        self.baselined += judged.baselined;
        if self.is_comparison {
            self.compare(&file, &judged).await;
        } else {
            self.show(&judged).await;
        }
    }

    async fn pause(&mut self) {
        self.flush().await;
    }
}

impl LinterSummary {
    fn of(linter: lint::Identity) -> Self {
        Self { linter, complete: 0, excluded: 0, partial: 0, pending: 0, failed: 0, cached: 0 }
    }

    /// How much of an answer it is; `None` if the linter leaves the file out.
    fn add(&mut self, completeness: &Completeness) -> Option<Level> {
        let (count, level) = match completeness {
            Completeness::Excluded => (&mut self.excluded, None),
            Completeness::Complete => (&mut self.complete, Some(Level::Complete)),
            Completeness::Partial(_) => (&mut self.partial, Some(Level::Partial)),
            Completeness::Pending(_) => (&mut self.pending, Some(Level::Pending)),
            Completeness::Failed(_) => (&mut self.failed, Some(Level::Failed)),
        };
        *count += 1;
        level
    }

    /// The worst of its answers.
    pub fn level(&self) -> Level {
        match self {
            it if it.failed > 0 => Level::Failed,
            it if it.pending > 0 => Level::Pending,
            it if it.partial > 0 => Level::Partial,
            _ => Level::Complete,
        }
    }
}

fn halted(path: &WorkspacePath, linter: &str) -> Incomplete {
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

fn sites(findings: &[Told]) -> Vec<Site<'_>> {
    findings.iter().map(|it| it.0.site()).collect()
}

type JudgedFile<'a> = (&'a FileAnswers, &'a Judged);

/// The findings that only `after` has, and those that only `before` has. `None` if a text is not the one any
/// more that the findings are for.
fn difference(
    before_view: &dyn View,
    before: JudgedFile<'_>,
    after_view: &dyn View,
    after: JudgedFile<'_>,
) -> Option<(Vec<Told>, Vec<Told>)> {
    let text = |view: &dyn View, (file, judged): JudgedFile<'_>| {
        if judged.findings.is_empty() {
            // Nothing in it has to be found again.
            return Some(Bytes::new());
        }
        let content = file.answers.iter().find_map(|(_, it)| it.content);
        read(view, &file.unit.path, content).ok()
    };
    let (before_text, after_text) = (text(before_view, before)?, text(after_view, after)?);
    let (old, new) = (&before.1.findings, &after.1.findings);
    let delta = delta(
        Side { text: &before_text, findings: &sites(old) },
        Side { text: &after_text, findings: &sites(new) },
    );
    let pick = |all: &[Told], picked: &[usize]| picked.iter().map(|it| Arc::clone(&all[*it])).collect();
    Some((pick(new, &delta.new), pick(old, &delta.fixed)))
}

fn content_of(files: &mut [(WorkspacePath, Option<overlay::ContentHash>)]) -> overlay::ContentHash {
    files.sort();
    let mut text = Vec::with_capacity(files.len() * 64);
    for (path, content) in files {
        text.extend_from_slice(path.as_str().as_bytes());
        // No path contains it.
        text.push(0);
        text.extend_from_slice(content.as_ref().map_or(&[0; 32], |it| it.as_bytes()));
    }
    overlay::ContentHash::of(&text)
}
