//! What the layers come to for one file.

use std::{collections::BTreeMap, sync::Arc};

use lint::{RulePattern, Severity, suppress};
use overlay::WorkspacePath;

use super::{
    load::Layer,
    model::{RuleKey, RuleLevel, RuleName, Selected},
    selectors::DEFAULT,
};

/// What holds for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    pub choice: Choice,
    pub severities: Severities,
    pub suppressions: suppress::Options,
}

/// What linters are asked for. Files with the same choice can be checked together.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// Selectors, as those of `--select`. The first is [`DEFAULT`] if the others are added to each linter's default; `None` is the
    /// default alone.
    pub select: Option<Vec<String>>,
    /// As `--ignore` has it.
    pub ignore: Vec<String>,
}

/// Configured severities of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Severities {
    /// The first with a match counts, and in it the closest match.
    tables: Vec<BTreeMap<RulePattern, RuleLevel>>,
}

impl Effective {
    /// `path` is the file whose overrides hold; `None` if none do.
    pub(super) fn of(layers: &[Arc<Layer>], path: Option<&WorkspacePath>) -> Self {
        let nearest = || layers.iter().rev().map(|it| &it.settings);
        let mut effective = Self {
            choice: Choice::of(layers),
            severities: Severities::default(),
            suppressions: suppress::Options {
                report_unused: nearest()
                    .find_map(|it| it.suppressions.report_unused)
                    .map_or(Some(Severity::Warning), RuleLevel::severity),
                require_reason: nearest().find_map(|it| it.suppressions.require_reason).unwrap_or(false),
            },
        };
        if let Some(path) = path {
            layers.iter().for_each(|it| effective.override_with(it, path));
        }
        effective.severities.tables.reverse();
        let mut merged = BTreeMap::new();
        layers.iter().for_each(|it| merged.extend(table(&it.settings.severity)));
        effective.severities.tables.push(merged);
        effective
    }

    fn override_with(&mut self, layer: &Layer, path: &WorkspacePath) {
        for it in layer.overrides_for(path).map(|index| &layer.settings.overrides[index]) {
            let select = it.select.as_ref().map(selected);
            self.choice.select = select.or(self.choice.select.take());
            self.choice = std::mem::take(&mut self.choice).extended(&names(&it.extend_select));
            self.choice.ignore.extend(names(&it.ignore));
            self.severities.tables.push(table(&it.severity).collect());
        }
    }
}

impl Choice {
    /// What configuration files choose, the farthest first. What is extended or ignored farther away than something is selected was
    /// replaced by that, and what is ignored farther away than it is extended is on again.
    fn of(layers: &[Arc<Layer>]) -> Self {
        let nearest = || layers.iter().rev().map(|it| &it.settings);
        let selecting = nearest().position(|it| it.select.is_some()).map_or(usize::MAX, |it| it + 1);
        let nearest = || nearest().take(selecting);
        let select = nearest().find_map(|it| it.select.as_ref()).map(selected);
        let extended = nearest().find_map(|it| it.extend_select.as_deref()).map(names).unwrap_or_default();
        let ignore = nearest().find_map(|it| it.ignore.as_deref()).map(names).unwrap_or_default();
        let extending = nearest().position(|it| it.extend_select.is_some());
        let is_nearer = nearest().position(|it| it.ignore.is_some()) > extending;
        let is_on = |it: &String| is_nearer && extended.contains(it);
        let ignore = ignore.into_iter().filter(|it| !is_on(it)).collect();
        Self { ignore, ..Self { select, ignore: Vec::new() }.extended(&extended) }
    }

    /// With more rules. They are no longer ignored.
    #[must_use]
    pub fn extended(mut self, rules: &[String]) -> Self {
        if !rules.is_empty() {
            self.select.get_or_insert_with(|| vec![DEFAULT.to_owned()]).extend_from_slice(rules);
            self.ignore.retain(|it| !rules.contains(it));
        }
        self
    }

    /// This choice of a configuration's where `requested` was asked for, of which a `select` takes its place unless it has
    /// [`DEFAULT`] in it.
    #[must_use]
    pub fn with(self, requested: &Self) -> Self {
        let mut choice = match &requested.select {
            None => self,
            Some(rules) if requested.is_extension() => {
                let more: Vec<_> = rules.iter().filter(|it| *it != DEFAULT).cloned().collect();
                self.extended(&more)
            }
            Some(rules) => Self { select: Some(rules.clone()), ignore: Vec::new() },
        };
        choice.ignore.extend_from_slice(&requested.ignore);
        choice
    }

    /// Whether what is selected is added to what is checked otherwise.
    pub fn is_extension(&self) -> bool {
        self.select.iter().flatten().any(|it| it == DEFAULT)
    }

    /// Whether every rule that is checked otherwise is checked.
    pub fn has_default(&self) -> bool {
        (self.select.is_none() || self.is_extension()) && self.ignore.is_empty()
    }
}

impl Severities {
    /// What is said of a rule, by its linter, code and name; `None` if nothing is.
    pub fn level(&self, linter: &str, code: &str, name: Option<&str>) -> Option<RuleLevel> {
        self.tables.iter().find_map(|table| {
            let matching = table.iter().filter(|(rule, _)| rule.matches(linter, code, name));
            matching.max_by_key(|(rule, _)| rule.specificity()).map(|(_, level)| *level)
        })
    }
}

fn table(severity: &BTreeMap<RuleKey, RuleLevel>) -> impl Iterator<Item = (RulePattern, RuleLevel)> {
    severity.iter().map(|(rule, level)| (rule.0.clone(), *level))
}

fn selected(it: &Selected) -> Vec<String> {
    names(&it.0)
}

fn names(names: &[RuleName]) -> Vec<String> {
    names.iter().map(|it| it.0.clone()).collect()
}
