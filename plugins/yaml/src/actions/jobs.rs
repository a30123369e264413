//! Dependencies between jobs, and ids of steps.

use std::collections::{BTreeMap, BTreeSet};

use broker_plugin_sdk::{Diagnostic, Related};

use crate::rules;
use crate::tree::{Document, Id};

/// `needs` that name no job, and jobs that wait for themselves.
pub(crate) fn check(document: &Document<'_>, jobs: Id, found: &mut Vec<Diagnostic>) {
    let names: BTreeMap<String, Id> =
        document.entries(jobs).iter().filter_map(|it| Some((name(document, it.0)?, it.1))).collect();
    for (key, job) in document.entries(jobs) {
        for need in needs(document, *job) {
            let Some(needed) = name(document, need) else { continue };
            let range = document.node(document.resolved(need)).range.clone();
            if needed.contains("${{") {
                continue;
            }
            if !names.contains_key(&needed) {
                found.push(Diagnostic::error(rules::NEEDS, format!("there is no job `{needed}`"), range));
            } else if name(document, *key).is_some_and(|it| leads_to(document, &names, &needed, &it)) {
                let message = format!("`{needed}` waits for this job, which would wait for it");
                found.push(Diagnostic::error(rules::NEEDS, message, range));
            }
        }
    }
}

/// The values of `needs`, which is one name or a list of them.
pub(crate) fn needs(document: &Document<'_>, job: Id) -> Vec<Id> {
    let Some(needs) = document.get(job, "needs") else { return Vec::new() };
    match document.items(needs) {
        [] if document.text(needs).is_some() => vec![needs],
        items => items.to_vec(),
    }
}

/// Names of jobs and steps are the same in small letters and large.
pub(crate) fn name(document: &Document<'_>, id: Id) -> Option<String> {
    document.text(id).map(str::to_ascii_lowercase)
}

/// Whether the job `from` waits for `to`, directly or through others.
fn leads_to(document: &Document<'_>, jobs: &BTreeMap<String, Id>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut left = vec![from.to_owned()];
    while let Some(job) = left.pop() {
        if job == to {
            return true;
        }
        if let Some(id) = jobs.get(&job)
            && seen.insert(job)
        {
            left.extend(needs(document, *id).into_iter().filter_map(|it| name(document, it)));
        }
    }
    false
}

/// Two steps of one `id`.
pub(crate) fn step_ids(document: &Document<'_>, steps: &[Id], found: &mut Vec<Diagnostic>) {
    let mut first = BTreeMap::new();
    for step in steps {
        let Some(id) = document.get(*step, "id") else { continue };
        let Some(name) = name(document, id) else { continue };
        let range = document.node(document.resolved(id)).range.clone();
        let known = first.entry(name.clone()).or_insert_with(|| range.clone());
        if *known != range {
            let related =
                Related { path: None, span: known.clone().into(), message: "first here".to_owned() };
            let duplicate =
                Diagnostic::error(rules::STEP_ID, format!("another step has the id `{name}`"), range);
            found.push(Diagnostic { related: vec![related], ..duplicate });
        }
    }
}
