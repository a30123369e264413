//! Finding what must be hashed: all of a tree, or what changed in it.
//!
//! Directories are looked at level by level and built from the deepest up, so that the depth of a tree
//! takes no stack.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Bound,
    sync::Arc,
};

use super::{
    Child, Directory, TreeHash,
    hashing::{self, Job},
    sources::{self, Sources},
};
use crate::{
    Entry, FileKind, View, WalkOptions, WorkspacePath,
    walk::{Rules, is_excluded},
};

pub(super) struct Survey<'v> {
    view: &'v dyn View,
    options: &'v WalkOptions,
    changed: BTreeSet<WorkspacePath>,
    /// Changed paths, and one path in each directory whose rules may have changed.
    visited: BTreeSet<WorkspacePath>,
    sources: BTreeMap<WorkspacePath, Arc<Sources>>,
    /// Parents before their children.
    stops: Vec<Stop>,
    jobs: Vec<Job>,
}

/// A directory that is looked at.
struct Stop {
    path: WorkspacePath,
    /// The directory before the change, unless all of it is to be made anew.
    old: Option<Arc<Directory>>,
    /// Rules above the directory until it was looked at, then its own.
    rules: Rules,
    /// Whether the old directory was made with the same rules above it, and, once it was looked at, of its own.
    has_old_rules: bool,
    entries: Vec<(Box<str>, Part)>,
    /// Entry in the directory's place, if it could not be listed.
    failed: Option<Option<Child>>,
}

enum Part {
    Ready(Child),
    Job(usize),
    Stop(usize),
}

impl<'v> Survey<'v> {
    pub(super) fn new(
        view: &'v dyn View,
        options: &'v WalkOptions,
        old: Option<&TreeHash>,
        changed: &[WorkspacePath],
    ) -> Self {
        let changed: BTreeSet<_> = changed.iter().cloned().collect();
        let sources = old.map(|it| it.sources.clone()).unwrap_or_default();
        let mut visited = changed.clone();
        let touched = sources.iter().filter(|(_, it)| it.touch(&changed));
        visited.extend(touched.map(|(directory, _)| directory.child(".ignore")));
        let root = WorkspacePath::root();
        let old = old.filter(|_| !changed.contains(&root)).map(|it| it.top.clone());
        let mut survey =
            Self { view, options, changed, visited, sources, stops: Vec::new(), jobs: Vec::new() };
        survey.add_stop(root, old, Rules::new(options), true);
        survey
    }

    pub(super) fn run(mut self) -> io::Result<TreeHash> {
        let mut index = 0;
        while index < self.stops.len() {
            self.look(index)?;
            index += 1;
        }
        let hashed = hashing::hash_all(self.view, &self.jobs)?;
        let top = build(self.stops, hashed);
        let mut tree = TreeHash { top, options: self.options.clone(), sources: BTreeMap::new() };
        self.sources.retain(|directory, _| tree.find(directory).is_some());
        tree.sources = self.sources;
        Ok(tree)
    }

    fn add_stop(
        &mut self,
        path: WorkspacePath,
        old: Option<Arc<Directory>>,
        rules: Rules,
        has_old_rules: bool,
    ) -> usize {
        let has_old_rules = has_old_rules && old.is_some();
        self.stops.push(Stop { path, old, rules, has_old_rules, entries: Vec::new(), failed: None });
        self.stops.len() - 1
    }

