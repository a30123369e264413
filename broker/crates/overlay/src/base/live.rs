//! The disk as it is now, with what was read before kept for as long as a stat bears it out.

use std::{collections::HashSet, io, sync::Arc, time::SystemTime};

use bytes::Bytes;
use parking_lot::Mutex;
use quick_cache::{Weighter, sync::Cache};

use crate::{
    ContentHash, Disk, FileHash, Listing, Metadata, View, WorkspacePath,
    disk::{Stamp, Stamped},
    view::hash_within,
};

/// Files whose hash is kept, and entries of listings, together.
const MAX_KNOWN: u64 = 1_000_000;

/// A file that changes at every look is given as it was at the last.
const MAX_TRIES: u32 = 4;

/// Number of files for which a table is sized at the start; it grows as it must.
const USUAL_FILES: usize = 10_000;

pub(super) struct Live {
    disk: Disk,
    known: Cache<WorkspacePath, Known, ByEntries>,
    /// Texts by hash, so that equal files are one text, whatever their names.
    texts: Cache<ContentHash, Bytes, ByBytes>,
    /// Files that had another name when they were read.
    with_other_names: Mutex<HashSet<WorkspacePath>>,
}

/// Fact read at a path, with the stamp that the path had then.
#[derive(Clone)]
struct Known {
    stamp: Stamp,
    fact: Fact,
}

#[derive(Clone)]
enum Fact {
    File(ContentHash),
    Directory(Arc<Listing>),
}

#[derive(Clone)]
struct ByEntries;

