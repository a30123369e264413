//! The text that findings are about, read once more for the formats that show or measure it.

use bytes::Bytes;
use check_engine::Finding;
use overlay::{ContentHash, View, WorkspacePath};

/// A file's text as it is now.
pub(super) struct Text {
    pub(super) bytes: Bytes,
    hash: ContentHash,
}

impl Text {
    pub(super) fn open(view: &dyn View, path: &WorkspacePath) -> Option<Self> {
        let bytes = view.open(path).ok()?;
        Some(Self { hash: ContentHash::of(&bytes), bytes })
    }

    /// Whether the text is still the one that the finding's linter saw.
    pub(super) fn is_that_of(&self, finding: &Finding) -> bool {
        finding.file.content.is_none_or(|it| it == self.hash)
    }
}
