//! All rules of a workspace, read once.

use std::collections::BTreeSet;

use broker_plugin_sdk::Settings;

use crate::{
    layout::{Layout, Role},
    problem::Problem,
    rule_file::{self, Rule},
};

#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) layout: Layout,
    pub(crate) rules: Vec<Rule>,
    pub(crate) problems: Vec<Problem>,
}

impl Workspace {
    pub(crate) fn new(settings: &Settings) -> Self {
        let layout = Layout::new(settings);
        let mut problems = layout.problems().to_vec();
        let mut utilities = Vec::new();
        for path in layout.files(Role::Utilities) {
            problems.extend(read(&layout, &path, |text| rule_file::utilities(&path, text, &mut utilities)));
        }
        let (globals, circles) = rule_file::together(&utilities);
        problems.extend(circles);
        let mut rules = Vec::new();
        for path in layout.files(Role::Rules) {
            problems.extend(read(&layout, &path, |text| rule_file::rules(&path, text, &globals, &mut rules)));
        }
        Self { layout, rules, problems }
    }

    /// Whether the workspace has no rules, no problems and no tests of rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.problems.is_empty() && self.layout.files(Role::Tests).is_empty()
    }

    pub(crate) fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|it| it.id == id)
    }

    /// The files in which something is wrong.
    pub(crate) fn broken(&self) -> BTreeSet<&str> {
        self.problems.iter().map(|it| it.path.as_str()).collect()
    }
}

fn read(layout: &Layout, path: &str, understand: impl FnOnce(&str) -> Vec<Problem>) -> Vec<Problem> {
    match layout.read(path) {
        Ok(text) => understand(&text),
        Err(message) => vec![Problem::new(path, 0..0, message)],
    }
}
