//! A directory of a kept walk.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    super::{Rules, Step, Stop, Target, Walk, WalkOptions},
    recorder::{Recorded, Recorder},
};
use crate::{ChangeLog, Look, Observation, Read, Skipped, View, WorkspacePath};

/// A directory as it was found, with all below it.
#[derive(Clone)]
pub(super) struct Folder {
    /// Rules that apply to its own name.
    pub(super) above: Rules,
    /// Rules that apply to its entries.
    pub(super) rules: Rules,
    /// Items in the order of a walk.
    pub(super) items: Box<[Item]>,
    /// Looks besides the listing, with their results.
    pub(super) looks: Box<[(Read, Observation)]>,
    /// Entries passed over here and below.
    pub(super) skipped: Skipped,
    own_skipped: Option<Box<Skipped>>,
    /// Number of files here and below.
    pub(super) files: usize,
    /// Whether some relevant change here would not be reported; `has_loose`: here or below.
    is_loose: bool,
    pub(super) has_loose: bool,
}

#[derive(Clone)]
pub(super) enum Item<F = Arc<Folder>> {
    File(WorkspacePath),
    Folder(WorkspacePath, F),
}

impl<F> Item<F> {
    fn path(&self) -> &WorkspacePath {
        match self {
            Self::File(path) | Self::Folder(path, _) => path,
        }
    }

    /// Returns the sort key; the order is that of the steps of a walk.
    fn order(&self) -> impl Iterator<Item = u8> + '_ {
        let slash = matches!(self, Self::Folder(..)).then_some(b'/');
        self.path().file_name().unwrap_or_default().bytes().chain(slash)
    }
}

impl Folder {
    pub(super) fn folders(&self) -> impl Iterator<Item = (&WorkspacePath, &Arc<Self>)> {
        self.items.iter().filter_map(|it| match it {
            Item::File(_) => None,
            Item::Folder(path, folder) => Some((path, folder)),
        })
    }

    /// The directory at `path`, which is one name below this.
    pub(super) fn folder(&self, path: &WorkspacePath) -> Option<&Arc<Self>> {
        match self.find(&Item::Folder(path.clone(), ()))? {
            Item::Folder(found, folder) if found == path => Some(folder),
            _ => None,
        }
    }

    pub(super) fn has_file(&self, path: &WorkspacePath) -> bool {
        matches!(self.find(&Item::File(path.clone())), Some(Item::File(found)) if found == path)
    }

    fn find(&self, item: &Item<()>) -> Option<&Item> {
        let index = self.items.binary_search_by(|it| it.order().cmp(item.order())).ok()?;
        self.items.get(index)
    }

    /// Gathers the files that only one of two states of a directory has.
    pub(super) fn compare(a: &Arc<Self>, b: &Arc<Self>, found: &mut BTreeSet<WorkspacePath>) {
        if Arc::ptr_eq(a, b) {
            return;
        }
        let (mut left, mut right) = (a.items.iter().peekable(), b.items.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.order().cmp(b.order()),
            };
            match order {
                Ordering::Less => left.next().into_iter().for_each(|it| it.gather(found)),
                Ordering::Greater => right.next().into_iter().for_each(|it| it.gather(found)),
                Ordering::Equal => {
                    if let (Some(Item::Folder(_, a)), Some(Item::Folder(_, b))) = (left.next(), right.next())
                    {
                        Self::compare(a, b, found);
                    }
                }
            }
        }
    }

    /// Whether this may have changed without a report.
    pub(super) fn may_have_changed(
        &self,
        path: &WorkspacePath,
        view: &dyn View,
        log: &dyn ChangeLog,
    ) -> bool {
        if !self.is_loose {
            return false;
        }
        let shows = |(read, then): &(Read, Observation)| {
            covers(log, read) || (*then != Observation::Failed && read.observe(view) == *then)
        };
        !log.covers(Look::Listing(path)) || !self.looks.iter().all(shows)
    }

    /// Returns the same folder with other items.
    pub(super) fn with_items(&self, items: Box<[Item]>) -> Self {
        Self { items, ..self.clone() }.summed()
    }

    fn summed(mut self) -> Self {
        self.skipped = self.own_skipped.as_deref().cloned().unwrap_or_default();
        (self.files, self.has_loose) = (0, self.is_loose);
        for item in &self.items {
            match item {
                Item::File(_) => self.files += 1,
                Item::Folder(_, folder) => {
                    self.files += folder.files;
                    self.has_loose |= folder.has_loose;
                    add(&mut self.skipped, &folder.skipped);
                }
            }
        }
        self
    }
}

