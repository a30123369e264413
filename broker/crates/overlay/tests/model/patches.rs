//! Differences as patches: read back here, and by git.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use overlay::{Branch, FileKind, FileState, Memory, Snapshot, View, WorkspacePath, unified};
use proptest::prelude::*;

use crate::kept::everything;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn names() -> impl Strategy<Value = String> {
    let names = ["a", "b", "d/x", "d/e/y", "a/z", "b/u v", "t\tb", "q\"\\", "\u{e9}"];
    prop::sample::select(names.map(str::to_owned).to_vec())
}

/// Lines that look like a patch's own, with and without an end.
fn texts() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a",
        "b",
        "",
        "-- x",
        "++ x",
        "@@ -1 +1 @@",
        "c\r",
        " d",
        "diff --git a/a b/a",
    ]);
    (prop::collection::vec(line, 0..12), any::<bool>())
        .prop_map(|(lines, ended)| lines.join("\n") + if ended && !lines.is_empty() { "\n" } else { "" })
}

#[derive(Debug, Clone)]
enum Act {
    Write(String, String),
    Remove(String),
    Rename(String, String),
    Executable(String, bool),
    Link(String, String),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (names(), texts()).prop_map(|(path, text)| Act::Write(path, text)),
        1 => names().prop_map(Act::Remove),
        2 => (names(), names()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (names(), any::<bool>()).prop_map(|(path, value)| Act::Executable(path, value)),
        1 => (names(), prop::sample::select(vec!["x", "b/y", "no where"])).prop_map(|(path, to)| Act::Link(path, to.into())),
    ];
    prop::collection::vec(act, 1..12)
}

/// Refusals are as good as edits here.
fn act(branch: &mut Branch, acts: &[Act]) {
    for act in acts {
        let done = match act {
            Act::Write(at, text) => branch.write(&path(at), text.clone().into()),
            Act::Remove(at) => branch.remove(&path(at)),
            Act::Rename(from, to) => branch.rename(&path(from), &path(to)),
            Act::Executable(at, value) => branch.set_executable(&path(at), *value),
            Act::Link(at, to) => branch.symlink(&path(at), to),
        };
        drop(done);
    }
}

fn trees(first: &[Act], second: &[Act]) -> (Snapshot, Snapshot) {
    let mut branch = Branch::new(Arc::new(Memory::default()));
    act(&mut branch, first);
    let before = branch.snapshot();
    act(&mut branch, second);
    (before, branch.snapshot())
}

/// Directories are nothing to a patch.
fn files(view: &dyn View) -> Vec<(WorkspacePath, FileState)> {
    everything(view).into_iter().filter(|(_, state)| *state != FileState::Directory).collect()
}

fn patch(before: &Snapshot, after: &Snapshot, context: usize) -> String {
    unified(&after.changes(before).unwrap(), before, after, context).unwrap()
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn a_patch_read_back_gives_the_same_tree(first in acts(), second in acts(), context in 0_usize..4) {
        let (before, after) = trees(&first, &second);
        let patch = patch(&before, &after, context);
        let mut branch = before.fork();
        if !patch.is_empty() {
            let applied = branch.apply_patch(&patch);
            prop_assert!(applied.is_ok(), "{}\n{}", applied.unwrap_err(), patch);
            prop_assert_eq!(applied.unwrap().moved, []);
        }
        prop_assert_eq!(files(&branch.snapshot()), files(&after), "{}", patch);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..crate::config() })]

    #[test]
    fn git_takes_the_patch(first in acts(), second in acts()) {
        let (before, after) = trees(&first, &second);
        let patch = patch(&before, &after, 3);
        if !patch.is_empty() {
            let folder = tempfile::tempdir().unwrap();
            write_out(&before, folder.path());
            git_apply(folder.path(), &patch).map_err(TestCaseError::fail)?;
            let base: Arc<dyn View> = Arc::new(overlay::Disk::new(folder.path()).unwrap());
            prop_assert_eq!(files(&*base), files(&after), "{}", patch);
        }
    }
}

fn write_out(view: &dyn View, folder: &Path) {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    for (path, state) in everything(view) {
        let place = folder.join(path.as_str());
        match view.metadata(&path).unwrap().kind {
            FileKind::Directory => std::fs::create_dir_all(place).unwrap(),
            FileKind::Symlink => {
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                symlink(view.read_link(&path).unwrap(), place).unwrap();
            }
            _ => {
                std::fs::write(&place, view.read(&path).unwrap()).unwrap();
                let executable = matches!(state, FileState::File { executable: true, .. });
                let mode = if executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
}

fn git_apply(folder: &Path, patch: &str) -> Result<(), String> {
    use std::io::Write as _;
    let mut git = Command::new("git")
        .args(["apply", "--whitespace=nowarn"])
        .current_dir(folder)
        // A repository above the folder would make git pass over its files.
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    let output = git.wait_with_output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{patch}", String::from_utf8_lossy(&output.stderr)))
}
