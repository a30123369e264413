//! Which files are to be checked.

use std::collections::BTreeSet;

use lint::Unit;
use overlay::{FileKind, Skipped, View, WalkOptions, WorkspacePath, walk};

/// The files to check, sorted by path, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    pub units: Vec<Unit>,
    pub skipped: Skipped,
}

/// The files at and below `paths`. Those in `explicit` were named by the user, the others are found.
pub fn collect(
    view: &dyn View,
    paths: &[WorkspacePath],
    explicit: &BTreeSet<WorkspacePath>,
    options: &WalkOptions,
) -> Files {
    if explicit.len() == paths.len() && explicit.iter().all(|it| is_file(view, it)) {
        return Files::of_explicit(explicit.iter().cloned());
    }
    let mut walk = walk(view, paths, options);
    let unit = |path: WorkspacePath| Unit { explicit: explicit.contains(&path), path };
    let units = walk.by_ref().map(unit).collect();
    Files { units, skipped: walk.into_skipped() }
}

/// Whether there is nothing to be found out by a walk, which lists the directories on the way.
fn is_file(view: &dyn View, path: &WorkspacePath) -> bool {
    view.metadata(path).is_ok_and(|it| it.kind == FileKind::File)
}

impl Files {
    /// Files that the user named, sorted.
    pub fn of_explicit(paths: impl IntoIterator<Item = WorkspacePath>) -> Self {
        let units = paths.into_iter().map(|path| Unit { path, explicit: true }).collect();
        Self { units, skipped: Skipped::default() }
    }
}
