//! A trigram index of a workspace's folder, which makes [`grep`](crate::grep) fast and has no part in its answer.

use std::{io, path::Path};

use bytes::Bytes;
use overlay::{ContentHash, View, WorkspacePath};

use crate::{
    IndexOptions, IndexStats, Options, Progress, UpdateError,
    contents::{Contents, Kind},
    store::Mapped,
    trigram::{Builder, Extracted, Extractor, Segment},
};

/// The trigram index of one workspace. Searches go on while it is updated.
pub struct Index(pub(crate) Contents<Trigrams>);

/// Contents are known by their trigrams.
pub(crate) struct Trigrams;

impl Index {
    /// Opens the index in `folder`, which is made if it is not there. What is broken there is removed.
    pub fn open(folder: &Path, options: IndexOptions) -> io::Result<Self> {
        Contents::open(Trigrams, folder, options).map(Self)
    }

    pub fn stats(&self) -> IndexStats {
        self.0.stats()
    }

    /// Brings the index up to date with the folder that `view` lies over. Meant for a thread in the background: searches
    /// use what there is after each segment. A few new files make no segment; they are searched as long as they are few.
    pub fn update(
        &self,
        view: &dyn View,
        options: &Options<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<IndexStats, UpdateError> {
        self.0.update(view, options, progress)
    }
}

impl Kind for Trigrams {
    const ENDING: &'static str = "trigrams";
    const VERSION: u32 = 1;
    const LARGEST: usize = 16 << 20;

    type Reader = Extractor;
    type Document = Extracted;
    type Builder = Builder;
    type Segment = Segment;

    fn reader(&self) -> Extractor {
        Extractor::new()
    }

    fn read(reader: &mut Extractor, _: &WorkspacePath, bytes: &Bytes, _: ContentHash) -> Extracted {
        reader.extract(bytes)
    }

    fn add(builder: &mut Builder, hash: ContentHash, document: &Extracted) -> bool {
        builder.add(hash, document)
    }

    fn sections(builder: Builder) -> Vec<Vec<u8>> {
        builder.into_sections().into()
    }

    fn segment(file: Mapped) -> Option<Segment> {
        Segment::new(file)
    }

    fn file(segment: &Segment) -> &Mapped {
        segment.file()
    }

    fn hashes(segment: &Segment) -> Vec<ContentHash> {
        segment.hashes().collect()
    }
}

#[cfg(test)]
mod tests;