impl Weighter<WorkspacePath, Known> for ByEntries {
    fn weight(&self, _: &WorkspacePath, known: &Known) -> u64 {
        match &known.fact {
            Fact::File(_) => 1,
            Fact::Directory(listing) => 1 + listing.entries.len() as u64,
        }
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<ContentHash, Bytes> for ByBytes {
    /// An empty text still takes a place.
    fn weight(&self, _: &ContentHash, text: &Bytes) -> u64 {
        text.len() as u64 + size_of::<(ContentHash, Bytes)>() as u64
    }
}

impl Live {
    pub(super) fn new(disk: Disk, text_budget: u64) -> Self {
        let known = Cache::with_weighter(USUAL_FILES, MAX_KNOWN, ByEntries);
        let texts = Cache::with_weighter(USUAL_FILES, text_budget, ByBytes);
        Self { disk, known, texts, with_other_names: Mutex::default() }
    }

    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Returns the cached fact of `path`, if its stamp is unchanged.
    fn known(&self, path: &WorkspacePath) -> io::Result<Option<Fact>> {
        let Some(known) = self.known.get(path) else { return Ok(None) };
        Ok((self.disk.stamp(path)? == known.stamp).then_some(known.fact))
    }

    fn load(&self, path: &WorkspacePath) -> io::Result<(Bytes, FileHash)> {
        let rest = at_rest(|| self.disk.read_stamped(path))?;
        let hash = ContentHash::of(&rest.value);
        self.note_names(path, rest.stamp);
        if rest.is_settled {
            self.learn(path.clone(), rest.stamp, hash);
        }
        Ok((rest.value, FileHash { hash, executable: rest.stamp.metadata().executable }))
    }

    /// The hash alone, whatever the size: who hashes a whole tree would fill the memory with its texts.
    fn load_hash(&self, path: &WorkspacePath) -> io::Result<FileHash> {
        let rest = at_rest(|| self.disk.hash_stamped(path))?;
        let hash = rest.value;
        self.note_names(path, rest.stamp);
        if rest.is_settled {
            self.learn(path.clone(), rest.stamp, hash);
        }
        Ok(FileHash { hash, executable: rest.stamp.metadata().executable })
    }

    /// Loads the hashes of many files of one directory, of at most `largest` bytes each.
    fn load_hashes(
        &self,
        directory: &WorkspacePath,
        names: &[&str],
        largest: u64,
    ) -> Vec<io::Result<FileHash>> {
        let now = SystemTime::now();
        let read = self.disk.hashes_stamped(directory, names, largest);
        let hash = |(name, read): (&&str, io::Result<Stamped<ContentHash>>)| {
            let Stamped { value: hash, before, after } = read?;
            let path = directory.child(name);
            if before != after {
                return hash_within(self, &path, largest);
            }
            self.note_names(&path, after);
            if after.is_settled(now) {
                self.learn(path, after, hash);
            }
            Ok(FileHash { hash, executable: after.metadata().executable })
        };
        names.iter().zip(read).map(hash).collect()
    }

    fn learn(&self, path: WorkspacePath, stamp: Stamp, hash: ContentHash) {
        self.known.insert(path, Known { stamp, fact: Fact::File(hash) });
    }

    fn note_names(&self, path: &WorkspacePath, stamp: Stamp) {
        if stamp.has_other_names() {
            self.with_other_names.lock().insert(path.clone());
        }
    }

    /// Whether the file may have further hard links under which it is written, according to the reads so far.
    pub(super) fn has_other_names(&self, path: &WorkspacePath) -> bool {
        self.with_other_names.lock().contains(path)
    }

    /// The one text of this hash.
    fn share(&self, hash: ContentHash, bytes: Bytes) -> Bytes {
        self.texts.get(&hash).unwrap_or_else(|| {
            self.texts.insert(hash, bytes.clone());
            bytes
        })
    }

    fn load_listing(&self, path: &WorkspacePath) -> io::Result<Listing> {
        let rest = at_rest(|| self.disk.list_stamped(path))?;
        if rest.is_settled {
            let fact = Fact::Directory(Arc::new(rest.value.clone()));
            self.known.insert(path.clone(), Known { stamp: rest.stamp, fact });
        }
        Ok(rest.value)
    }
}

/// A value that was read, with the stamp of its file.
struct AtRest<T> {
    value: T,
    stamp: Stamp,
    /// Whether the stamp suffices to recognise the file from now on.
    is_settled: bool,
}

/// Reads again while something changes during the read.
fn at_rest<T>(read: impl Fn() -> io::Result<Stamped<T>>) -> io::Result<AtRest<T>> {
    let mut tries = 0;
    loop {
        tries += 1;
        // The clock first: what settled before it can only be changed after it.
        let now = SystemTime::now();
        let Stamped { value, before, after } = read()?;
        let is_settled = before == after && before.is_settled(now);
        if before == after || tries == MAX_TRIES {
            return Ok(AtRest { value, stamp: after, is_settled });
        }
    }
}

impl View for Live {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.read_hashed(path).map(|(bytes, _)| bytes)
    }

    fn read_hashed(&self, path: &WorkspacePath) -> io::Result<(Bytes, ContentHash)> {
        match self.known(path)? {
            Some(Fact::File(hash)) if let Some(text) = self.texts.get(&hash) => Ok((text, hash)),
            _ => self.load(path).map(|(bytes, it)| (self.share(it.hash, bytes), it.hash)),
        }
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        match self.known(path)? {
            Some(Fact::File(hash)) => Ok(hash),
            _ => self.load_hash(path).map(|it| it.hash),
        }
    }

    fn hash_all(&self, directory: &WorkspacePath, names: &[&str], largest: u64) -> Vec<io::Result<FileHash>> {
        // A single buffer for all look-ups: a new path for each file would take longer than to find it.
        let mut path = directory.as_str().to_owned();
        if !path.is_empty() {
            path.push('/');
        }
        let prefix = path.len();
        let known = |name: &&str| {
            path.truncate(prefix);
            path.push_str(name);
            self.known.get(path.as_str())
        };
        let known: Vec<_> = names.iter().map(known).collect();
        // Uncached files are read anyway, and need no `stat` before.
        let to_stamp = names.iter().zip(&known).filter(|(_, known)| known.is_some());
        let mut stamps =
            self.disk.stamps(directory, &to_stamp.map(|(name, _)| *name).collect::<Vec<_>>()).into_iter();
        let mut still = |known: Known| match (stamps.next()?, known) {
            (Ok(stamp), Known { stamp: then, fact: Fact::File(hash) }) if stamp == then => {
                Some(FileHash { hash, executable: stamp.metadata().executable })
            }
            _ => None,
        };
        let known: Vec<_> = known.into_iter().map(|it| it.and_then(&mut still)).collect();
        let to_read = names.iter().zip(&known).filter(|(_, known)| known.is_none());
        let read = self.load_hashes(directory, &to_read.map(|(name, _)| *name).collect::<Vec<_>>(), largest);
        let mut read = read.into_iter();
        known.into_iter().filter_map(|known| known.map(Ok).or_else(|| read.next())).collect()
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.disk.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        match self.known(path)? {
            Some(Fact::Directory(listing)) => Ok(Listing::clone(&listing)),
            _ => self.load_listing(path),
        }
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.disk.read_link(path)
    }
}

#[cfg(test)]
mod tests;
