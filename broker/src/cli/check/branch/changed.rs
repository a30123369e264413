//! `--since` and `--changed` of a branch: what git says of the disk, and what the branch changed over it.

use std::collections::BTreeSet;

use overlay::{ChangeKind, WorkspacePath};
use workspaces::{DiffRequest, DiffSide, FileChange};

use crate::{CliError, client::Opened, git::Changed};

/// The files that the branch has and that changed, on the disk or in the branch; those that are gone as well if
/// that is wanted.
pub(in crate::cli::check) fn paths(
    open: &Opened,
    branch: &str,
    on_disk: Changed,
    and_gone: bool,
) -> Result<BTreeSet<WorkspacePath>, CliError> {
    let changes = of_branch(open, branch)?;
    let gone = if and_gone { gone(&changes).chain(on_disk.gone).collect() } else { BTreeSet::new() };
    Ok(laid_over(on_disk.paths, &changes).into_iter().chain(gone).collect())
}

/// Returns the changes of the branch against the disk.
fn of_branch(open: &Opened, branch: &str) -> Result<Vec<FileChange>, CliError> {
    let against = DiffSide::Base;
    let request = DiffRequest { against, with_patch: false, ..DiffRequest::of(branch) };
    Ok(open.client.wait(open.client.daemon().diff_branch(request))?.changes)
}

fn laid_over(mut paths: BTreeSet<WorkspacePath>, changes: &[FileChange]) -> BTreeSet<WorkspacePath> {
    let gone: BTreeSet<_> = gone(changes).collect();
    paths.retain(|it| !it.ancestors().any(|it| gone.contains(&it)));
    let there = changes.iter().filter(|it| it.kind != ChangeKind::Deleted);
    let there: BTreeSet<_> = there.map(|it| it.path.clone()).collect();
    // A new folder is a change, too; what is in it is listed.
    let folders: BTreeSet<_> = there.iter().flat_map(|it| it.ancestors().skip(1)).collect();
    paths.extend(there.difference(&folders).cloned());
    paths
}

/// Returns the paths that the branch deleted, or moved elsewhere.
fn gone(changes: &[FileChange]) -> impl Iterator<Item = WorkspacePath> {
    changes.iter().filter_map(|it| match &it.kind {
        ChangeKind::Deleted => Some(it.path.clone()),
        ChangeKind::Renamed { from } => Some(from.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_has_the_last_word() {
        let path = |it: &str| WorkspacePath::new(it).unwrap();
        let change = |kind, it: &str| FileChange { path: path(it), kind, is_directory: false };
        let disk = ["a.py", "gone.py", "gone/b.py", "goner.py", "old/c.py"];
        let disk = disk.into_iter().map(|it| WorkspacePath::new(it).unwrap()).collect();
        let changes = [
            change(ChangeKind::Deleted, "gone.py"),
            change(ChangeKind::Deleted, "gone"),
            change(ChangeKind::Added, "new"),
            change(ChangeKind::Added, "new/d.py"),
            change(ChangeKind::Renamed { from: path("old/c.py") }, "new/c.py"),
            change(ChangeKind::Modified, "e.py"),
        ];
        let paths = laid_over(disk, &changes);
        let paths: Vec<_> = paths.iter().map(WorkspacePath::as_str).collect();
        assert_eq!(paths, ["a.py", "e.py", "goner.py", "new/c.py", "new/d.py"]);
    }
}
