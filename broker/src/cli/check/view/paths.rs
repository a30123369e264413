//! Finds the paths that were given: on the disk, in what git has in its place, or in what that is compared with.

use std::path::{Path, PathBuf};

use check_engine::{Incomplete, Level, Subject};
use config::root::{LocatedPaths, WorkspaceRoot};
use overlay::WorkspacePath;

use super::super::{Args, changed::Chosen};
use crate::CliError;

/// The workspace of the paths that were given.
pub(super) fn found(args: &Args, cwd: &Path, home: Option<&Path>) -> Result<LocatedPaths, CliError> {
    match WorkspaceRoot::of_paths(cwd, &args.paths, home) {
        // A path that is not on the disk may be in git's version of the files.
        Err(error) if args.changed.is_of_git() => nowhere(args, cwd, home).ok_or(error.into()),
        found => Ok(found?),
    }
}

/// The workspace of the current folder, in which none of the paths is on the disk.
fn nowhere(args: &Args, cwd: &Path, home: Option<&Path>) -> Option<LocatedPaths> {
    let found = WorkspaceRoot::of_paths(cwd, &[PathBuf::from(".")], home).ok()?;
    let is_there = |it: &PathBuf| cwd.join(it).symlink_metadata().is_ok();
    if args.paths.iter().any(is_there) {
        return None;
    }
    let missing =
        args.paths.iter().map(|it| (it.display().to_string(), "no such file or directory".to_owned()));
    Some(LocatedPaths { located: Vec::new(), missing: missing.collect(), ..found })
}

/// The paths that are on the disk and in what is looked at, and those that a commit lacks.
pub(super) fn located(
    args: &Args,
    found: &LocatedPaths,
    chosen: &Chosen,
) -> (Vec<WorkspacePath>, Vec<Incomplete>) {
    let located = found.located.iter().map(|it| it.path.clone());
    if !args.changed.is_of_git() {
        return (located.collect(), Vec::new());
    }
    let (paths, others): (Vec<_>, Vec<_>) = located.partition(|it| has(chosen, it));
    let missing = match (&args.changed.rev, &chosen.changed) {
        (Some(rev), None) => {
            let reason = format!("it is not in `{rev}`");
            others.iter().map(|it| absent(found.workspace.display(it), reason.clone())).collect()
        }
        // A path that the index does not have is not staged either.
        _ => Vec::new(),
    };
    (paths, missing)
}

/// The paths that are not on the disk, but in what is looked at, and those that are nowhere.
pub(super) fn elsewhere(
    cwd: &Path,
    home: Option<&Path>,
    found: &LocatedPaths,
    chosen: &Chosen,
) -> (Vec<WorkspacePath>, Vec<Incomplete>) {
    let (mut paths, mut missing) = (Vec::new(), Vec::new());
    for (given, reason) in &found.missing {
        let place = WorkspaceRoot::of_future_path(cwd, Path::new(given), home).ok();
        let place = place.filter(|(it, _)| it.root() == found.workspace.root());
        match place.map(|(_, path)| path).filter(|it| has(chosen, it)) {
            Some(path) => paths.push(path),
            None => missing.push(absent(given.clone(), reason.clone())),
        }
    }
    (paths, missing)
}

/// Whether a path is in the view that is checked, or in the one that it is compared with.
fn has(chosen: &Chosen, path: &WorkspacePath) -> bool {
    let before = chosen.before.iter().map(|it| &it.view);
    before.chain([&chosen.view]).any(|it| it.metadata(path).is_ok())
}

fn absent(path: String, reason: String) -> Incomplete {
    Incomplete { subject: Subject::Argument(path), linter: None, level: Level::Failed, reason }
}
