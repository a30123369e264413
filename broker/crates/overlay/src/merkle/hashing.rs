//! Hashes of entries and directories.

use std::{
    io, iter,
    num::NonZero,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use super::{Child, Directory};
use crate::{ContentHash, View, WorkspacePath, walk::Rules};

/// Number of jobs that a thread takes at a time.
const PORTION: usize = 32;

/// A file or link to be hashed.
pub(super) enum Job {
    File(WorkspacePath),
    Symlink(WorkspacePath),
}

impl Job {
    fn path(&self) -> &WorkspacePath {
        match self {
            Self::File(path) | Self::Symlink(path) => path,
        }
    }

    /// The directory of a file: its files are hashed together.
    fn file_in(&self) -> Option<&str> {
        match self {
            Self::File(path) => Some(path.as_str().rsplit_once('/').map_or("", |(directory, _)| directory)),
            Self::Symlink(_) => None,
        }
    }
}

/// The hash of each, `None` for what went away, in the order of `jobs`.
pub(super) fn hash_all(view: &dyn View, jobs: &[Job]) -> io::Result<Vec<Option<Child>>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len().div_ceil(PORTION));
    if threads <= 1 {
        return hash_some(view, jobs);
    }
    let next = AtomicUsize::new(0);
    let portions = thread::scope(|scope| {
        let work = || portions(jobs.len(), &next).map(|it| (it.start, hash_some(view, &jobs[it]))).collect();
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(join).collect::<Vec<Vec<_>>>()
    });
    in_order(portions.into_iter().flatten().collect())
}

type Portion = (usize, io::Result<Vec<Option<Child>>>);

/// Yields portions of jobs that no other thread has taken.
fn portions(jobs: usize, next: &AtomicUsize) -> impl Iterator<Item = Range<usize>> {
    iter::from_fn(move || {
        let start = next.fetch_add(PORTION, Ordering::Relaxed);
        (start < jobs).then(|| start..(start + PORTION).min(jobs))
    })
}

fn hash_some(view: &dyn View, jobs: &[Job]) -> io::Result<Vec<Option<Child>>> {
    let mut children = Vec::with_capacity(jobs.len());
    for together in jobs.chunk_by(|a, b| a.file_in().is_some() && a.file_in() == b.file_in()) {
        match &together[0] {
            Job::File(first) => {
                let directory = first.parent().unwrap_or_else(WorkspacePath::root);
                let names: Vec<_> = together.iter().filter_map(|it| it.path().file_name()).collect();
                for hashed in view.hash_all(&directory, &names, u64::MAX) {
                    let file = hashed.map(|it| Child::File { hash: it.hash, executable: it.executable });
                    children.push(file.map(Some).or_else(unreadable)?);
                }
            }
            Job::Symlink(path) => {
                let link = view.read_link(path).map(|it| Child::Symlink(ContentHash::of(it.as_bytes())));
                children.push(link.map(Some).or_else(unreadable)?);
            }
        }
    }
    Ok(children)
}

fn join(worker: thread::ScopedJoinHandle<'_, Vec<Portion>>) -> Vec<Portion> {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn in_order(mut portions: Vec<Portion>) -> io::Result<Vec<Option<Child>>> {
    portions.sort_unstable_by_key(|(start, _)| *start);
    let mut children = Vec::new();
    for (_, portion) in portions {
        children.extend(portion?);
    }
    Ok(children)
}

/// Converts an error into the tree's entry: none if it is missing, else an unreadable one. Other errors are passed on.
pub(super) fn unreadable(error: io::Error) -> io::Result<Option<Child>> {
    use io::ErrorKind::{
        FileTooLarge, InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        Unsupported,
    };
    match error.kind() {
        NotFound => Ok(None),
        kind @ (FileTooLarge | InvalidData | InvalidInput | IsADirectory | NotADirectory
        | PermissionDenied | Unsupported) => Ok(Some(Child::Unreadable(kind))),
        _ => Err(error),
    }
}

impl Directory {
    pub(super) fn new(entries: Vec<(Box<str>, Child)>, rules: Rules) -> Self {
        let mut text = Vec::new();
        for (name, child) in &entries {
            text.push(child.tag());
            text.extend_from_slice(name.as_bytes());
            // No name contains it.
            text.push(0);
            text.extend_from_slice(child.hash().as_bytes());
        }
        Self { hash: ContentHash::of(&text), entries, rules }
    }
}

impl Child {
    pub(super) fn tag(&self) -> u8 {
        match self {
            Self::File { executable: false, .. } => 0,
            Self::File { executable: true, .. } => 1,
            Self::Symlink(_) => 2,
            Self::Directory(_) => 3,
            Self::Unreadable(_) => 4,
        }
    }

    pub(super) fn hash(&self) -> ContentHash {
        match self {
            Self::File { hash, .. } | Self::Symlink(hash) => *hash,
            Self::Directory(directory) => directory.hash,
            Self::Unreadable(kind) => ContentHash::of(kind.to_string().as_bytes()),
        }
    }
}
