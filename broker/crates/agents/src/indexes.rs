//! The search indexes of workspaces: opened when first asked for, and kept up to date beside what is asked.
//!
//! Answers do not wait for an index, and are the same without one.

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use config::folders;
use dashmap::DashMap;
use overlay::{View, WalkOptions};
use parking_lot::Mutex;
use search::{CodeIndex, Index, IndexOptions, Options};

/// All indexes, by the handle of their workspace.
#[derive(Default)]
pub(crate) struct Indexes {
    /// Folder of the indexes; nothing is indexed without one.
    folder: Option<PathBuf>,
    open: DashMap<String, Arc<WorkspaceIndexes>>,
}

/// The indexes of one workspace.
pub(crate) struct WorkspaceIndexes {
    trigrams: Option<Index>,
    /// Opened when it is first asked for: most agents never do.
    code: OnceLock<Option<CodeIndex>>,
    folder: Option<PathBuf>,
    updates: [Update; 2],
}

/// When an index was brought up to date last.
#[derive(Default)]
struct Update {
    is_under_way: AtomicBool,
    last: Mutex<Option<Instant>>,
}

/// Time after which an index is brought up to date when it is used.
const OLD: Duration = Duration::from_secs(30);

/// Threads of one search.
pub(crate) const THREADS: usize = 2;

/// Bytes that an index may take, about. A workspace has one of trigrams and one of code.
pub fn index_limit() -> u64 {
    IndexOptions::default().max_bytes
}

impl Indexes {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, open: DashMap::new() }
    }

    /// The indexes of a workspace. Blocks.
    pub(crate) fn of(&self, workspace: &str) -> Arc<WorkspaceIndexes> {
        let kept = self.open.entry(workspace.to_owned()).or_insert_with(|| {
            let folder = self.folder.as_ref().map(|it| it.join(workspace));
            Arc::new(WorkspaceIndexes::open(folder))
        });
        Arc::clone(&kept)
    }
}

impl WorkspaceIndexes {
    /// An index that cannot be opened is done without.
    fn open(folder: Option<PathBuf>) -> Self {
        let trigrams = folder.as_ref().and_then(|it| Index::open(it, IndexOptions::default()).ok());
        Self { trigrams, code: OnceLock::new(), folder, updates: Default::default() }
    }

    /// The index of trigrams, which is brought up to date in the background with what `view` lies over.
    pub(crate) fn trigrams(self: &Arc<Self>, view: &Arc<dyn View>) -> Option<&Index> {
        if self.trigrams.is_some() {
            self.update(0, view, |own, view, options| {
                let _unfinished = own.trigrams.as_ref().map(|it| it.update(view, options, &|_| ()));
            });
        }
        self.trigrams.as_ref()
    }

    /// The index of code, likewise.
    pub(crate) fn code(self: &Arc<Self>, view: &Arc<dyn View>) -> Option<&CodeIndex> {
        let open = || CodeIndex::open(self.folder.as_ref()?, IndexOptions::default()).ok();
        let index = self.code.get_or_init(open).as_ref()?;
        self.update(1, view, |own, view, options| {
            let index = own.code.get().and_then(Option::as_ref);
            let _unfinished = index.map(|it| it.update(view, options, &|_| ()));
        });
        Some(index)
    }

    fn update(
        self: &Arc<Self>,
        number: usize,
        view: &Arc<dyn View>,
        update: fn(&Self, &dyn View, &Options<'_>),
    ) {
        let state = &self.updates[number];
        let last = *state.last.lock();
        let is_new = last.is_some_and(|it| it.elapsed() < OLD);
        if is_new || state.is_under_way.swap(true, Relaxed) {
            return;
        }
        let (own, view) = (Arc::clone(self), Arc::clone(view));
        tokio::task::spawn_blocking(move || {
            // Also if it panics: the next use tries again.
            let _ends = Ends(&own.updates[number]);
            let (walk, never) = (walk_options(), || false);
            update(&own, &*view, &Options { walk: &walk, threads: 1, cancel: &never });
        });
    }
}

/// Notes that an update has ended.
struct Ends<'a>(&'a Update);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        *self.0.last.lock() = Some(Instant::now());
        self.0.is_under_way.store(false, Relaxed);
    }
}

/// Options to walk the files that agents search: the ones that ripgrep would search.
pub(crate) fn walk_options() -> WalkOptions {
    search::walk_options(folders::global_excludes())
}
