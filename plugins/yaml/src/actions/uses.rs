//! Checks of `uses`: the form of the name of an action or workflow, not its existence.

use broker_plugin_sdk::Diagnostic;

use crate::rules;
use crate::tree::{Document, Id};

/// Begins of what is in the same repository: below the workspace, or (`$/`) in the commit of the file that names it.
const HERE: [&str; 2] = ["./", "$/"];

fn is_here(used: &str) -> bool {
    HERE.iter().any(|it| used.starts_with(it))
}

/// `owner/repository@ref`, `owner/repository/folder@ref`, `./folder`, `$/folder`, or `docker://image`.
pub(crate) fn action(document: &Document<'_>, id: Id, found: &mut Vec<Diagnostic>) {
    check(document, id, found, |used| {
        if is_here(used) || used.starts_with("docker://") && used.len() > "docker://".len() {
            return None;
        }
        remote(used, 2)
    });
}

/// `owner/repository/.github/workflows/file.yml@ref`, or `./.github/workflows/file.yml`.
pub(crate) fn workflow(document: &Document<'_>, id: Id, found: &mut Vec<Diagnostic>) {
    check(document, id, found, |used| {
        let file = used.split('@').next().unwrap_or(used);
        if !file.ends_with(".yml") && !file.ends_with(".yaml") {
            return Some(
                "a workflow to call is a file: `owner/repository/.github/workflows/file.yml@ref`".to_owned(),
            );
        }
        if is_here(used) {
            return used.contains('@').then(|| "a workflow of the same repository has no `@ref`".to_owned());
        }
        remote(used, 5)
    });
}

fn check(
    document: &Document<'_>,
    id: Id,
    found: &mut Vec<Diagnostic>,
    problem: impl Fn(&str) -> Option<String>,
) {
    let Some(used) = document.text(id) else { return };
    if used.contains("${{") {
        return; // not allowed, but the schema of another version may know better
    }
    if let Some(message) = problem(used) {
        found.push(Diagnostic::error(
            rules::USES,
            message,
            document.node(document.resolved(id)).range.clone(),
        ));
    }
}

/// Returns the error in a name in another repository that should have `parts` parts, or more.
fn remote(used: &str, parts: usize) -> Option<String> {
    let Some((name, version)) = used.split_once('@') else {
        return Some(format!("`{used}` says no version: `@` and a tag, branch or commit are missing"));
    };
    if version.is_empty() {
        return Some(format!("`{used}` says no version after the `@`"));
    }
    let is_whole = name.split('/').count() >= parts && name.split('/').take(2).all(|it| !it.is_empty());
    (!is_whole).then(|| format!("`{used}` is not of the form `owner/repository@ref`"))
}
