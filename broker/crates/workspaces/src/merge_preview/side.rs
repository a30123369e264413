//! One branch of a preview: what it changed since the common ancestor.

use std::{
    collections::{BTreeSet, HashSet},
    io,
};

use overlay::{ChangedLines, FileKind, Snapshot, View, WorkspacePath, changed_lines};

use super::{
    Checked,
    definitions::{ChangedDefinition, changed_definitions},
};

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

pub(super) struct Side {
    pub(super) id: String,
    pub(super) snapshot: Snapshot,
    /// Sorted.
    pub(super) writes: Vec<WorkspacePath>,
    pub(super) edits: Vec<Edit>,
    pub(super) definitions: Vec<ChangedDefinition>,
    /// Names of definitions that files have and had not.
    pub(super) new_names: HashSet<String>,
    pub(super) checked: Checked,
    /// Linters whose reads are not known, and whose answers may rest on something that the branch wrote.
    pub(super) untraced: BTreeSet<String>,
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

impl Side {
    /// Reads and compares texts.
    pub(super) fn new(
        id: String,
        snapshot: Snapshot,
        ancestor: &Snapshot,
        checked: Checked,
    ) -> io::Result<Self> {
        let writes = snapshot.changed_paths(ancestor);
        let (mut edits, mut definitions, mut new_names) = (Vec::new(), Vec::new(), HashSet::new());
        for change in snapshot.changes(ancestor)? {
            let path = change.path;
            let before = text(ancestor, &snapshot.came_from(&path)).unwrap_or_default();
            let after = text(&snapshot, &path).unwrap_or_default();
            let places = changed_lines(&before, &after);
            edits.extend(places.into_iter().map(|it| Edit::new(path.clone(), it)));
            definitions.extend(changed_definitions(&path, &before, &after, &mut new_names));
        }
        Ok(Self { id, snapshot, writes, edits, definitions, new_names, checked, untraced: BTreeSet::new() })
    }

    /// Whether the branch changed the file, or something that holds it.
    pub(super) fn writes(&self, path: &WorkspacePath) -> bool {
        path.ancestors().any(|it| self.writes.binary_search(&it).is_ok())
    }
}

impl Edit {
    fn new(path: WorkspacePath, lines: ChangedLines) -> Self {
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

    /// The place of the line that has `word`.
    pub(super) fn place_of(&self, word: &str) -> EditPlace {
        let lines = self.lines.added.lines().zip(self.lines.line..);
        let found = lines.into_iter().find(|(text, _)| words(text).contains(&word));
        let place = |(text, line)| EditPlace { path: self.path.clone(), line, text: shown(text) };
        found.map_or_else(|| self.place(), place)
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
