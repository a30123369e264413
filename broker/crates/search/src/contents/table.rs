//! Content that each file of the workspace's folder had at one moment.

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
};

use overlay::{ChangeLog, KeptWalk, Look, Moment, Tracked, View, WalkOptions, WorkspacePath, folder_walk};

use super::Document;

/// The folder at a moment, by the documents of a [`State`](super::State).
pub(crate) struct Table {
    log: Weak<dyn ChangeLog>,
    moment: Moment,
    options: WalkOptions,
    walk: KeptWalk,
    paths: Vec<WorkspacePath>,
    /// For each segment and document, the first of the paths that have it, and for each path the next one.
    first: Vec<Vec<u32>>,
    next: Vec<u32>,
    /// Paths without a known content, or of which a change would not be told. Sorted.
    unsure: Vec<WorkspacePath>,
}

const NONE: u32 = u32::MAX;

/// Difference of a view to a table.
pub(crate) struct Difference {
    pub(crate) now: KeptWalk,
    /// Files of the view to be looked at. Sorted.
    pub(crate) to_look_at: Vec<WorkspacePath>,
    /// Paths at which the table is not true of the view. Each stands for everything below it.
    pub(crate) not_true: HashSet<WorkspacePath>,
}

impl Table {
    /// The `documents` are those of the walk's files, in their order, by contents that were taken after the moment.
    pub(crate) fn new(
        tracked: &Tracked,
        (moment, walk): &(Moment, KeptWalk),
        options: &WalkOptions,
        paths: &[WorkspacePath],
        documents: &[Option<Document>],
    ) -> Self {
        let mut first: Vec<Vec<u32>> = Vec::new();
        let mut next = vec![NONE; paths.len()];
        let mut unsure = Vec::new();
        for (index, (path, document)) in (0_u32..).zip(paths.iter().zip(documents)) {
            match document.filter(|_| tracked.log.covers(Look::At(path))) {
                Some(Document { segment, number }) => {
                    let first = place(&mut first, segment.into(), number.into());
                    next[index as usize] = std::mem::replace(first, index);
                }
                None => unsure.push(path.clone()),
            }
        }
        Self {
            log: Arc::downgrade(&tracked.log),
            moment: *moment,
            options: options.clone(),
            walk: walk.clone(),
            paths: paths.to_vec(),
            first,
            next,
            unsure,
        }
    }

    /// Returns where a view over the same folder differs. `None` if that is not known.
    pub(crate) fn difference(
        &self,
        view: &dyn View,
        tracked: &Tracked,
        options: &WalkOptions,
    ) -> Option<Difference> {
        let is_same_log = std::ptr::addr_eq(Arc::as_ptr(&tracked.log), self.log.as_ptr());
        if !is_same_log || *options != self.options {
            return None;
        }
        let (_, folder) = folder_walk(tracked, options)?;
        let changed = tracked.log.changed_since(self.moment)?;
        let now = folder.updated(view, &tracked.edits, &*tracked.log);
        let (gone, mut to_look_at) = (self.walk.difference(&now), Vec::new());
        let mut not_true = HashSet::new();
        for path in changed.into_iter().chain(tracked.edits.iter().cloned()) {
            to_look_at.extend(now.files_at(&path));
            not_true.insert(path);
        }
        for path in gone {
            if now.has(&path) {
                to_look_at.push(path.clone());
            }
            not_true.insert(path);
        }
        to_look_at.extend(self.unsure.iter().filter(|it| !is_in(&not_true, it)).cloned());
        to_look_at.sort();
        to_look_at.dedup();
        Some(Difference { now, to_look_at, not_true })
    }

    /// The paths that have one of a segment's documents, as far as the table is true.
    pub(crate) fn paths<'a>(
        &'a self,
        segment: usize,
        documents: impl Iterator<Item = usize> + 'a,
        not_true: &'a HashSet<WorkspacePath>,
    ) -> impl Iterator<Item = &'a WorkspacePath> {
        let first = self.first.get(segment).map_or(&[][..], Vec::as_slice);
        let firsts = documents.filter_map(|it| first.get(it).copied());
        let next = |it: &u32| self.next.get(*it as usize).copied();
        let chain = move |first| std::iter::successors(Some(first), next).take_while(|it| *it != NONE);
        firsts.flat_map(chain).map(|it| &self.paths[it as usize]).filter(|it| !is_in(not_true, it))
    }
}

/// The entry of a document, which is made if there is none.
fn place(first: &mut Vec<Vec<u32>>, segment: usize, number: usize) -> &mut u32 {
    if first.len() <= segment {
        first.resize(segment + 1, Vec::new());
    }
    let numbers = &mut first[segment];
    if numbers.len() <= number {
        numbers.resize(number + 1, NONE);
    }
    &mut numbers[number]
}

/// Whether the path or a directory above it is in the set.
fn is_in(set: &HashSet<WorkspacePath>, path: &WorkspacePath) -> bool {
    let path = path.as_str();
    let is_above = |(end, _): (usize, char)| set.contains(&path[..end]);
    !set.is_empty()
        && (set.contains(path)
            || set.contains("")
            || path.char_indices().filter(|it| it.1 == '/').any(is_above))
}
