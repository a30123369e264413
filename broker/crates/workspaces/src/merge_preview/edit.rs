//! Changed places of texts, and the words in them.

use std::collections::BTreeSet;

use overlay::{ChangedLines, FileKind, View, WorkspacePath};

/// Bytes of a text whose places are looked for.
const LARGEST: u64 = 1 << 20;

/// Bytes of a line that are shown.
const SHOWN: usize = 200;

/// Place of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPlace {
    pub path: WorkspacePath,
    /// Line in the branch's text, from 1; of what was removed, the line below it.
    pub line: u32,
    /// First line that was added there, or else that was removed.
    pub text: String,
}

/// A changed place of a text.
pub(super) struct Edit {
    pub(super) path: WorkspacePath,
    pub(super) lines: ChangedLines,
    /// Words of the lines that were added.
    pub(super) added: BTreeSet<String>,
    /// Words of the lines that were removed.
    pub(super) removed: BTreeSet<String>,
}

impl Edit {
    pub(super) fn new(path: WorkspacePath, lines: ChangedLines) -> Self {
        let (added, removed) = (words(&lines.added), words(&lines.removed));
        let owned = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
        let (added, removed) = (owned(added), owned(removed));
        Self { path, lines, added, removed }
    }

    pub(super) fn place(&self) -> EditPlace {
        let ChangedLines { line, removed, added } = &self.lines;
        let first = added.lines().chain(removed.lines()).find(|it| !it.trim().is_empty());
        EditPlace { path: self.path.clone(), line: *line, text: shown(first.unwrap_or_default()) }
    }
}

/// Identifiers of a text.
pub(super) fn words(text: &str) -> Vec<&str> {
    let is_other = |it: char| !(it.is_alphanumeric() || it == '_');
    let is_name = |it: &&str| it.starts_with(|it: char| it.is_alphabetic() || it == '_');
    text.split(is_other).filter(is_name).collect()
}

pub(super) fn shown(line: &str) -> String {
    let line = line.trim();
    let end = line.char_indices().map(|(at, _)| at).find(|it| *it >= SHOWN).unwrap_or(line.len());
    line[..end].to_owned()
}

/// A text that is not too large.
pub(crate) fn text(view: &dyn View, path: &WorkspacePath) -> Option<String> {
    let metadata = view.metadata(path).ok()?;
    if metadata.kind != FileKind::File || metadata.size > LARGEST {
        return None;
    }
    String::from_utf8(view.read(path).ok()?.to_vec()).ok()
}
