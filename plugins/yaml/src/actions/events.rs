//! The filters of the events that start a workflow.
//!
//! GitHub takes a filter of another event without a word, and starts the workflow as if it were not there. Which filters
//! and activities an event has is what the grammar of GitHub's own language server says.

use broker_plugin_sdk::{Diagnostic, Severity};
use broker_schemas::did_you_mean;

use crate::rules;
use crate::tree::{Document, Id};

const FILTERS: [&str; 8] =
    ["branches", "branches-ignore", "paths", "paths-ignore", "tags", "tags-ignore", "types", "workflows"];

const CREATED_EDITED_DELETED: &[&str] = &["created", "edited", "deleted"];

const PULL_REQUEST: &[&str] = &[
    "assigned",
    "unassigned",
    "labeled",
    "unlabeled",
    "opened",
    "edited",
    "closed",
    "reopened",
    "synchronize",
    "converted_to_draft",
    "locked",
    "unlocked",
    "enqueued",
    "dequeued",
    "milestoned",
    "demilestoned",
    "ready_for_review",
    "review_requested",
    "review_request_removed",
    "auto_merge_enabled",
    "auto_merge_disabled",
    "stacked",
];

pub(crate) fn check(document: &Document<'_>, on: Id, found: &mut Vec<Diagnostic>) {
    for (event, filters) in document.entries(on) {
        let Some(event) = document.text(*event) else { continue };
        let Some(known) = filters_of(event) else { continue };
        for (key, value) in document.entries(*filters) {
            match document.text(*key) {
                Some(filter) if FILTERS.contains(&filter) && !known.contains(&filter) => {
                    found.push(warning(document, *key, format!("`{event}` has no filter `{filter}`")));
                }
                Some("types") => types(document, event, *value, found),
                _ => {}
            }
        }
    }
}

/// Activities that an event does not have.
fn types(document: &Document<'_>, event: &str, value: Id, found: &mut Vec<Diagnostic>) {
    let Some(known) = activities(event) else { return };
    let single = document.text(value).map(|_| value);
    for id in document.items(value).iter().copied().chain(single) {
        let Some(given) = document.text(id).filter(|it| !it.is_empty() && !it.contains("${{")) else {
            continue;
        };
        if !known.contains(&given) {
            let known: Vec<String> = known.iter().map(|it| (*it).to_owned()).collect();
            let hint = did_you_mean(given, &known);
            found.push(warning(document, id, format!("`{event}` has no activity `{given}`{hint}")));
        }
    }
}

fn warning(document: &Document<'_>, id: Id, message: String) -> Diagnostic {
    let range = document.node(document.resolved(id)).range.clone();
    Diagnostic { severity: Severity::Warning, ..Diagnostic::new(rules::FILTER, message, range) }
}

/// Returns the [`FILTERS`] that an event has; `None` if the schema lists the event's keys, or the event is unknown.
fn filters_of(event: &str) -> Option<&'static [&'static str]> {
    Some(match event {
        "pull_request" | "pull_request_target" => {
            &["types", "branches", "branches-ignore", "paths", "paths-ignore", "workflows"]
        }
        "merge_group" => &["types", "branches", "branches-ignore"],
        "workflow_run" => &["types", "workflows", "branches", "branches-ignore"],
        "repository_dispatch" => &["types"],
        "create" | "delete" | "deployment" | "deployment_status" | "fork" | "gollum" | "page_build"
        | "public" | "status" | "workflow_dispatch" => &[],
        _ => activities(event).map(|_| &["types"][..])?,
    })
}

/// Returns the values that `types` may have; `None` where it may have any.
fn activities(event: &str) -> Option<&'static [&'static str]> {
    Some(match event {
        "branch_protection_rule" | "discussion_comment" | "issue_comment" | "label" => CREATED_EDITED_DELETED,
        "pull_request_comment" | "pull_request_review_comment" => CREATED_EDITED_DELETED,
        "check_run" => &["created", "rerequested", "completed", "requested_action"],
        "check_suite" => &["completed", "requested", "rerequested"],
        "discussion" => &[
            "created",
            "edited",
            "deleted",
            "transferred",
            "pinned",
            "unpinned",
            "labeled",
            "unlabeled",
            "locked",
            "unlocked",
            "category_changed",
            "answered",
            "unanswered",
        ],
        "issues" => &[
            "opened",
            "edited",
            "deleted",
            "transferred",
            "pinned",
            "unpinned",
            "closed",
            "reopened",
            "assigned",
            "unassigned",
            "labeled",
            "unlabeled",
            "locked",
            "unlocked",
            "milestoned",
            "demilestoned",
            "field_added",
            "field_removed",
            "typed",
            "untyped",
        ],
        "merge_group" => &["checks_requested"],
        "milestone" => &["created", "closed", "opened", "edited", "deleted"],
        "pull_request" | "pull_request_target" => PULL_REQUEST,
        "pull_request_review" => &["submitted", "edited", "dismissed"],
        "registry_package" => &["published", "updated"],
        "release" => &["published", "unpublished", "created", "edited", "deleted", "prereleased", "released"],
        "watch" => &["started"],
        "workflow_run" => &["requested", "completed", "in_progress"],
        _ => return None,
    })
}
