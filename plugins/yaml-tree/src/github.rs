//! Workflows and actions of GitHub: which files they are, and where their steps and expressions are.

use std::collections::BTreeSet;

use crate::tree::{Document, Id};

/// Kind of a file for GitHub, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    Workflow,
    Action,
}

impl File {
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if folder == ".github/workflows" || folder.ends_with("/.github/workflows") {
            let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
            return is_yaml.then_some(Self::Workflow);
        }
        matches!(name, "action.yml" | "action.yaml").then_some(Self::Action)
    }
}

/// The steps of a job or of an action in the order of the text, with those that run side by side in a `parallel` step.
#[must_use]
pub fn steps(document: &Document<'_>, of: Id) -> Vec<Id> {
    let items = |of: Id, key: &str| document.get(of, key).map(|it| document.items(it)).unwrap_or_default();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut left: Vec<Id> = items(of, "steps").iter().rev().copied().collect();
    while let Some(step) = left.pop() {
        // An alias may lead back to where it stands.
        if seen.insert(document.resolved(step)) {
            found.push(step);
            left.extend(items(step, "parallel").iter().rev());
        }
    }
    found
}

/// Returns the end of the expression that a text begins with, after its `${{`. A `}}` in a string of the expression does not end
/// it.
#[must_use]
pub fn expression_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    for (at, it) in text.char_indices() {
        match it {
            '\'' => quoted = !quoted,
            '}' if !quoted && text[at..].starts_with("}}") => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_their_paths() {
        for path in [".github/workflows/ci.yml", "sub/.github/workflows/a.yaml"] {
            assert_eq!(File::of(path), Some(File::Workflow), "{path}");
        }
        for path in ["action.yml", ".github/actions/x/action.yaml"] {
            assert_eq!(File::of(path), Some(File::Action), "{path}");
        }
        for path in [".github/dependabot.yml", "workflows/ci.yml", "x.github/workflows", "my-action.yml"] {
            assert_eq!(File::of(path), None, "{path}");
        }
    }

    #[test]
    fn ends_of_expressions() {
        assert_eq!(expression_end(" a }} b }}"), Some(3));
        assert_eq!(expression_end(" '}}' }}"), Some(6));
        assert_eq!(expression_end(" a }"), None);
    }
}
