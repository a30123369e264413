//! A linter of which only some rules are asked, for those that cannot list them.

use std::sync::Arc;

use config::Selection;
use lint::{Completeness, EnabledRule, Identity, Interest, Job, Linter, Masking, Outcome, Rule, SetupError};
use overlay::{ContentHash, View, WorkspacePath};

pub(crate) struct Selected<L> {
    linter: L,
    selection: Selection,
    identity: Identity,
}

impl<L: Linter> Selected<L> {
    pub(crate) fn new(linter: L, selection: Selection) -> Self {
        let mut identity = linter.identity().clone();
        identity.digest = ContentHash::of(format!("{} {selection:?}", identity.digest).as_bytes());
        Self { linter, selection, identity }
    }

    fn tells(&self, code: &str) -> bool {
        let Selection { select, ignore } = &self.selection;
        let is_one = |selectors: &[String]| selectors.iter().any(|it| it == "ALL" || it == code);
        select.as_deref().is_none_or(is_one) && !is_one(ignore)
    }
}

impl<L: Linter> Linter for Selected<L> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        self.linter.interest()
    }

    fn rules(&self, view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError> {
        self.linter.rules(view)
    }

    fn enabled_rules(
        &self,
        view: &Arc<dyn View>,
        path: &WorkspacePath,
    ) -> Result<Option<Vec<EnabledRule>>, SetupError> {
        self.linter.enabled_rules(view, path)
    }

    fn masking(&self) -> Masking {
        let Selection { select, ignore } = &self.selection;
        let is_everything = select.is_none() && ignore.is_empty();
        if is_everything { self.linter.masking() } else { Masking::Unknown }
    }

    fn profile(&self) -> lint::Profile {
        self.linter.profile()
    }

    fn context(&self, view: &Arc<dyn View>) -> Option<ContentHash> {
        self.linter.context(view)
    }

    fn dependents(&self, view: &Arc<dyn View>, changed: &[WorkspacePath]) -> Vec<WorkspacePath> {
        self.linter.dependents(view, changed)
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        self.linter.check(job, &mut |index, mut outcome| {
            if !matches!(outcome.completeness, Completeness::Failed(_)) {
                outcome.diagnostics.retain(|it| self.tells(&it.code));
            }
            answer(index, outcome);
        });
    }
}
