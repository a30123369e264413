//! A file uses each module that it names in a path, a `use` or a `mod`, wherever a module of that name is, and each
//! file that it names in quotes. What it names at the crate's root that is no module there was brought there, and
//! stands for the root. A macro without a path is used where the crate has one of the name.
//!
//! Left out are modules that only a macro names, and what a file adds to a type of another.

mod cargo;
mod words;

use std::collections::BTreeSet;

use overlay::WorkspacePath;

pub(super) use cargo::Manifest;

use super::{DEFINES, Files, beside, text::is_of_name};
use words::words;

/// A module above, as often as it is above.
const ABOVE: char = '^';

const DEEPEST: usize = 16;

/// Folders in which each file is a crate.
const CRATES: [&str; 4] = ["tests", "examples", "benches", "bin"];

/// Returns the names, each as `name`, as `crate::name` where it is one of the crate's root, as `"file`, or as `macro!`.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut before = ["", ""];
    let mut is_use = false;
    let mut above = 0;
    for word in words(text) {
        is_use = word == "use" || is_use && word != ";";
        let is_name = word.starts_with(is_of_name);
        match (before, word) {
            (_, "super") => {
                above = if before == ["super", "::"] { DEEPEST.min(above + 1) } else { 1 };
                found.insert(ABOVE.to_string().repeat(above));
            }
            (["crate", "::"], _) => _ = found.insert(format!("crate::{word}")),
            // The root under another name.
            ([_, "crate"], "as") => _ = found.insert("crate::as".to_owned()),
            ([_, name], "::") if name.starts_with(is_of_name) => _ = found.insert(name.to_owned()),
            ([name, "!"], "(" | "[" | "{") => _ = found.insert(format!("{name}!")),
            (["macro_rules", "!"], _) => _ = found.insert(format!("{DEFINES}{word}!")),
            _ if is_name && (is_use || matches!(before[1], "mod" | "crate")) => {
                found.insert(word.to_owned());
            }
            _ if is_file(word) => _ = found.insert(word.to_owned()),
            _ => {}
        }
        before = [before[1], word];
    }
    found
}

/// Whether a string may name a file.
fn is_file(word: &str) -> bool {
    word.starts_with('"') && word.len() < 300 && word.contains('.') && !word.contains(char::is_whitespace)
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    if let Some(file) = name.strip_prefix('"') {
        let of_crate = files.own_crate(path).and_then(|it| it.join(file.trim_start_matches('/')).ok());
        return [beside(path, file), of_crate].into_iter().filter_map(|it| files.get(it)).collect();
    }
    match name.strip_prefix("crate::") {
        Some(name) => of_crate(path, name, files),
        None if name.starts_with(ABOVE) => parents(path, name.len(), files),
        None => modules(path, name, files),
    }
}

/// Modules of this name, and the root if none of them is just below it.
fn of_crate(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    let (mut found, roots) = (modules(path, name, files), roots(path, files));
    let directories: BTreeSet<_> = roots.iter().filter_map(WorkspacePath::parent).collect();
    let is_below = |it: &WorkspacePath| place(it).is_some_and(|it| directories.contains(&it));
    if !found.iter().any(is_below) {
        found.extend(roots);
    }
    found
}

/// The directory that a module is in.
fn place(module: &WorkspacePath) -> Option<WorkspacePath> {
    let directory = module.parent()?;
    if module.file_name() == Some("mod.rs") { directory.parent() } else { Some(directory) }
}

/// Modules of this name in the file's own crate, and the crate of this name.
fn modules(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    if !name.chars().all(is_of_name) {
        return Vec::new();
    }
    let ends = [format!("{name}.rs"), format!("{name}/mod.rs")];
    let of_name: Vec<_> = ends.iter().flat_map(|it| files.ending_with(it)).collect();
    let own = if of_name.is_empty() { None } else { files.own_crate(path) };
    let crates = files.manifests.crates.get(name).into_iter().flatten();
    let roots = crates.filter_map(|it| files.get(Some(it.clone())));
    of_name.into_iter().filter(|it| files.own_crate(it) == own).chain(roots).collect()
}

/// Possible root files of a file's crate: those in its package's manifest, and those in the directories around it.
fn roots(path: &WorkspacePath, files: &Files) -> Vec<WorkspacePath> {
    let own = files.own_crate(path);
    let said = own.as_ref().and_then(|it| files.manifests.crate_roots.get(it)).into_iter().flatten().cloned();
    let around: Vec<_> = path
        .ancestors()
        .skip(1)
        .take_while(|it| own.as_ref().is_none_or(|own| it.starts_with(own)))
        .collect();
    let mains = around.iter().flat_map(|it| ["lib.rs", "main.rs"].map(|name| it.child(name)));
    let of_crates = around.iter().skip(1).filter(|it| it.file_name().is_some_and(|it| CRATES.contains(&it)));
    let each = of_crates.flat_map(|it| files.within(it).to_vec());
    said.chain(mains).chain(each).filter_map(|it| files.get(Some(it))).collect()
}

/// Possible files of the modules above, up to so many levels.
fn parents(path: &WorkspacePath, levels: usize, files: &Files) -> Vec<WorkspacePath> {
    let nearest = place(path);
    let directories = nearest.iter().flat_map(WorkspacePath::ancestors).take(levels);
    let roots = roots(path, files);
    let parent = |directory: WorkspacePath| {
        let beside = ["mod.rs", "lib.rs", "main.rs"].map(|it| Some(directory.child(it)));
        let above = directory.parent().and_then(|it| it.join(&format!("{}.rs", directory.file_name()?)).ok());
        let of_crate = roots.iter().filter(|it| it.parent().as_ref() == Some(&directory)).cloned().map(Some);
        beside.into_iter().chain([above]).chain(of_crate).filter_map(|it| files.get(it)).collect::<Vec<_>>()
    };
    directories.flat_map(parent).collect()
}

#[cfg(test)]
mod tests;
