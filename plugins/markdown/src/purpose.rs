//! Files whose links need not lead anywhere from where they lie: entries of old releases, whose files are gone; templates of
//! issues and pull requests, whose text is shown elsewhere; what tests are given; and copies of other projects' files.

use std::path::Path;

use broker_plugin_sdk::{samples, vendored};

/// Beginnings of the names of files that say what changed, in lower case.
const CHANGES: [&str; 10] = [
    "changelog",
    "changes",
    "history",
    "news",
    "release_notes",
    "releasenotes",
    "releases",
    "change_log",
    "whatsnew",
    "whats_new",
];

/// Folders of which each file says what changed in one release, in lower case.
const FOLDERS_OF_CHANGES: [&str; 5] =
    ["changelog", "changelogs", "release_notes", "releasenotes", "whatsnew"];

/// Names of templates, and of folders with such, in lower case.
const TEMPLATES: [&str; 4] =
    ["pull_request_template", "issue_template", "merge_request_template", "discussion_template"];

/// The rules that say nothing in a file, whose path is from the workspace's root.
pub(crate) fn off(file: &Path) -> &'static [&'static str] {
    if is_of_changes(file) {
        // Subjects of commits begin with such signs as well.
        &["MD051", "MD057", "MD069"]
    } else if samples::is_fixture(file) || vendored::is_in_folder(file) {
        &["MD051", "MD057"]
    } else if is_template(file) {
        &["MD057"]
    } else {
        &[]
    }
}

fn is_of_changes(file: &Path) -> bool {
    let stem = words(file.file_stem().and_then(|it| it.to_str()).unwrap_or_default());
    let ends = |rest: &str| !rest.starts_with(char::is_alphabetic);
    CHANGES.iter().any(|it| stem.strip_prefix(it).is_some_and(ends))
        || folders(file).any(|it| FOLDERS_OF_CHANGES.contains(&it.as_str()))
}

fn is_template(file: &Path) -> bool {
    let stem = words(file.file_stem().and_then(|it| it.to_str()).unwrap_or_default());
    let is_one = |name: &str| TEMPLATES.contains(&name.strip_suffix('s').unwrap_or(name));
    let is_hosts =
        folders(file).any(|it| matches!(it.as_str(), ".github" | ".gitlab" | ".gitea" | ".forgejo"));
    is_one(&stem) || folders(file).any(|it| is_one(&it)) || is_hosts && stem.ends_with("template")
}

fn folders(file: &Path) -> impl Iterator<Item = String> {
    let folders = file.parent().into_iter().flat_map(Path::components);
    folders.filter_map(|it| it.as_os_str().to_str()).map(words)
}

/// A name in small letters, with one sign between its words.
fn words(name: &str) -> String {
    name.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_what_they_are_for() {
        for file in
            ["CHANGELOG.md", "docs/Changes-2.x.md", "NEWS.old.md", "release-notes/v1.md", "HISTORY.md"]
        {
            assert_eq!(off(Path::new(file)), ["MD051", "MD057", "MD069"], "{file}");
        }
        for file in
            [".github/PULL_REQUEST_TEMPLATE.md", "docs/issue-template.md", ".gitlab/issue_templates/a.md"]
        {
            assert_eq!(off(Path::new(file)), ["MD057"], "{file}");
        }
        for file in
            ["spec/fixtures/a.md", "pkg/testdata/b.md", "__fixtures__/c.md", "a/third_party/b/README.md"]
        {
            assert_eq!(off(Path::new(file)), ["MD051", "MD057"], "{file}");
        }
        for file in ["README.md", "newsletter.md", "docs/template.md", "historical.md", "tests/README.md"] {
            assert!(off(Path::new(file)).is_empty(), "{file}");
        }
    }
}
