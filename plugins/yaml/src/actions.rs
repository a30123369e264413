//! Workflows and actions of GitHub: what their schema cannot say.
//!
//! Only what GitHub refuses or what cannot mean anything is told. Left out: types of values, inputs and outputs of other
//! actions, and scripts but for what they say to the runner: the plugin for shell scripts looks at those.

mod commands;
mod contexts;
mod events;
mod expressions;
mod jobs;
mod matrix;
mod untrusted;
mod uses;

use broker_plugin_sdk::Diagnostic;
use broker_yaml_tree::github::{self, File};

use crate::tree::{Document, Id};

pub(crate) fn check(path: &str, text: &str, document: &Document<'_>, found: &mut Vec<Diagnostic>) {
    let Some(root) = document.root() else { return };
    match File::of(path) {
        Some(File::Workflow) => workflow(text, document, root, found),
        Some(File::Action) => action(text, document, root, found),
        None => {}
    }
}

fn action(text: &str, document: &Document<'_>, root: Id, found: &mut Vec<Diagnostic>) {
    let Some(runs) = document.get(root, "runs") else { return };
    steps(text, document, runs, found);
    let scope = contexts::Scope::of_action(document, runs);
    expressions::check(text, document, runs, &scope, found);
}

fn workflow(text: &str, document: &Document<'_>, root: Id, found: &mut Vec<Diagnostic>) {
    if let Some(on) = document.get(root, "on") {
        events::check(document, on, found);
    }
    let Some(all) = document.get(root, "jobs") else { return };
    jobs::check(document, all, found);
    for (key, job) in document.entries(all) {
        steps(text, document, *job, found);
        matrix::check(document, *job, found);
        if let Some(called) = document.get(*job, "uses") {
            uses::workflow(document, called, found);
        }
        let scope = contexts::Scope::of_job(document, *job);
        expressions::check(text, document, *key, &scope, found);
        expressions::check(text, document, *job, &scope, found);
    }
    for (key, value) in document.entries(root) {
        if !matches!(document.text(*key), Some("jobs" | "on")) {
            expressions::check(text, document, *value, &contexts::Scope::default(), found);
        }
    }
}

/// Checks the steps of a job or of an action.
fn steps(text: &str, document: &Document<'_>, of: Id, found: &mut Vec<Diagnostic>) {
    let steps = github::steps(document, of);
    jobs::step_ids(document, &steps, found);
    for step in steps {
        if let Some(used) = document.get(step, "uses") {
            uses::action(document, used, found);
        }
        commands::check(text, document, step, found);
        untrusted::check(text, document, step, found);
    }
}
