//! Untrusted texts that an expression puts into a script.
//!
//! Which properties those are is what GitHub's guide on script injection says and what actionlint looks for. A text that
//! is compared, or that goes through `env`, is not told.

use broker_plugin_sdk::{Diagnostic, Severity};
use github_actions_expressions::Expr;

use super::expressions;
use crate::rules;
use crate::tree::{Document, Id, Kind};

/// A `*` stands for an item of a list.
const PROPERTIES: [&str; 20] = [
    "github.event.comment.body",
    "github.event.commits.*.author.email",
    "github.event.commits.*.author.name",
    "github.event.commits.*.message",
    "github.event.discussion.body",
    "github.event.discussion.title",
    "github.event.head_commit.author.email",
    "github.event.head_commit.author.name",
    "github.event.head_commit.message",
    "github.event.issue.body",
    "github.event.issue.title",
    "github.event.pages.*.page_name",
    "github.event.pull_request.body",
    "github.event.pull_request.head.label",
    "github.event.pull_request.head.ref",
    "github.event.pull_request.head.repo.default_branch",
    "github.event.pull_request.title",
    "github.event.review.body",
    "github.event.review_comment.body",
    "github.head_ref",
];

/// The script of a step: what a shell runs, or what `actions/github-script` does.
pub(crate) fn check(text: &str, document: &Document<'_>, step: Id, found: &mut Vec<Diagnostic>) {
    let used = document.get(step, "uses").and_then(|it| document.text(it)).unwrap_or_default();
    let is_script = used.to_ascii_lowercase().starts_with("actions/github-script@");
    let arguments = document.get(step, "with").filter(|_| is_script);
    let script = arguments.and_then(|it| document.get(it, "script"));
    for id in document.get(step, "run").into_iter().chain(script) {
        in_script(text, document, id, found);
    }
}

fn in_script(text: &str, document: &Document<'_>, script: Id, found: &mut Vec<Diagnostic>) {
    let node = document.node(document.resolved(script));
    let Kind::Scalar { text: value, .. } = &node.kind else { return };
    for embedded in expressions::embedded(text, value, node) {
        let Some(Ok(parsed)) = embedded.inner.map(Expr::parse) else { continue };
        for (context, origin) in parsed.dataflow_contexts() {
            let Some(name) = context.as_pattern().filter(|it| is_untrusted(it)) else { continue };
            let message = format!(
                "`{name}` is untrusted text and becomes part of the script: pass it through `env` and use the variable"
            );
            let range = embedded.place(text, origin.raw);
            let it = Diagnostic::new(rules::INJECTION, message, range);
            found.push(Diagnostic { severity: Severity::Warning, ..it });
        }
    }
}

/// Whether a name is one of the properties. `github.event.*.body` is all of its kind, `github[name]` may be anything.
fn is_untrusted(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let is_like = |property: &&str| {
        let wanted: Vec<&str> = property.split('.').collect();
        let is_same = |(it, wanted): (&&str, &&str)| it == wanted || *it == "*";
        parts.len() == wanted.len() && parts.iter().zip(&wanted).all(is_same)
    };
    parts.last() != Some(&"*") && PROPERTIES.iter().any(is_like)
}
