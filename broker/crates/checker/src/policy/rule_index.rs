//! The rules of the linters by their names, each list made when it is first needed: to ask a plugin takes a while.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use lint::{Rule, RulePattern};

/// Which linter has which rules.
pub struct RuleIndex<'a> {
    rules: Box<RulesOf<'a>>,
    known: Mutex<HashMap<String, Arc<[Rule]>>>,
}

/// The rules of a linter by its name.
type RulesOf<'a> = dyn Fn(&str) -> Vec<Rule> + Send + Sync + 'a;

impl<'a> RuleIndex<'a> {
    /// `rules` gives those of the linter of this name; none if that cannot be said.
    pub fn new(rules: impl Fn(&str) -> Vec<Rule> + Send + Sync + 'a) -> Self {
        Self { rules: Box::new(rules), known: Mutex::default() }
    }

    /// Whether the linter has a rule that is meant.
    pub(super) fn has(&self, linter: &str, meant: &RulePattern) -> bool {
        self.of(linter).iter().any(|it| meant.matches(linter, &it.code, Some(&it.name)))
    }

    fn of(&self, linter: &str) -> Arc<[Rule]> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(linter) {
            return Arc::clone(known);
        }
        let rules: Arc<[Rule]> = (self.rules)(linter).into();
        known().insert(linter.to_owned(), Arc::clone(&rules));
        rules
    }
}
