//! Operations on the disk that commit a branch.

use std::{collections::BTreeSet, io};

use super::{
    Branch, Change, ChangeKind, FileState, Origin, Snapshot, State, history::KeptPermissions,
    origin::Origins, tree::Tree,
};
use crate::{Expected, FileOp, Permissions, View as _, WorkspacePath, version_control};

/// The changes of a branch, and the same as operations on the workspace folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPlan {
    pub ops: Vec<FileOp>,
    pub changes: Vec<Change>,
    /// Files of the commit of which editors have other, unsaved texts. These stay as they are, over the text that the
    /// commit writes.
    pub unsaved: Vec<WorkspacePath>,
    /// Files that are changed as well, and are none of `changes` and `ops`. Sorted.
    pub left: Vec<WorkspacePath>,
}

/// Error of a branch that cannot be committed as it is.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("{}", version_control::refusal(.0))]
    VersionControl(WorkspacePath),
    #[error("the workspace cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl Branch {
    /// Returns the operations that make the disk look like this branch. Each operation expects the base's state from
    /// when the branch first touched the path, so that any later change is a conflict; but for the paths in `force`.
    ///
    /// Unsaved texts of editors do not count: they are neither written nor expected.
    pub fn plan_commit(&self, force: &BTreeSet<WorkspacePath>) -> Result<CommitPlan, PlanError> {
        self.plan_commit_but(|_| false, force)
    }

    /// The same, but for files with an unsaved text that `is_left` says are left to their editor.
    pub fn plan_commit_but(
        &self,
        is_left: impl Fn(&WorkspacePath) -> bool,
        force: &BTreeSet<WorkspacePath>,
    ) -> Result<CommitPlan, PlanError> {
        let shown = self.snapshot().base_of();
        let snapshot = self.snapshot().saved();
        let all = snapshot.changes(&snapshot.base_of())?;
        let has_unsaved = shown.tree().base.saved().is_some();
        let is_left = |it: &Change| {
            has_unsaved && is_text(it) && is_open(&shown, &snapshot, &it.path) && is_left(&it.path)
        };
        let (left, changes): (Vec<_>, Vec<_>) = all.into_iter().partition(is_left);
        let left = left.into_iter().map(|it| it.path).collect();
        let from = |it: &Change| match &it.kind {
            ChangeKind::Renamed { from } => Some(from.clone()),
            _ => None,
        };
        let mut touched = changes.iter().flat_map(|it| [Some(it.path.clone()), from(it)]).flatten();
        // Edits are refused there; what was merged in from elsewhere is found here.
        if let Some(path) = touched.find(version_control::is_inside) {
            return Err(PlanError::VersionControl(path));
        }
        let State { tree, origins, permissions, .. } = snapshot.state();
        let planner = Planner { tree, origins, permissions, force };
        let mut ops = Vec::new();
        for change in &changes {
            if let ChangeKind::Renamed { from } = &change.kind {
                ops.extend(planner.removal(from, change.before.as_ref()));
            }
            match &change.after {
                None => ops.extend(planner.removal(&change.path, change.before.as_ref())),
                Some(after) => ops.extend(planner.arrival(change, after, |path| snapshot.read(path))?),
            }
        }
        let unsaved = (changes.iter().filter(|it| has_unsaved && is_unsaved(&shown, &snapshot, &it.path)))
            .map(|it| it.path.clone());
        let unsaved = unsaved.collect();
        Ok(CommitPlan { ops, changes, unsaved, left })
    }
}

/// Whether the change is one of a file's text only.
fn is_text(it: &Change) -> bool {
    let is_file = |it: &FileState| matches!(it, FileState::File { .. });
    matches!(it.kind, ChangeKind::Added | ChangeKind::Modified) && it.after.as_ref().is_some_and(is_file)
}

/// Whether an editor has a text of `path` that differs from the one on the disk.
fn is_open(shown: &Snapshot, snapshot: &Snapshot, path: &WorkspacePath) -> bool {
    let buffer = shown.hash(path).ok();
    buffer.is_some() && buffer != snapshot.base_of().hash(path).ok()
}

