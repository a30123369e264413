//! Random edits on nested branches, against a model that is slow and obvious.
//!
//! After every edit both must agree on whether it was refused and why; in the end each branch must look
//! like its own model in every way that a view can be looked at, so no edit reached another branch.

#![allow(clippy::unwrap_used, reason = "a test stops at what is unexpected")]

mod committed;
mod kept;
mod patches;
mod rebased;
mod reference;

use std::{io, sync::Arc};

use bytes::Bytes;
use overlay::{Branch, EditError, Entry, FileKind, Metadata, Revision, View, WorkspacePath};
use proptest::{prelude::*, test_runner::RngSeed};
use reference::{Directory, Edit, File, Link, Model, ModelNode, Refusal, join, split};

fn refusal(error: &EditError) -> Refusal {
    match error {
        EditError::Root => Refusal::Root,
        EditError::NotFound(_) => Refusal::NotFound,
        EditError::AlreadyExists(_) => Refusal::AlreadyExists,
        EditError::NotADirectory(_) => Refusal::NotADirectory,
        EditError::IsADirectory(_) => Refusal::IsADirectory,
        EditError::NotAFile(_) => Refusal::NotAFile,
        EditError::DirectoryNotEmpty(_) => Refusal::NotEmpty,
        EditError::IntoItself { .. } => Refusal::IntoItself,
        EditError::Unreachable { .. } => Refusal::Unreachable,
        _ => panic!("no edit here can fail so: {error}"),
    }
}

fn apply(branch: &mut Branch, edit: &Edit) -> Result<Revision, EditError> {
    let at = |path: &String| WorkspacePath::new(path).unwrap();
    match edit {
        Edit::Write(path, text) => branch.write(&at(path), Bytes::from(text.clone())),
        Edit::Create(path, text) => branch.create(&at(path), Bytes::from(text.clone())),
        Edit::Remove(path) => branch.remove(&at(path)),
        Edit::CreateDir(path) => branch.create_dir(&at(path)),
        Edit::Rename(from, to) => branch.rename(&at(from), &at(to)),
        Edit::Symlink(path, target) => branch.symlink(&at(path), target),
        Edit::SetExecutable(path, value) => branch.set_executable(&at(path), *value),
    }
}

/// Every path of up to three names: those that are there, and those that are missed.
fn universe() -> Vec<String> {
    let mut paths = vec![String::new()];
    let mut from = 0;
    for _ in 0..3 {
        let longest = paths[from..].to_vec();
        from = paths.len();
        paths.extend(longest.iter().flat_map(|path| ["a", "b", "c"].map(|name| join(path, name))));
    }
    paths
}

fn compare(view: &dyn View, model: &Model) -> Result<(), TestCaseError> {
    // Renames take directories deeper than edits name them.
    for path in universe().iter().chain(model.0.keys()) {
        compare_at(view, model, path)?;
    }
    Ok(())
}

fn compare_at(view: &dyn View, model: &Model, path: &str) -> Result<(), TestCaseError> {
    let at = WorkspacePath::new(path).unwrap();
    let node = model.look_up(path);
    let want = node.map(metadata);
    prop_assert_eq!(view.metadata(&at).map_err(|it| it.kind()), want, "metadata of {}", path);
    let want = node.and_then(|node| match node {
        File(text, _) => Ok(Bytes::from(text.clone())),
        Directory => Err(io::ErrorKind::IsADirectory),
        Link(_) => Err(io::ErrorKind::NotADirectory),
    });
    prop_assert_eq!(view.read(&at).map_err(|it| it.kind()), want, "content of {}", path);
    let want = node.and_then(|node| match node {
        Directory => Ok(children(model, path)),
        File(..) | Link(_) => Err(io::ErrorKind::NotADirectory),
    });
    let listing = view.list(&at).map(|it| it.entries).map_err(|it| it.kind());
    prop_assert_eq!(listing, want, "listing of {}", path);
    let want = node.and_then(|node| match node {
        Link(target) => Ok(target.clone()),
        File(..) | Directory => Err(io::ErrorKind::InvalidInput),
    });
    prop_assert_eq!(view.read_link(&at).map_err(|it| it.kind()), want, "link of {}", path);
    Ok(())
}

