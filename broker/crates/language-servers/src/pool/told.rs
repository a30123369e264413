//! What a server was told of the disk, by which it is told what changed there since. Nothing watches: a look
//! at a view, which has to be made anyway, shows the disk wherever the view has no edits.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use overlay::{Observation, Read, ReadSet, Traced, View, WalkOptions, WorkspacePath, walk};

use crate::{DiskChange, Profile};

pub(crate) type Contents = BTreeMap<WorkspacePath, Observation>;

pub(super) struct Told {
    disk: Arc<dyn View>,
    contents: Mutex<Contents>,
}

impl Told {
    /// `contents` are those before the server was started.
    pub(super) fn new(disk: Arc<dyn View>, contents: Contents) -> Self {
        Self { disk, contents: Mutex::new(contents) }
    }

    /// Tells what changed on the disk, as far as the view shows it. What is told at the same time waits, so
    /// that changes are told in their order.
    pub(super) fn update(
        &self,
        view: &dyn View,
        now: &Contents,
        tell: impl FnOnce(Vec<(WorkspacePath, DiskChange)>),
    ) {
        let edits: BTreeSet<_> = view.edits().into_iter().collect();
        let is_edited = |it: &WorkspacePath| it.ancestors().any(|above| edits.contains(&above));
        let mut told = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let differs = |path: &WorkspacePath| told.get(path) != now.get(path);
        let paths: BTreeSet<_> = now.keys().chain(told.keys()).filter(|it| differs(it)).cloned().collect();
        let mut changes = Vec::new();
        for path in paths.into_iter().filter(|it| !is_edited(it)) {
            // A branch may only have moved what a walk passes over.
            let found = Read::Content(path.clone()).observe(&*self.disk);
            let before = match found {
                Observation::Missing | Observation::NotADirectory => told.remove(&path),
                _ => told.insert(path.clone(), found),
            };
            changes.extend(change(before, found).map(|it| (path, it)));
        }
        if !changes.is_empty() {
            tell(changes);
        }
    }
}

/// All that a server may look at of the workspace: its own kind of files, wherever a walk leads. Also by
/// itself, what is in these files.
pub(crate) fn look(view: &Arc<dyn View>, profile: &Profile) -> (Arc<ReadSet>, Contents) {
    let traced = Traced::new(Arc::clone(view));
    let mut names: BTreeMap<WorkspacePath, Vec<String>> = BTreeMap::new();
    for path in walk(&traced, &[WorkspacePath::root()], &WalkOptions::default()) {
        let is_read = profile.covers(&path) || profile.is_config(&path);
        if let (true, Some(directory), Some(name)) = (is_read, path.parent(), path.file_name()) {
            names.entry(directory).or_default().push(name.to_owned());
        }
    }
    let mut contents = Contents::new();
    for (directory, names) in names {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let seen = Read::observe_contents(&**view, &directory, &names);
        contents.extend(names.iter().map(|it| directory.child(it)).zip(seen));
    }
    let walked = traced.read_set();
    let walked = walked.iter().map(|(read, seen)| (read.clone(), seen));
    let read = contents.iter().map(|(path, seen)| (Read::Content(path.clone()), *seen));
    (Arc::new(walked.chain(read).collect()), contents)
}

fn change(before: Option<Observation>, now: Observation) -> Option<DiskChange> {
    match (before, now) {
        (None, Observation::Missing | Observation::NotADirectory) => None,
        (Some(_), Observation::Missing | Observation::NotADirectory) => Some(DiskChange::Deleted),
        (None, _) => Some(DiskChange::Created),
        (Some(before), now) if before == now => None,
        (Some(_), _) => Some(DiskChange::Changed),
    }
}
