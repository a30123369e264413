//! `--since` and `--changed` of a branch: what git says of the disk, and what the branch changed over it.

use std::collections::BTreeSet;

use broker_proto::v1::{self as pb, ChangeKind, diff_branch_response::Part};
use overlay::WorkspacePath;

use crate::{CliError, client::Opened, git::Changed};

/// The files that the branch has and that changed, on the disk or in the branch; those that are gone as well if
/// that is wanted.
pub(super) fn paths(
    open: &Opened,
    branch: &str,
    on_disk: Changed,
    and_gone: bool,
) -> Result<BTreeSet<WorkspacePath>, CliError> {
    let changes = of_branch(open, branch)?;
    let gone = if and_gone { gone(&changes).chain(on_disk.gone).collect() } else { BTreeSet::new() };
    Ok(laid_over(on_disk.paths, &changes).into_iter().chain(gone).collect())
}

/// What the branch changed against the disk.
fn of_branch(open: &Opened, branch: &str) -> Result<Vec<pb::FileChange>, CliError> {
    let request = pb::DiffBranchRequest {
        branch_id: branch.to_owned(),
        against: pb::DiffAgainst::Base.into(),
        changes_only: true,
        ..pb::DiffBranchRequest::default()
    };
    let mut parts = open.client.call(open.client.branches().diff_branch(request))?;
    let mut changes = Vec::new();
    while let Some(part) = open.client.next(&mut parts)? {
        if let Some(Part::Changes(some)) = part.part {
            changes.extend(some.changes);
        }
    }
    Ok(changes)
}

fn laid_over(mut paths: BTreeSet<WorkspacePath>, changes: &[pb::FileChange]) -> BTreeSet<WorkspacePath> {
    let path = |it: &str| WorkspacePath::new(it).ok();
    let is_deleted = |it: &pb::FileChange| it.kind() == ChangeKind::Deleted;
    let gone: BTreeSet<_> = gone(changes).collect();
    paths.retain(|it| !it.ancestors().any(|it| gone.contains(&it)));
    let there: BTreeSet<_> =
        changes.iter().filter(|it| !is_deleted(it)).filter_map(|it| path(&it.path)).collect();
    // A new folder is a change, too; what is in it is listed.
    let folders: BTreeSet<_> = there.iter().flat_map(|it| it.ancestors().skip(1)).collect();
    paths.extend(there.difference(&folders).cloned());
    paths
}

/// What the branch has no more, or not there.
fn gone(changes: &[pb::FileChange]) -> impl Iterator<Item = WorkspacePath> {
    let path = |it: &str| WorkspacePath::new(it).ok();
    changes.iter().filter_map(move |it| match it.kind() {
        ChangeKind::Deleted => path(&it.path),
        ChangeKind::Renamed => path(&it.from_path),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_has_the_last_word() {
        let change = |kind: ChangeKind, path: &str, from: &str| pb::FileChange {
            path: path.to_owned(),
            kind: kind.into(),
            from_path: from.to_owned(),
            is_directory: false,
        };
        let disk = ["a.py", "gone.py", "gone/b.py", "goner.py", "old/c.py"];
        let disk = disk.into_iter().map(|it| WorkspacePath::new(it).unwrap()).collect();
        let changes = [
            change(ChangeKind::Deleted, "gone.py", ""),
            change(ChangeKind::Deleted, "gone", ""),
            change(ChangeKind::Added, "new", ""),
            change(ChangeKind::Added, "new/d.py", ""),
            change(ChangeKind::Renamed, "new/c.py", "old/c.py"),
            change(ChangeKind::Modified, "e.py", ""),
        ];
        let paths = laid_over(disk, &changes);
        let paths: Vec<_> = paths.iter().map(WorkspacePath::as_str).collect();
        assert_eq!(paths, ["a.py", "e.py", "goner.py", "new/c.py", "new/d.py"]);
    }
}
