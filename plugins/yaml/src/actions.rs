//! Workflows and actions of GitHub: what their schema cannot say.
//!
//! Only what GitHub refuses or what cannot mean anything is told. Left out: types of values, inputs and outputs of other
//! actions, and most of shell scripts.

mod commands;
mod contexts;
mod events;
mod expressions;
mod jobs;
mod matrix;
mod untrusted;
mod uses;

use broker_plugin_sdk::Diagnostic;

use crate::tree::{Document, Id};

pub(crate) fn check(path: &str, text: &str, document: &Document<'_>, found: &mut Vec<Diagnostic>) {
    let Some(root) = document.root() else { return };
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_workflow = folder == ".github/workflows" || folder.ends_with("/.github/workflows");
    let is_action = matches!(name, "action.yml" | "action.yaml");
    if is_workflow {
        workflow(text, document, root, found);
    } else if is_action && let Some(runs) = document.get(root, "runs") {
        steps(text, document, runs, found);
        let scope = contexts::Scope::of_action(document, runs);
        expressions::check(text, document, runs, &scope, found);
    }
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

/// What holds for the steps of a job or of an action.
fn steps(text: &str, document: &Document<'_>, of: Id, found: &mut Vec<Diagnostic>) {
    let steps = jobs::steps(document, of);
    jobs::step_ids(document, &steps, found);
    for step in steps {
        if let Some(used) = document.get(step, "uses") {
            uses::action(document, used, found);
        }
        commands::check(text, document, step, found);
        untrusted::check(text, document, step, found);
    }
}
