//! State of the disk that a server was last notified of, and the changes since then that it must be notified of. Nothing
//! watches: the inputs of a view, which are needed anyway, show the disk wherever the view has no edits.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use lint::Outcome;
use overlay::{ContentHash, Observation, Read, ReadSet, Traced, View, WalkOptions, WorkspacePath, walk};
use parking_lot::Mutex;

use crate::{DiskChange, Profile, configs};

pub(crate) type Contents = BTreeMap<WorkspacePath, Observation>;

/// State of the disk that the processes of a server were notified of.
pub(super) struct DiskSync {
    disk: Arc<dyn View>,
    contents: Mutex<Contents>,
}

impl DiskSync {
    /// `contents` are those before the server was started.
    pub(super) fn new(disk: Arc<dyn View>, contents: Contents) -> Self {
        Self { disk, contents: Mutex::new(contents) }
    }

    /// Notifies of what changed on the disk, as far as the view shows it, and returns what the view edits. Concurrent
    /// updates wait for each other, so that notifications keep their order.
    pub(super) fn update(
        &self,
        view: &dyn View,
        now: &Contents,
        notify: impl FnOnce(Vec<(WorkspacePath, DiskChange)>),
    ) -> Vec<WorkspacePath> {
        let edits: BTreeSet<_> = view.edits().into_iter().collect();
        let is_edited = |it: &WorkspacePath| it.ancestors().any(|above| edits.contains(&above));
        let mut known = self.contents.lock();
        let differs = |path: &WorkspacePath| known.get(path) != now.get(path);
        let paths: BTreeSet<_> = now.keys().chain(known.keys()).filter(|it| differs(it)).cloned().collect();
        if paths.is_empty() {
            return Vec::new();
        }
        let (edited, changed): (Vec<_>, Vec<_>) = paths.into_iter().partition(is_edited);
        if !changed.is_empty() {
            notify(self.changes(&mut known, changed));
        }
        edited
    }

    /// Changes of these paths on the disk since the last notification.
    fn changes(&self, known: &mut Contents, changed: Vec<WorkspacePath>) -> Vec<(WorkspacePath, DiskChange)> {
        let mut folders: BTreeSet<_> = known.keys().flat_map(folders_of).collect();
        let mut changes = Vec::new();
        for path in changed {
            // A branch may only have moved what a walk passes over.
            let found = Read::Content(path.clone()).observe(&*self.disk);
            let before = match found {
                Observation::Missing | Observation::NotADirectory => known.remove(&path),
                _ => known.insert(path.clone(), found),
            };
            let Some(change) = change(before, found) else { continue };
            if change == DiskChange::Created {
                // Some servers look into a folder only after a notification about it.
                let new: BTreeSet<_> = folders_of(&path).filter(|it| folders.insert(it.clone())).collect();
                changes.extend(new.into_iter().map(|it| (it, DiskChange::Created)));
            }
            changes.push((path, change));
        }
        changes
    }
}

/// The folders above a file, without the root.
fn folders_of(path: &WorkspacePath) -> impl Iterator<Item = WorkspacePath> {
    let above: Vec<_> = path.ancestors().skip(1).filter(|it| !it.is_root()).collect();
    above.into_iter()
}

/// Files of a view that a server may read.
pub(crate) struct ServerInputs {
    /// Links that a walk came by.
    links: Vec<WorkspacePath>,
    pub(crate) contents: Contents,
    /// Hash over all of it.
    pub(crate) digest: ContentHash,
}

impl ServerInputs {
    /// Collects the files of the kinds that the profile names, and those that it is configured by, also where ignore
    /// files leave them out: generated files are imported all the same. Leaves out folders of dependencies.
    pub(crate) fn of(view: &Arc<dyn View>, profile: &Profile) -> Self {
        let traced = Traced::new(Arc::clone(view));
        let mut names: BTreeMap<WorkspacePath, Vec<String>> = BTreeMap::new();
        let options = WalkOptions { respect_ignore_files: false, ..WalkOptions::default() };
        let mut walked: Vec<_> = walk(&traced, &[WorkspacePath::root()], &options).collect();
        walked.retain(|it| profile.reads(it) || profile.is_config_if_named(it));
        let named = configs::named_among(profile, &**view, &walked);
        for path in walked {
            let is_read = profile.reads(&path) || named.contains(&path);
            if let (true, Some(directory), Some(name)) = (is_read, path.parent(), path.file_name()) {
                names.entry(directory).or_default().push(name.to_owned());
            }
        }
        let mut contents = Contents::new();
        for (directory, names) in names {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let seen = Read::observe_contents(&**view, &directory, &names, u64::MAX);
            contents.extend(names.iter().map(|it| directory.child(it)).zip(seen));
        }
        let digest = digest(&contents);
        let link = |read: &Read| match read {
            Read::Link(path) => Some(path.clone()),
            _ => None,
        };
        let links = traced.read_set().iter().filter_map(|(read, _)| link(read)).collect();
        Self { links, contents, digest }
    }

    /// Hashes of the other files that an answer is about.
    pub(crate) fn related(&self, outcome: &Outcome) -> ReadSet {
        let paths = outcome.diagnostics.iter().flat_map(|it| &it.related).filter_map(|it| it.path.as_ref());
        let seen = paths.filter_map(|it| Some((Read::Content(it.clone()), *self.contents.get(it)?)));
        seen.collect()
    }

    /// Whether the view still has the same contents.
    pub(crate) fn hold_in(&self, view: &Arc<dyn View>, profile: &Profile) -> bool {
        // Looks at many files of a folder at once, as looks at one path after the other do not.
        Self::of(view, profile).digest == self.digest
    }

    /// Reason for which a server may see another text than the view's: an edited file that is reached through a link is
    /// there as on the disk.
    pub(crate) fn hidden(&self, edited: &[WorkspacePath], view: &dyn View) -> Option<String> {
        let hides = |link: &WorkspacePath| {
            let target = view.resolve(link).ok()?;
            let path = edited.iter().find(|it| it.starts_with(&target))?;
            Some(format!(
                "`{path}` is also reached through the link `{link}`, and there it is as on the disk"
            ))
        };
        self.links.iter().filter(|_| !edited.is_empty()).find_map(hides)
    }
}

fn digest(contents: &Contents) -> ContentHash {
    /// Counter that makes each file that could not be read differ from all others.
    static FAILED: AtomicU64 = AtomicU64::new(0);
    let mut text = String::new();
    for (path, seen) in contents {
        let _to_a_string = match seen {
            Observation::Found(hash) => writeln!(text, "{path}\0{hash}"),
            Observation::Failed => writeln!(text, "{path}\0{}", FAILED.fetch_add(1, Ordering::Relaxed)),
            other => writeln!(text, "{path}\0{other:?}"),
        };
    }
    ContentHash::of(text.as_bytes())
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
