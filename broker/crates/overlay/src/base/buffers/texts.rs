//! The unsaved texts of each file, one for each editor that has it open, in the order in which they were typed in last.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use crate::{ContentHash, WorkspacePath};

/// An editor among those that have unsaved texts of one base.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditorId(pub Arc<str>);

/// Text of a file in one editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// `None` for a text that belongs to no editor in particular.
    pub(super) editor: Option<EditorId>,
    pub(super) bytes: Bytes,
    pub(super) hash: ContentHash,
}

/// Texts by the link-free place of the file. The last of each is shown; none is empty.
#[derive(Default)]
pub(super) struct Texts(BTreeMap<WorkspacePath, Vec<Text>>);

impl Texts {
    pub(super) fn shown(&self, place: &WorkspacePath) -> Option<&Text> {
        self.0.get(place)?.last()
    }

    /// Every shown text with its place.
    pub(super) fn all_shown(&self) -> impl Iterator<Item = (&WorkspacePath, &Text)> {
        self.0.iter().filter_map(|(place, texts)| Some((place, texts.last()?)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of all texts but that of `editor` for the file at `place`.
    pub(super) fn bytes_besides(&self, place: &WorkspacePath, editor: Option<&EditorId>) -> u64 {
        let is_other = |at: &WorkspacePath, it: &Text| at != place || it.editor.as_ref() != editor;
        let all = self.0.iter().flat_map(|(at, texts)| texts.iter().map(move |it| (at, it)));
        all.filter(|(at, it)| is_other(at, it)).map(|(_, it)| it.bytes.len() as u64).sum()
    }

    /// Whether a text of this editor would be shown.
    pub(super) fn would_show(
        &self,
        place: &WorkspacePath,
        editor: Option<&EditorId>,
        is_opened: bool,
    ) -> bool {
        !is_opened || self.shown(place).is_none_or(|it| it.editor.as_ref() == editor)
    }

    /// Puts the text in place of the editor's own. It is shown, unless it was only opened: then it keeps its rank, or gets
    /// the last.
    pub(super) fn put(&mut self, place: WorkspacePath, text: Text, is_opened: bool) {
        let texts = self.0.entry(place).or_default();
        let own = texts.iter().position(|it| it.editor == text.editor);
        match (own, is_opened) {
            (Some(at), true) => texts[at] = text,
            (None, true) => texts.insert(0, text),
            (own, false) => {
                own.map(|at| texts.remove(at));
                texts.push(text);
            }
        }
    }

    /// Takes the editor's text of the file away.
    pub(super) fn take(&mut self, place: &WorkspacePath, editor: Option<&EditorId>) {
        if let Some(texts) = self.0.get_mut(place) {
            texts.retain(|it| it.editor.as_ref() != editor);
            if texts.is_empty() {
                self.0.remove(place);
            }
        }
    }
}