/// Whether an editor has a text of `path` that differs from the disk's and from the branch's.
fn is_unsaved(shown: &Snapshot, snapshot: &Snapshot, path: &WorkspacePath) -> bool {
    is_open(shown, snapshot, path) && shown.hash(path).ok() != snapshot.hash(path).ok()
}

struct Planner<'a> {
    tree: &'a Tree,
    origins: &'a Origins,
    permissions: &'a KeptPermissions,
    force: &'a BTreeSet<WorkspacePath>,
}

impl Planner<'_> {
    /// Returns the state that `path` must have on the disk for it to be changed.
    fn expected(&self, path: &WorkspacePath) -> Expected {
        if self.force.contains(path) {
            return Expected::Anything;
        }
        match self.origins.get(path) {
            Some(Origin::File { hash, executable, .. }) => Expected::File(*hash, *executable),
            Some(Origin::Symlink(target)) => Expected::Symlink(target.clone()),
            Some(Origin::Directory) => Expected::Directory,
            // A socket is never replaced: what is expected is never there. And what no edit has seen came
            // into a directory that the branch had removed or moved already.
            Some(Origin::Missing | Origin::Other) => Expected::Missing,
            // Edits below it say that it was a directory.
            None if self.tree.held_directory(path).is_some_and(|it| it.shows_base) => Expected::Directory,
            None => Expected::Missing,
        }
    }

    /// Returns the path from which the entry at `path` was moved, if it was.
    fn moved_from(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        Some(self.tree.came_from(path)).filter(|it| it != path)
    }

    /// Returns the permissions that the entry put at `path` had when a commit removed it.
    fn permissions(&self, path: &WorkspacePath) -> Option<Permissions> {
        self.permissions.get(&self.tree.came_from(path)).or_else(|| self.permissions.get(path)).copied()
    }

    fn removal(&self, path: &WorkspacePath, now: Option<&FileState>) -> Option<FileOp> {
        let path = path.clone();
        Some(match now? {
            FileState::Directory => FileOp::RemoveDir { path },
            FileState::File { .. } | FileState::Symlink(_) | FileState::Other => {
                let before = self.expected(&path);
                FileOp::Remove { path, before }
            }
        })
    }

    fn arrival(
        &self,
        change: &Change,
        after: &FileState,
        read: impl Fn(&WorkspacePath) -> io::Result<bytes::Bytes>,
    ) -> io::Result<Vec<FileOp>> {
        let path = change.path.clone();
        // The state at a renamed file's old path is no state of its new path.
        let now = change.before.as_ref().filter(|_| !matches!(change.kind, ChangeKind::Renamed { .. }));
        let before = self.expected(&path);
        let (moved_from, permissions) = (self.moved_from(&path), self.permissions(&path));
        Ok(match after {
            FileState::File { executable, .. } if change.kind == ChangeKind::ModeChanged => {
                vec![FileOp::SetExecutable { path, executable: *executable, before }]
            }
            FileState::File { executable, .. } => {
                let bytes = read(&path)?;
                let executable = *executable;
                vec![FileOp::Write { path, bytes, executable, before, moved_from, permissions }]
            }
            FileState::Symlink(target) => vec![FileOp::Symlink { path, target: target.clone(), before }],
            FileState::Directory => {
                let removal = self.removal(&path, now);
                removal.into_iter().chain([FileOp::CreateDir { path, moved_from, permissions }]).collect()
            }
            FileState::Other => {
                let text = format!("`{path}` is neither a file, a directory nor a link");
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{
        fs,
        os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
        sync::Arc,
    };

    use bytes::Bytes;
    use tempfile::TempDir;

    use super::*;
    use crate::{
        Base, BaseOptions, CommitError, Committer, Disk, EditError, OnConflict, PatchError, RebaseOnto,
        Revision,
    };

    struct Place {
        workspace: TempDir,
        _journal: TempDir,
        committer: Committer,
        branch: Branch,
    }

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    /// A workspace with `files`, and a branch of it.
    fn place(files: &[(&str, &str)]) -> Place {
        let (workspace, journal) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        for (name, text) in files {
            let file = workspace.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let committer = Committer::new(workspace.path(), journal.path()).unwrap();
        let branch = Branch::new(Arc::new(Disk::new(workspace.path()).unwrap()));
        Place { workspace, _journal: journal, committer, branch }
    }

    impl Place {
        fn commit(&self, force: &[&str]) -> Result<(), CommitError> {
            let force = force.iter().map(|it| path(it)).collect();
            self.committer.commit(&self.branch.plan_commit(&force).unwrap().ops).map(drop)
        }

        /// Every file and link, with its text, as the disk has it.
        fn tree(&self) -> Vec<String> {
            let disk = Disk::new(self.workspace.path()).unwrap();
            let mut lines = Vec::new();
            let mut folders = vec![WorkspacePath::root()];
            while let Some(folder) = folders.pop() {
                for entry in disk.list(&folder).unwrap().entries {
                    let path = folder.child(&entry.name);
                    match entry.kind {
                        crate::FileKind::Directory => folders.push(path),
                        crate::FileKind::Symlink => {
                            lines.push(format!("{path} -> {}", disk.read_link(&path).unwrap()));
                        }
                        _ => {
                            let text = String::from_utf8(disk.read(&path).unwrap().to_vec()).unwrap();
                            lines.push(format!("{path}: {text}"));
                        }
                    }
                }
            }
            lines.sort();
            lines
        }
    }

    #[test]
    fn the_disk_becomes_the_branch() {
        let mut place = place(&[("a", "1"), ("dir/b", "2"), ("dir/c", "3"), ("gone", "4"), ("x/y", "5")]);
        let branch = &mut place.branch;
        branch.write(&path("a"), Bytes::from("new")).unwrap();
        branch.rename(&path("dir"), &path("moved")).unwrap();
        branch.write(&path("moved/b"), Bytes::from("two")).unwrap();
        branch.remove(&path("gone")).unwrap();
        branch.create_dir(&path("gone")).unwrap();
        branch.write(&path("gone/in"), Bytes::from("6")).unwrap();
        branch.symlink(&path("link"), "a").unwrap();
        branch.set_executable(&path("a"), true).unwrap();
        branch.remove(&path("x")).unwrap();
        branch.write(&path("x"), Bytes::from("file")).unwrap();
        place.commit(&[]).unwrap();
        assert_eq!(
            place.tree(),
            ["a: new", "gone/in: 6", "link -> a", "moved/b: two", "moved/c: 3", "x: file"]
        );
        assert!(place.branch.conflicts(None).unwrap().is_empty());
        place.branch.committed();
        assert!(place.branch.plan_commit(&BTreeSet::new()).unwrap().ops.is_empty());
    }

    #[test]
    fn what_came_into_a_removed_or_moved_directory_is_not_lost() {
        let mut place = place(&[("dir/in/a", "1"), ("dir/b", "2"), ("moved/c", "3")]);
        place.branch.remove(&path("dir")).unwrap();
        place.branch.rename(&path("moved"), &path("there")).unwrap();
        fs::write(place.workspace.path().join("dir/in/new"), "theirs").unwrap();
        fs::write(place.workspace.path().join("dir/b"), "theirs").unwrap();
        fs::write(place.workspace.path().join("moved/new"), "theirs").unwrap();
        fs::create_dir(place.workspace.path().join("there")).unwrap();
        fs::write(place.workspace.path().join("there/c"), "theirs").unwrap();
        let late = ["dir/b", "dir/in/new", "moved/new", "there/c"];
        place.branch.write(&path("dir/in/new"), Bytes::from("ours")).unwrap();
        place.branch.write(&path("there/c"), Bytes::from("ours")).unwrap();
        let Err(CommitError::Conflicts(conflicts)) = place.commit(&[]) else { panic!("not refused") };
        assert_eq!(conflicts.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), late);
        place.commit(&late).unwrap();
        assert_eq!(place.tree(), ["dir/in/new: ours", "there/c: ours"]);
    }

    #[test]
    fn what_is_moved_and_then_lost_on_the_disk_is_kept() {
        let mut place = place(&[("a", "1"), ("dir/b", "2")]);
        place.branch.rename(&path("a"), &path("A")).unwrap();
        place.branch.rename(&path("dir"), &path("DIR")).unwrap();
        fs::remove_file(place.workspace.path().join("a")).unwrap();
        fs::remove_dir_all(place.workspace.path().join("dir")).unwrap();
        place.commit(&[]).unwrap();
        assert_eq!(place.tree(), ["A: 1", "DIR/b: 2"]);
    }

    #[test]
    fn what_is_moved_keeps_its_permissions() {
        let mut place = place(&[("secret", "1"), ("keys/deep/key", "2"), ("a", "x"), ("b", "y")]);
        let root = place.workspace.path().to_owned();
        let set = |name: &str, mode| {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap()
        };
        let modes = [("secret", 0o600), ("keys/deep/key", 0o640), ("keys", 0o700), ("keys/deep", 0o750)];
        modes.iter().for_each(|(name, mode)| set(name, *mode));
        set("a", 0o600);
        let mode = |name: &str| root.join(name).metadata().unwrap().mode() & 0o777;
        let plain = mode("b");
        let branch = &mut place.branch;
        branch.rename(&path("secret"), &path("moved")).unwrap();
        branch.write(&path("moved"), Bytes::from("moved and edited")).unwrap();
        branch.write(&path("keys/deep/new"), Bytes::from("new")).unwrap();
        branch.rename(&path("keys"), &path("k")).unwrap();
        branch.rename(&path("k/deep"), &path("k/d")).unwrap();
        branch.write(&path("k/d/key"), Bytes::from("edited")).unwrap();
        for (from, to) in [("a", "t"), ("b", "a"), ("t", "b")] {
            branch.rename(&path(from), &path(to)).unwrap();
        }
        let restored = Branch::restore(branch.snapshot().base_of().tree().base.clone(), branch.steps());
        let ops = |branch: &Branch| branch.plan_commit(&BTreeSet::new()).unwrap().ops;
        assert_eq!(ops(&restored.unwrap()), ops(branch));
        place.commit(&[]).unwrap();
        assert_eq!(["moved", "k", "k/d", "k/d/key"].map(mode), [0o600, 0o700, 0o750, 0o640]);
        assert_eq!(["a", "b", "k/d/new"].map(mode), [plain, 0o600, plain]);
        assert_eq!(
            place.tree(),
            ["a: y", "b: x", "k/d/key: edited", "k/d/new: new", "moved: moved and edited"]
        );
    }

    #[test]
    fn a_second_commit_takes_the_first_back() {
        let mut place = place(&[("a", "old"), ("keys/key", "k"), ("gone", "g"), ("file", "f")]);
        let root = place.workspace.path().to_owned();
        fs::set_permissions(root.join("keys"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(root.join("keys/key"), fs::Permissions::from_mode(0o600)).unwrap();
        let before = place.tree();
        let branch = &mut place.branch;
        branch.write(&path("a"), Bytes::from("new")).unwrap();
        branch.rename(&path("keys"), &path("moved")).unwrap();
        branch.write(&path("moved/key"), Bytes::from("edited")).unwrap();
        branch.remove(&path("gone")).unwrap();
        branch.write(&path("gone/in"), Bytes::from("6")).unwrap();
        branch.remove(&path("file")).unwrap();
        branch.symlink(&path("file"), "a").unwrap();
        place.commit(&[]).unwrap();
        place.branch.committed();
        assert_eq!(place.tree(), ["a: new", "file -> a", "gone/in: 6", "moved/key: edited"]);
        place.branch.undo_to(Revision(0)).unwrap();
        place.commit(&[]).unwrap();
        assert_eq!(place.tree(), before);
        let mode = |name: &str| root.join(name).metadata().unwrap().mode() & 0o777;
        assert_eq!(["keys", "keys/key"].map(mode), [0o700, 0o600]);
    }

    #[test]
    fn what_comes_back_after_a_commit_has_its_permissions_again() {
        let mut place = place(&[("secret", "1"), ("keys/key", "2"), ("plain", "3")]);
        let root = place.workspace.path().to_owned();
        let set = |name: &str, mode| {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap()
        };
        let modes = [("secret", 0o600), ("keys/key", 0o640), ("keys", 0o700), ("plain", 0o755)];
        modes.iter().for_each(|(name, mode)| set(name, *mode));
        let mode = |name: &str| root.join(name).metadata().unwrap().mode() & 0o777;
        for name in ["secret", "keys", "plain"] {
            place.branch.remove(&path(name)).unwrap();
        }
        place.branch.create_dir(&path("secret")).unwrap();
        let ops = place.branch.plan_commit(&BTreeSet::new()).unwrap().ops;
        let committed = place.committer.commit(&ops).unwrap();
        place.branch.committed_with(committed.permissions);
        place.branch.undo_to(Revision(0)).unwrap();
        let base = place.branch.snapshot().base_of().tree().base.clone();
        let restored = Branch::restore(base.clone(), place.branch.steps()).unwrap();
        assert_eq!(restored.steps(), place.branch.steps());
        let kept = Branch::restore(base, restored.fork().steps()).unwrap();
        let plan = |branch: &Branch| branch.plan_commit(&BTreeSet::new()).unwrap();
        assert_eq!(plan(&kept), plan(&place.branch));
        place.branch = kept;
        place.branch.rename(&path("keys"), &path("moved")).unwrap();
        place.branch.write(&path("secret"), Bytes::from("edited")).unwrap();
        place.commit(&[]).unwrap();
        assert_eq!(place.tree(), ["moved/key: 2", "plain: 3", "secret: edited"]);
        assert_eq!(["secret", "moved", "moved/key", "plain"].map(mode), [0o600, 0o700, 0o640, 0o755]);
    }

    #[test]
    fn a_directory_that_both_made_gets_the_files_of_both() {
        let mut place = place(&[("a", "1")]);
        place.branch.write(&path("d/deep/x.py"), Bytes::from("x")).unwrap();
        place.branch.create_dir(&path("e")).unwrap();
        let root = place.workspace.path();
        fs::create_dir_all(root.join("d/deep")).unwrap();
        fs::create_dir(root.join("e")).unwrap();
        for file in ["d/y.py", "d/deep/y.py", "e/y.py"] {
            fs::write(root.join(file), "y").unwrap();
        }
        assert_eq!(place.branch.conflicts(None).unwrap(), []);
        place.commit(&[]).unwrap();
        assert_eq!(place.tree(), ["a: 1", "d/deep/x.py: x", "d/deep/y.py: y", "d/y.py: y", "e/y.py: y"]);
    }

    #[test]
    fn a_directory_that_became_a_file_is_told_and_can_be_replaced() {
        let mut place = place(&[("a/b/c", "1")]);
        place.branch.write(&path("a/b/new"), Bytes::from("n")).unwrap();
        fs::remove_dir_all(place.workspace.path().join("a/b")).unwrap();
        fs::write(place.workspace.path().join("a/b"), "file").unwrap();
        let refused = place.commit(&[]).unwrap_err().to_string();
        assert!(refused.contains("`a/b` was a directory, now it is the file"), "{refused}");
        place.branch.rebase(RebaseOnto::Base, OnConflict::KeepOurs).unwrap();
        place.commit(&[]).unwrap();
        assert_eq!(place.tree(), ["a/b/new: n"]);
    }

    #[test]
    fn what_editors_have_not_saved_has_no_say() {
        let mut place = place(&[("same", "old"), ("other", "old"), ("gone", "old"), ("dir/moved", "old")]);
        let base = Base::open(place.workspace.path(), BaseOptions::default()).unwrap();
        let set =
            |name: &str, text: &str| base.set_buffer(&path(name), Bytes::from(text.to_owned())).unwrap();
        for name in ["same", "other", "gone", "dir/moved", "untouched"] {
            set(name, "unsaved");
        }
        place.branch = Branch::new(Arc::new(base.clone()));
        let branch = &mut place.branch;
        branch.write(&path("same"), Bytes::from("unsaved")).unwrap();
        branch.write(&path("other"), Bytes::from("ours")).unwrap();
        branch.remove(&path("gone")).unwrap();
        branch.rename(&path("dir"), &path("there")).unwrap();
        set("other", "typed further");
        assert_eq!(branch.conflicts(None).unwrap(), []);
        let rebased = branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
        assert_eq!(rebased.revision, Revision(4), "nothing is to be done");
        let plan = branch.plan_commit(&BTreeSet::new()).unwrap();
        assert_eq!(plan.unsaved, ["dir/moved", "gone", "other"].map(path));
        place.commit(&[]).unwrap();
        place.branch.committed();
        assert!(base.buffers().iter().all(|(path, _)| base.close_buffer(path)));
        assert_eq!(place.tree(), ["other: ours", "same: unsaved", "there/moved: unsaved"]);
    }

    #[test]
    fn what_is_left_to_an_editor_stays_an_edit() {
        let mut place = place(&[("open", "1\n"), ("shut", "1\n"), ("mode", "1\n")]);
        let base = Base::open(place.workspace.path(), BaseOptions::default()).unwrap();
        place.branch = Branch::new(Arc::new(base.clone()));
        for name in ["open", "new", "mode"] {
            base.set_buffer(&path(name), Bytes::from("typed\n")).unwrap();
        }
        for name in ["open", "shut", "dir/new", "new"] {
            place.branch.write(&path(name), Bytes::from("ours\n")).unwrap();
        }
        place.branch.set_executable(&path("mode"), true).unwrap();
        let plan = place.branch.plan_commit_but(|_| true, &BTreeSet::new()).unwrap();
        assert_eq!(plan.left, ["mode", "new", "open"].map(path));
        place.committer.commit(&plan.ops).unwrap();
        place.branch.committed_but(&plan.left, []);
        assert_eq!(place.tree(), ["dir/new: ours\n", "mode: 1\n", "open: 1\n", "shut: ours\n"]);
        let restored = Branch::restore(Arc::new(base.clone()), place.branch.steps()).unwrap();
        for branch in [&restored, &place.branch] {
            let plan = branch.plan_commit(&BTreeSet::new()).unwrap();
            let changed: Vec<_> = plan.changes.iter().map(|it| it.path.as_str()).collect();
            assert_eq!(changed, ["mode", "new", "open"]);
        }
        // The disk's state of a file that was left out is the one that it had when the branch first edited it.
        let mut undone = place.branch.clone();
        undone.undo_to(Revision(0)).unwrap();
        let plan = undone.plan_commit(&BTreeSet::new()).unwrap();
        let changed: Vec<_> = plan.changes.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(changed, ["dir", "dir/new", "shut"]);
        place.commit(&[]).unwrap();
        assert!(place.tree().contains(&"open: ours\n".to_owned()));
    }

    #[test]
    fn what_was_saved_since_is_a_conflict_whatever_editors_have() {
        let mut place = place(&[("a", "1\n2\n3\n4\n5\n")]);
        let base = Base::open(place.workspace.path(), BaseOptions::default()).unwrap();
        place.branch = Branch::new(Arc::new(base.clone()));
        base.set_buffer(&path("a"), Bytes::from("one\n2\n3\n4\n5\n")).unwrap();
        place.branch.write(&path("a"), Bytes::from("one\n2\n3\n4\nfive\n")).unwrap();
        fs::write(place.workspace.path().join("a"), "one\n2\n3\n4\n5\n").unwrap();
        place.commit(&[]).unwrap_err();
        assert_eq!(place.branch.conflicts(None).unwrap().len(), 1);
        place.branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
        place.commit(&[]).unwrap();
        assert_eq!(place.tree(), ["a: one\n2\n3\n4\nfive\n"]);
    }

    #[test]
    fn an_absolute_link_can_be_removed() {
        let mut place = place(&[("dir/a", "1")]);
        let root = place.workspace.path().to_owned();
        symlink(root.join("dir/a"), root.join("dir/link")).unwrap();
        symlink(root.join("dir"), root.join("top")).unwrap();
        place.branch.remove(&path("dir")).unwrap();
        place.branch.remove(&path("top")).unwrap();
        assert!(place.branch.conflicts(None).unwrap().is_empty());
        place.commit(&[]).unwrap();
        assert!(place.tree().is_empty());
    }

    #[test]
    fn version_control_is_left_alone() {
        let files = [(".git/config", ""), ("sub/.hg/store", ""), ("sub/a", "1"), ("x", "2")];
        let mut place = place(&files);
        let branch = &mut place.branch;
        let refused = |edited: Result<Revision, EditError>| {
            let error = edited.unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with("belongs to version control, which no edit and no commit changes")
            );
            let EditError::VersionControl(path) = error else { panic!("{error}") };
            path.as_str().to_owned()
        };
        let hook = "new/.GIT/hooks/pre-commit";
        assert_eq!(refused(branch.write(&path(hook), Bytes::from("#!/bin/sh"))), hook);
        assert_eq!(refused(branch.create_dir(&path("git~1 "))), "git~1 ");
        assert_eq!(refused(branch.symlink(&path("d/.jj"), "x")), "d/.jj");
        assert_eq!(refused(branch.remove(&path(".git/config"))), ".git/config");
        assert_eq!(refused(branch.set_executable(&path(".git/config"), true)), ".git/config");
        assert_eq!(refused(branch.rename(&path(".git/config"), &path("y"))), ".git/config");
        assert_eq!(refused(branch.rename(&path("x"), &path("sub/.hg/x"))), "sub/.hg/x");
        branch.symlink(&path("alias"), ".git").unwrap();
        assert_eq!(refused(branch.write(&path("alias/config"), Bytes::new())), ".git/config");
        let patch = "--- a/.git/config\n+++ b/.git/config\n@@ -0,0 +1 @@\n+x\n";
        let error = branch.apply_patch(patch).unwrap_err();
        assert!(matches!(error, PatchError::Edit(EditError::VersionControl(_))), "{error}");
        let nested = "`sub` cannot be moved or removed: the directory `sub` holds `.hg`, which belongs to version control";
        assert_eq!(branch.remove(&path("sub")).unwrap_err().to_string(), nested);
        assert_eq!(branch.rename(&path("sub"), &path("there")).unwrap_err().to_string(), nested);
        assert_eq!(branch.revision(), Revision(1), "only the link");
    }

    #[test]
    fn what_is_only_shown_cannot_be_committed() {
        let mut place = place(&[(".git/config", "")]);
        place.branch.show(&path(".git/COMMIT_EDITMSG"), Bytes::from("text")).unwrap();
        let error = place.branch.plan_commit(&BTreeSet::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`.git/COMMIT_EDITMSG` belongs to version control, which no edit and no commit changes"
        );
    }

    #[test]
    fn what_changed_meanwhile_is_refused_unless_forced() {
        let mut place = place(&[("a", "1"), ("b", "2")]);
        place.branch.write(&path("a"), Bytes::from("mine")).unwrap();
        place.branch.write(&path("b"), Bytes::from("mine")).unwrap();
        place.branch.write(&path("c"), Bytes::from("mine")).unwrap();
        fs::write(place.workspace.path().join("a"), "theirs").unwrap();
        fs::write(place.workspace.path().join("c"), "theirs").unwrap();
        let Err(CommitError::Conflicts(conflicts)) = place.commit(&["c"]) else { panic!("not refused") };
        assert_eq!(conflicts.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(place.tree(), ["a: theirs", "b: 2", "c: theirs"]);
        place.commit(&["a", "c"]).unwrap();
        assert_eq!(place.tree(), ["a: mine", "b: mine", "c: mine"]);
    }
}
