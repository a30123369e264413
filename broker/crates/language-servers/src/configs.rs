//! Files that configure a server because its configuration names them: what it extends, and modules that it imports.
//!
//! A plain look for their names in the text of the configuration, and in theirs: rather a file too many counts.

use std::collections::BTreeSet;

use overlay::{View, WalkOptions, WorkspacePath, walk};

use crate::Profile;

/// Files of the view and of `more` that the configuration names, directly or through others.
pub(crate) fn named<'m>(
    profile: &Profile,
    view: &dyn View,
    more: impl IntoIterator<Item = &'m WorkspacePath>,
) -> BTreeSet<WorkspacePath> {
    let options = WalkOptions { respect_ignore_files: false, ..WalkOptions::default() };
    let all = walk(view, &[WorkspacePath::root()], &options).chain(more.into_iter().cloned());
    named_among(profile, view, &all.collect::<Vec<_>>())
}

/// Whether the server's configuration contains a word by which files may depend on each other.
pub(crate) fn connect(profile: &Profile, view: &dyn View) -> bool {
    if profile.refers_if.is_empty() {
        return true;
    }
    let options = WalkOptions { respect_ignore_files: false, ..WalkOptions::default() };
    let all: Vec<_> = walk(view, &[WorkspacePath::root()], &options).collect();
    let named = named_among(profile, view, &all);
    let says = |path: &WorkspacePath| {
        let text = view.open(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        profile.refers_if.iter().any(|it| text.contains(it))
    };
    all.iter().filter(|it| profile.is_config_of_all(it)).chain(&named).any(says)
}

/// Name of a file that lists sources, and no configuration of a server.
const PACKAGE: &str = "package.json";

/// Files of `paths` that the configuration names; `paths` contain all files of the view.
pub(crate) fn named_among(
    profile: &Profile,
    view: &dyn View,
    paths: &[WorkspacePath],
) -> BTreeSet<WorkspacePath> {
    let (mut todo, mut unnamed) = (Vec::new(), Vec::new());
    for path in paths {
        if profile.is_config_of_all(path) && path.file_name() != Some(PACKAGE) {
            todo.push(path);
        } else if profile.is_config_if_named(path) {
            unnamed.push(path);
        }
    }
    let mut named = BTreeSet::new();
    if unnamed.is_empty() {
        return named;
    }
    while let Some(path) = todo.pop() {
        let text = view.open(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let new: Vec<_> = unnamed.extract_if(.., |it| is_named_in(it, &text)).collect();
        named.extend(new.iter().copied().cloned());
        todo.extend(new);
    }
    named
}

/// Whether the text contains the file's name, or a path that ends with that name without its extension, as of modules.
pub(crate) fn is_named_in(path: &WorkspacePath, text: &str) -> bool {
    let name = path.file_name().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    let ends = |it: &str| it.starts_with(['"', '\'', '`']);
    let is_module = |at: usize| text[..at].ends_with('/') && ends(&text[at + stem.len()..]);
    text.contains(name) || text.match_indices(stem).any(|(at, _)| is_module(at))
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn what_configuration_names_counts_through_others() {
        let files = [
            ("pyrightconfig.json", "{ \"extends\": \"./conf/base.json\" }"),
            ("conf/base.json", "{ \"extends\": \"./more\" }"),
            ("conf/more.json", "{}"),
            ("data.json", "{ \"extends\": \"other.json\" }"),
            ("other.json", "{}"),
        ];
        let view = Memory::from_files(files).unwrap();
        let found = |name| named(Profile::named(name).unwrap(), &view, []);
        let paths: Vec<_> = found("pyright").into_iter().map(|it| it.to_string()).collect();
        assert_eq!(paths, ["conf/base.json", "conf/more.json"]);
        assert!(found("ty").is_empty());
    }

    #[test]
    fn a_word_is_no_name() {
        let is_named = |text| is_named_in(&WorkspacePath::new("conf/error.js").unwrap(), text);
        assert!(is_named("import './error.js'") && is_named("import e from './conf/error'"));
        assert!(!is_named("rules: { 'no-undef': 'error' }"));
    }
}
