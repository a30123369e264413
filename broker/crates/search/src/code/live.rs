//! Chunks of texts that no segment has, remembered between searches.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};
use parking_lot::Mutex;

use super::learn::{Learned, Reader, Words};

/// Files and chunks that are remembered. Then all are forgotten at once.
const FILES: usize = 2_000;
const CHUNKS: usize = 20_000;

#[derive(Default)]
pub(super) struct Live {
    files: Mutex<HashMap<ContentHash, Arc<[Learned]>>>,
    chunks: Mutex<HashMap<ContentHash, Arc<Words>>>,
    learned: AtomicU64,
}

impl Live {
    /// Returns the number of chunks whose words were learned.
    pub(super) fn learned(&self) -> u64 {
        self.learned.load(Relaxed)
    }

    pub(super) fn read(
        &self,
        reader: &mut Reader,
        path: &WorkspacePath,
        bytes: &Bytes,
        hash: ContentHash,
    ) -> Arc<[Learned]> {
        if let Some(known) = self.files.lock().get(&hash) {
            return Arc::clone(known);
        }
        let known = |hash: ContentHash| {
            let known = self.chunks.lock().get(&hash).cloned();
            self.learned.fetch_add(u64::from(known.is_none()), Relaxed);
            known
        };
        let learned: Arc<[Learned]> = reader.read(path, bytes, hash, &known).into();
        let chunks = learned.iter().map(|it| (it.hash, Arc::clone(&it.words)));
        remember(&self.chunks, CHUNKS, chunks);
        remember(&self.files, FILES, [(hash, Arc::clone(&learned))]);
        learned
    }
}

fn remember<T>(
    all: &Mutex<HashMap<ContentHash, T>>,
    most: usize,
    new: impl IntoIterator<Item = (ContentHash, T)>,
) {
    let mut all = all.lock();
    if all.len() >= most {
        all.clear();
    }
    all.extend(new);
}