fn metadata(node: &ModelNode) -> Metadata {
    match node {
        File(text, executable) => {
            Metadata { kind: FileKind::File, size: text.len() as u64, executable: *executable }
        }
        Directory => Metadata { kind: FileKind::Directory, size: 0, executable: false },
        Link(_) => Metadata { kind: FileKind::Symlink, size: 0, executable: false },
    }
}

fn children(model: &Model, directory: &str) -> Vec<Entry> {
    let is_child = |path: &&String| split(path).0 == directory;
    let entry = |path: &String| Entry { name: split(path).1, kind: metadata(&model.0[path]).kind };
    model.below(directory).iter().filter(is_child).map(entry).collect()
}

fn paths() -> impl Strategy<Value = String> {
    prop::sample::select(universe())
}

fn edits() -> impl Strategy<Value = Edit> {
    let targets = ["a", "b/a", "../b", "..", ".", "../../x", "/etc", "c/", "./a/../b", "b/x/y", "a/c"];
    let target = prop::sample::select(targets.map(str::to_owned).to_vec());
    prop_oneof![
        3 => (paths(), "[a-z]{0,3}").prop_map(|(path, text)| Edit::Write(path, text)),
        1 => (paths(), "[a-z]{0,3}").prop_map(|(path, text)| Edit::Create(path, text)),
        2 => paths().prop_map(Edit::Remove),
        2 => paths().prop_map(Edit::CreateDir),
        4 => (paths(), paths()).prop_map(|(from, to)| Edit::Rename(from, to)),
        2 => (paths(), target).prop_map(|(path, target)| Edit::Symlink(path, target)),
        1 => (paths(), any::<bool>()).prop_map(|(path, value)| Edit::SetExecutable(path, value)),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Edit(usize, Edit),
    Fork(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        9 => (any::<prop::sample::Index>(), edits()).prop_map(|(at, edit)| Step::Edit(at.index(1 << 16), edit)),
        1 => any::<prop::sample::Index>().prop_map(|at| Step::Fork(at.index(1 << 16))),
    ];
    prop::collection::vec(step, 1..40)
}

/// Runs the same cases each time.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 1500,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn branches_behave_like_the_model(steps in steps()) {
        let base = Model::base();
        let memory: Arc<dyn View> = Arc::new(base.memory());
        let mut branches = vec![(Branch::new(memory.clone()), base.clone(), 0)];
        for step in &steps {
            match step {
                Step::Fork(index) => {
                    let (branch, model, _) = &branches[index % branches.len()];
                    let forked = (branch.fork(), model.clone(), 0);
                    prop_assert_eq!(forked.0.revision(), Revision(0));
                    branches.push(forked);
                }
                Step::Edit(index, edit) => {
                    let index = index % branches.len();
                    let (branch, model, edits) = &mut branches[index];
                    let want = model.apply(edit);
                    let got = apply(branch, edit).map(drop).map_err(|error| refusal(&error));
                    prop_assert_eq!(got, want, "{:?} on {:?}", edit, model);
                    *edits += u64::from(want.is_ok());
                    prop_assert_eq!(branch.revision(), Revision(*edits));
                }
            }
        }
        for (branch, model, _) in &branches {
            compare(&branch.snapshot(), model)?;
        }
        compare(&*memory, &base)?;
    }

    /// Paths that a snapshot reports as unedited are as in the base, all the way down.
    #[test]
    fn what_is_not_edited_is_as_in_the_base(edits in prop::collection::vec(edits(), 1..12)) {
        let base = Model::base();
        let mut branch = Branch::new(Arc::new(base.memory()));
        for edit in &edits {
            // Refusals are as good as edits here.
            let _ = apply(&mut branch, edit);
        }
        let snapshot = branch.snapshot();
        for path in universe() {
            if !snapshot.is_edited(&WorkspacePath::new(&path).unwrap()) {
                compare_at(&snapshot, &base, &path)?;
                for below in base.below(&path) {
                    compare_at(&snapshot, &base, &below)?;
                }
            }
        }
    }
}