impl Item {
    /// Whether two items of the same name and kind share their subtree. A file has none.
    pub(super) fn is_shared_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder(_, a), Self::Folder(_, b)) => Arc::ptr_eq(a, b),
            _ => true,
        }
    }

    /// Adds its file, or all files below it, to `found`.
    fn gather(&self, found: &mut BTreeSet<WorkspacePath>) {
        match self {
            Self::File(path) => _ = found.insert(path.clone()),
            Self::Folder(_, folder) => folder.items.iter().for_each(|it| it.gather(found)),
        }
    }
}

/// A look at one directory.
pub(super) struct Visit {
    pub(super) rules: Rules,
    above: Rules,
    steps: Vec<Item<()>>,
    skipped: Skipped,
    looks: Vec<Recorded>,
}

impl Visit {
    pub(super) fn of(view: &dyn View, options: &WalkOptions, path: &WorkspacePath, above: &Rules) -> Self {
        let recorder = Recorder::new(view);
        let mut walk = Walk {
            view: &recorder,
            roots: BTreeMap::from([(WorkspacePath::root(), Target::Directory)]),
            rules: above.clone(),
            excludes: options.excludes(),
            pending: Vec::new(),
            skipped: Skipped::default(),
        };
        let stop = Stop { path: path.clone(), rules: above.clone(), wanted: true };
        let rules = walk.visit(stop).unwrap_or_else(|| above.clone());
        let step = |step| match step {
            Step::File(path) => Item::File(path),
            Step::Directory(stop) => Item::Folder(stop.path, ()),
        };
        // The next one is last.
        let steps = std::mem::take(&mut walk.pending).into_iter().rev().map(step).collect();
        let skipped = walk.into_skipped();
        Self { rules, above: above.clone(), steps, skipped, looks: recorder.into_looks() }
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = Item<()>> {
        self.steps.iter().cloned()
    }

    pub(super) fn has_folder(&self, path: &WorkspacePath) -> bool {
        self.steps.iter().any(|it| matches!(it, Item::Folder(found, ()) if found == path))
    }

    /// Yields each path that was looked at, and whether a directory was seen there.
    pub(super) fn looks(&self) -> impl Iterator<Item = (&WorkspacePath, bool)> {
        self.looks.iter().map(|(read, _, is_directory)| (read.path(), *is_directory))
    }

    pub(super) fn into_folder(self, path: &WorkspacePath, items: Box<[Item]>, log: &dyn ChangeLog) -> Folder {
        let is_told = |(read, seen, _): &Recorded| covers(log, read) && *seen != Observation::Failed;
        let is_loose = !log.covers(Look::Listing(path)) || !self.looks.iter().all(is_told);
        let folder = Folder {
            above: self.above,
            rules: self.rules,
            items,
            looks: self.looks.into_iter().map(|(read, seen, _)| (read, seen)).collect(),
            skipped: Skipped::default(),
            own_skipped: (self.skipped != Skipped::default()).then(|| Box::new(self.skipped)),
            files: 0,
            is_loose,
            has_loose: false,
        };
        folder.summed()
    }
}

fn covers(log: &dyn ChangeLog, read: &Read) -> bool {
    log.covers(match read {
        Read::Listing(path) => Look::Listing(path),
        Read::Kind(path) | Read::Metadata(path) | Read::Link(path) | Read::Content(path) => Look::At(path),
    })
}

fn add(sum: &mut Skipped, more: &Skipped) {
    sum.not_utf8 += more.not_utf8;
    sum.special += more.special;
    sum.broken_links += more.broken_links;
    sum.too_large += more.too_large;
    sum.unreadable.extend(more.unreadable.iter().map(|(path, reason)| (path.clone(), reason.clone())));
}
