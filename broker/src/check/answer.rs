//! What one linter says of one file: shared by all branches for which it holds.

use std::{mem::size_of, sync::Arc};

use lint::{Completeness, Linter, Outcome, Unit};
use overlay::{ContentHash, Read, ReadSet, View};

use super::{
    place::{Changed, Placer},
    report::Finding,
};

/// An answer with its findings in their places.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub completeness: Completeness,
    /// The hash of the file's bytes that it is for; `None` if they could not be read.
    pub content: Option<ContentHash>,
    pub findings: Vec<Finding>,
}

/// An answer just computed, with what the linter looked at.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(super) answer: Arc<Answer>,
    pub(super) reads: Arc<ReadSet>,
}

impl Answer {
    fn without_findings(completeness: Completeness) -> Self {
        Self { completeness, content: None, findings: Vec::new() }
    }

    /// Whether it may be given again.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.completeness, Completeness::Complete | Completeness::Excluded)
    }

    /// Whether `reads` names every other file whose text gave a finding its place.
    pub(super) fn rests_on(&self, reads: &ReadSet) -> bool {
        let others = self.findings.iter().flat_map(|it| &*it.related).filter_map(|it| it.path.as_ref());
        others.into_iter().all(|it| reads.get(&Read::Content(it.clone())).is_some())
    }

    /// Bytes of memory, about.
    pub(super) fn weight(&self) -> usize {
        let of_finding = |it: &Finding| {
            let fixes: usize =
                it.fixes.iter().flat_map(|it| &*it.edits).map(|it| it.replacement.len() + 64).sum();
            size_of::<Finding>() + it.message.len() + fixes + it.related.len() * 96
        };
        size_of::<Self>() + self.findings.iter().map(of_finding).sum::<usize>()
    }
}

impl Given {
    /// What there is to say of a unit that was not asked about.
    pub(super) fn without_findings(completeness: Completeness) -> Self {
        Self { answer: Arc::new(Answer::without_findings(completeness)), reads: Arc::default() }
    }

    /// Something that the answer may rest on changed meanwhile; nobody knows whether it matters.
    pub(super) fn doubt(&mut self) {
        if self.answer.is_final() {
            let why = "other files changed while it was checked".to_owned();
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
                Vec::new()
            }
        };
        let Outcome { completeness, content, reads, .. } = outcome;
        Self { answer: Arc::new(Answer { completeness, content, findings }), reads }
    }
}

/// Findings for a text that is gone have no place in the one that is there; worse news stands.
fn changed(completeness: Completeness) -> Completeness {
    match completeness {
        worse @ (Completeness::Failed(_) | Completeness::Pending(_)) => worse,
        Completeness::Complete | Completeness::Partial(_) | Completeness::Excluded => {
            Completeness::Pending("the file changed while it was checked".to_owned())
        }
    }
}

/// Asks a linter; every unit gets one answer, the first, whatever the linter does.
pub(super) fn ask(linter: &dyn Linter, job: &lint::Job, mut answered: impl FnMut()) -> Vec<Given> {
    let name: Arc<str> = linter.identity().name.as_str().into();
    let mut placer = Placer::new();
    let mut given: Vec<Option<Given>> = vec![None; job.units.len()];
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        linter.check(job, &mut |index, outcome| {
            if let Some(place @ None) = given.get_mut(index) {
                *place = Some(Given::placed(&mut placer, &*job.view, &name, &job.units[index], outcome));
                answered();
            }
        });
    }));
    let why = if asked.is_ok() { "gave no answer" } else { "broke off; this is a bug in Broker" };
    let silent = || Completeness::Failed(format!("the linter `{name}` {why}"));
    given.into_iter().map(|it| it.unwrap_or_else(|| Given::without_findings(silent()))).collect()
}
