//! Answer of one linter about one file, shared by all branches for which it holds.

mod unread;

use std::{
    mem::size_of,
    sync::Arc,
    time::{Duration, Instant},
};

use lint::{CHANGED, Completeness, Lease, Linter, Outcome, Unit};
use overlay::{ContentHash, Read, ReadSet, View, WorkspacePath};

use self::unread::unread;
use super::{
    finding::Finding,
    place::{Changed, Placer},
};

/// An answer with its findings in their places.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub completeness: Completeness,
    /// The hash of the file's bytes that it is for; `None` if they could not be read.
    pub content: Option<ContentHash>,
    pub findings: Vec<Finding>,
    /// Limit on reuse of the answer, if there is one. Such an answer is never written to a file.
    pub lease: Option<Lease>,
    /// Whether some analyses did not run: a finding that is missing then is not fixed.
    pub aborted: bool,
    /// Whether another attempt would fail in the same way as long as the text and the reads are the same.
    pub(super) is_deterministic: bool,
    /// Reason for which the linter leaves the file out, or a part of it, if it is the content.
    pub left_out: Option<Box<str>>,
}

/// An answer that was computed just now.
#[derive(Debug, Clone, Copy)]
pub struct Timing<'a> {
    pub linter: &'a str,
    pub path: &'a WorkspacePath,
    /// Time since the linter began, or since its answer before this one of the same batch. A linter that works on several files
    /// at once answers some in no time.
    pub took: Duration,
}

/// Called for each answer, from any thread; with `None` if it was not computed.
pub type OnAnswer = Arc<dyn Fn(Option<Timing<'_>>) + Send + Sync>;

/// An answer just computed, with what the linter looked at.
#[derive(Debug, Clone)]
pub(crate) struct Computed {
    pub(super) answer: Arc<Answer>,
    pub(super) reads: Arc<ReadSet>,
    /// The reads as the cache holds them; `None` if the answer is not kept.
    pub(super) kept_reads: Option<scheduler::Reads>,
    /// Whether the linter was not asked, because the file is too large.
    pub(super) is_too_large: bool,
}

impl Answer {
    pub(super) fn without_findings(completeness: Completeness) -> Self {
        Self {
            completeness,
            content: None,
            findings: Vec::new(),
            lease: None,
            aborted: false,
            is_deterministic: false,
            left_out: None,
        }
    }

    /// Whether the answer is final: complete, or the file is left out.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.completeness, Completeness::Complete | Completeness::Excluded)
    }

    /// Whether the answer has every finding of its linter.
    pub(super) fn is_whole(&self) -> bool {
        self.completeness == Completeness::Complete && !self.aborted && self.left_out.is_none()
    }

    /// Whether the answer may be given again now, where its read set holds.
    pub(super) fn is_reusable(&self) -> bool {
        self.is_final() && self.lease.as_ref().is_none_or(Lease::holds)
    }

    /// Whether `reads` names every other file whose text gave a finding its place.
    pub(super) fn rests_on(&self, reads: &ReadSet) -> bool {
        let others = self.findings.iter().flat_map(|it| &*it.related).filter_map(|it| it.path.as_ref());
        others.into_iter().all(|it| reads.get(&Read::Content(it.clone())).is_some())
    }

    /// Bytes of memory, about.
    pub(super) fn weight(&self) -> usize {
        let left_out = self.left_out.as_ref().map_or(0, |it| it.len());
        size_of::<Self>() + left_out + self.findings.iter().map(Finding::weight).sum::<usize>()
    }
}

impl Finding {
    /// Bytes of memory, about, if it were the only one to hold what it shares.
    pub fn weight(&self) -> usize {
        let edits = self.fixes.iter().flat_map(|it| &*it.edits);
        let fixes: usize = edits.map(|it| it.replacement.len() + 64).sum();
        size_of::<Self>() + self.message.len() + fixes + self.related.len() * 96
    }
}

impl Computed {
    /// Answer for a unit that the linter was not asked about.
    pub(super) fn without_findings(completeness: Completeness) -> Self {
        let answer = Arc::new(Answer::without_findings(completeness));
        Self { answer, reads: Arc::default(), kept_reads: None, is_too_large: false }
    }