    fn look(&mut self, index: usize) -> io::Result<()> {
        let stop = &mut self.stops[index];
        let listing = match self.view.list(&stop.path) {
            Ok(listing) => listing,
            Err(error) if index == 0 => return Err(error),
            Err(error) => {
                stop.failed = Some(hashing::unreadable(error)?);
                // Sources are dropped as for a directory that was removed; the failure is reported instead.
                self.sources.remove(&stop.path);
                return Ok(());
            }
        };
        let old_sources = self.sources.get(&stop.path);
        stop.has_old_rules = stop.has_old_rules && sources::hold(old_sources, self.view, &listing);
        match &stop.old {
            Some(old) if stop.has_old_rules => stop.rules = old.rules.clone(),
            _ => {
                let (rules, own) = sources::enter(self.view, &stop.path, &listing, &stop.rules);
                stop.rules = rules;
                match own {
                    Some(own) => drop(self.sources.insert(stop.path.clone(), own)),
                    None => drop(self.sources.remove(&stop.path)),
                }
            }
        }
        let parts = listing.entries.into_iter();
        self.stops[index].entries =
            parts.filter_map(|entry| Some((self.part(index, &entry)?, entry))).map(named).collect();
        Ok(())
    }

    /// `None` for what does not count.
    fn part(&mut self, index: usize, entry: &Entry) -> Option<Part> {
        let here = &self.stops[index];
        let path = here.path.child(&entry.name);
        let old = here.old.as_ref().and_then(|it| it.child(&entry.name));
        let old = old.filter(|it| it.is(entry.kind) && !self.changed.contains(&path)).cloned();
        let (rules, has_old_rules) = (here.rules.clone(), here.has_old_rules);
        let is_way = entry.kind == FileKind::Directory && self.is_way(&path);
        if let Some(old) = &old
            && has_old_rules
            && !is_way
        {
            return Some(Part::Ready(old.clone()));
        }
        if is_excluded(&rules, self.options.excludes(), &path, entry) {
            return None;
        }
        Some(match (entry.kind, old) {
            (FileKind::Directory, Some(Child::Directory(old))) => {
                Part::Stop(self.add_stop(path, Some(old), rules, has_old_rules))
            }
            (FileKind::Directory, _) => Part::Stop(self.add_stop(path, None, rules, false)),
            (FileKind::File | FileKind::Symlink, Some(old)) => Part::Ready(old),
            (FileKind::File, None) => self.add_job(Job::File(path)),
            (FileKind::Symlink, None) => self.add_job(Job::Symlink(path)),
            (FileKind::Other, _) => return None,
        })
    }

    fn add_job(&mut self, job: Job) -> Part {
        self.jobs.push(job);
        Part::Job(self.jobs.len() - 1)
    }

    /// Whether a path below `directory` is to be visited.
    fn is_way(&self, directory: &WorkspacePath) -> bool {
        let prefix = format!("{directory}/");
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        self.visited.range::<str, _>(from).next().is_some_and(|it| it.as_str().starts_with(&prefix))
    }
}

fn named((part, entry): (Part, Entry)) -> (Box<str>, Part) {
    (entry.name.into(), part)
}

impl Child {
    /// Whether the child can stand for an unchanged entry of this kind.
    fn is(&self, kind: FileKind) -> bool {
        match self {
            Self::File { .. } => kind == FileKind::File,
            Self::Symlink(_) => kind == FileKind::Symlink,
            Self::Directory(_) => kind == FileKind::Directory,
            // Always tried again.
            Self::Unreadable(_) => false,
        }
    }
}

/// The top directory of those that were looked at.
fn build(stops: Vec<Stop>, mut hashed: Vec<Option<Child>>) -> Arc<Directory> {
    let mut built: Vec<Option<Child>> = Vec::new();
    built.resize_with(stops.len(), || None);
    let mut top = None;
    for (index, stop) in stops.into_iter().enumerate().rev() {
        let take = |(name, part)| {
            let child = match part {
                Part::Ready(child) => Some(child),
                Part::Job(index) => hashed[index].take(),
                Part::Stop(index) => built[index].take(),
            };
            child.map(|it| (name, it))
        };
        let entries = stop.entries.into_iter().filter_map(take).collect();
        let directory = Arc::new(Directory::new(entries, stop.rules));
        built[index] = stop.failed.unwrap_or_else(|| Some(Child::Directory(directory.clone())));
        top = Some(directory);
    }
    top.expect("the root is always a stop, and the last one here")
}