    /// Answer for a file that is too large: left out, as by a linter's configuration. The file is not read, and so nothing is
    /// remembered.
    pub(super) fn too_large() -> Self {
        Self { is_too_large: true, ..Self::without_findings(Completeness::Excluded) }
    }

    /// Makes a final answer partial, since something that it may depend on changed meanwhile.
    pub(super) fn doubt(&mut self) {
        if self.answer.is_final() {
            let why = format!("other files {CHANGED}");
            Arc::make_mut(&mut self.answer).completeness = Completeness::Partial(why);
        }
    }

    fn placed(
        placer: &mut Placer,
        view: &dyn View,
        linter: &Arc<str>,
        unit: &Unit,
        mut outcome: Outcome,
    ) -> Self {
        let findings = match placer.place(view, linter, &unit.path, &mut outcome) {
            Ok(findings) => findings,
            Err(Changed) => {
                outcome.completeness = changed(outcome.completeness);
                outcome.is_deterministic = false;
                Vec::new()
            }
        };
        let Outcome { completeness, content, reads, lease, aborted, is_deterministic, left_out, .. } =
            outcome;
        let left_out = left_out.map(Into::into);
        let answer = Answer { completeness, content, findings, lease, aborted, is_deterministic, left_out };
        Self { answer: Arc::new(answer), reads, kept_reads: None, is_too_large: false }
    }
}

/// Findings for a text that is gone have no place in the one that is there; worse news stands.
fn changed(completeness: Completeness) -> Completeness {
    match completeness {
        worse @ (Completeness::Failed(_) | Completeness::Pending(_)) => worse,
        Completeness::Complete | Completeness::Partial(_) | Completeness::Excluded => {
            Completeness::Pending(format!("the file {CHANGED}"))
        }
    }
}

/// Asks a linter about the files that it can read, of at most `largest` bytes; every unit gets one answer, the first, whatever the
/// linter does.
pub(super) fn ask(
    linter: &dyn Linter,
    job: &lint::Job,
    largest: u64,
    mut answered: impl FnMut(Option<Timing<'_>>),
) -> Vec<Computed> {
    let unread: Vec<_> = job.units.iter().map(|it| unread(&job.view, it, largest)).collect();
    if unread.iter().all(Option::is_none) {
        return ask_all(linter, job, &mut answered);
    }
    let units = job.units.iter().zip(&unread).filter(|(_, it)| it.is_none()).map(|(unit, _)| unit.clone());
    let (view, cancel) = (Arc::clone(&job.view), job.cancel.clone());
    let rest = lint::Job { units: units.collect(), view, cancel, ..*job };
    let mut computed = ask_all(linter, &rest, &mut answered).into_iter();
    let one = |unread: Option<Computed>| {
        if unread.is_some() {
            answered(None);
        }
        unread.or_else(|| computed.next())
    };
    unread.into_iter().filter_map(one).collect()
}

fn ask_all(
    linter: &dyn Linter,
    job: &lint::Job,
    answered: &mut impl FnMut(Option<Timing<'_>>),
) -> Vec<Computed> {
    if job.units.is_empty() {
        return Vec::new();
    }
    let name: Arc<str> = linter.identity().name.as_str().into();
    let mut placer = Placer::default();
    let mut computed: Vec<Option<Computed>> = vec![None; job.units.len()];
    let mut since = Instant::now();
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        linter.check(job, &mut |index, outcome| {
            if let Some(place @ None) = computed.get_mut(index) {
                let unit = &job.units[index];
                *place = Some(Computed::placed(&mut placer, &*job.view, &name, unit, outcome));
                answered(Some(Timing { linter: &name, path: &unit.path, took: since.elapsed() }));
                since = Instant::now();
            }
        });
    }));
    let why = if asked.is_ok() { "gave no answer" } else { "broke off; this is a bug in Broker" };
    let silent = || Completeness::Failed(format!("the linter `{name}` {why}"));
    computed.into_iter().map(|it| it.unwrap_or_else(|| Computed::without_findings(silent()))).collect()
}
