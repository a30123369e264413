//! Unsaved texts: a branch over the live disk, of which readers see one snapshot after the other.
//!
//! If several editors have a file open, the branch has the text of the one that typed last.

mod texts;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;
use parking_lot::Mutex;

pub use self::texts::EditorId;
use self::texts::{Text, Texts};
use crate::{Branch, ContentHash, EditError, FileKind, Snapshot, View, WorkspacePath};

/// Bytes of all unsaved texts of a workspace, those that are hidden among them.
const MAX_BYTES: u64 = 256 << 20;

/// Error of laying a text over a path; the causes are those of an edit.
pub type BufferError = EditError;

/// An unsaved text as an editor sends it.
#[derive(Debug, Clone)]
pub struct BufferText {
    /// `None` for a text that belongs to no editor in particular.
    pub editor: Option<EditorId>,
    pub path: WorkspacePath,
    pub bytes: Bytes,
    /// Whether the text was only opened, not typed: it then hides no other editor's text. If it is the disk's text,
    /// the disk shows through, whatever it has later.
    pub is_opened: bool,
}

/// Result of setting a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetBuffer {
    pub hash: ContentHash,
    /// Whether another editor's text is shown.
    pub is_hidden: bool,
    pub change: Option<BufferChange>,
}

/// Result of closing a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedBuffer {
    /// Whether the editor had a text open at that path.
    pub was_open: bool,
    pub change: Option<BufferChange>,
}

/// A change of the text shown for a file, or of the editor whose text it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferChange {
    /// Path of the file, links followed.
    pub place: WorkspacePath,
    /// `None` if the disk's is.
    pub shown: Option<ShownText>,
    /// Whether the content differs from the one shown before, too.
    pub is_other_content: bool,
}

/// An unsaved text that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownText {
    pub editor: Option<EditorId>,
    pub hash: ContentHash,
}

pub(super) struct Buffers {
    disk: Arc<dyn View>,
    open: Mutex<Open>,
    /// Snapshot for readers. `None` as long as there are no buffers, so that those cost nothing.
    current: ArcSwapOption<Snapshot>,
}

struct Open {
    /// The link-free place of each path that an editor opened.
    places: BTreeMap<(Option<EditorId>, WorkspacePath), WorkspacePath>,
    texts: Texts,
    /// Branch with the texts that are shown.
    branch: Branch,
}

impl Buffers {
    pub(super) fn new(disk: Arc<dyn View>) -> Self {
        let branch = Branch::new(disk.clone());
        let open = Mutex::new(Open { places: BTreeMap::new(), texts: Texts::default(), branch });
        Self { disk, open, current: ArcSwapOption::empty() }
    }

    pub(super) fn current(&self) -> Guard<Option<Arc<Snapshot>>> {
        self.current.load()
    }

    pub(super) fn set(&self, it: BufferText) -> Result<SetBuffer, BufferError> {
        let BufferText { editor, path, bytes, is_opened } = it;
        let mut open = self.open.lock();
        let (place, branch) = open.with(editor.as_ref(), &path, &bytes, is_opened)?;
        let others = open.texts.bytes_besides(&place, editor.as_ref());
        expect_room(others + bytes.len() as u64)?;
        let hash = ContentHash::of(&bytes);
        open.places.insert((editor.clone(), path), place.clone());
        let is_saved = is_opened && self.disk.hash(&place).is_ok_and(|it| it == hash);
        let change = if is_saved {
            self.take(&mut open, editor.as_ref(), [place.clone()].into()).pop()
        } else {
            let before = open.shown(&place);
            open.texts.put(place.clone(), Text { editor: editor.clone(), bytes, hash }, is_opened);
            self.show(&mut open, branch);
            BufferChange::between(place.clone(), before, open.shown(&place))
        };
        let is_hidden = open.shown(&place).is_some_and(|it| it.editor != editor);
        Ok(SetBuffer { hash, is_hidden, change })
    }

    pub(super) fn close(&self, editor: Option<&EditorId>, path: &WorkspacePath) -> ClosedBuffer {
        let mut open = self.open.lock();
        let Some(place) = open.places.remove(&(editor.cloned(), path.clone())) else {
            return ClosedBuffer { was_open: false, change: None };
        };
        let is_open_elsewhere = open.places_of(editor).any(|it| *it == place);
        let places = if is_open_elsewhere { BTreeSet::new() } else { [place].into() };
        ClosedBuffer { was_open: true, change: self.take(&mut open, editor, places).pop() }
    }

    /// Takes all texts of the editor away.
    pub(super) fn close_all(&self, editor: &EditorId) -> Vec<BufferChange> {
        let mut open = self.open.lock();
        let places = open.places_of(Some(editor)).cloned().collect();
        open.places.retain(|(it, _), _| it.as_ref() != Some(editor));
        self.take(&mut open, Some(editor), places)
    }

    fn take(
        &self,
        open: &mut Open,
        editor: Option<&EditorId>,
        places: BTreeSet<WorkspacePath>,
    ) -> Vec<BufferChange> {
        let mut changes = Vec::new();
        for place in places {
            let before = open.shown(&place);
            open.texts.take(&place, editor);
            let after = open.shown(&place);
            changes.extend(BufferChange::between(place, before, after));
        }
        // A branch cannot take an edit back, so those that are shown are made anew.
        let branch = (!changes.is_empty()).then(|| open.again(Branch::new(self.disk.clone())));
        self.show(open, branch);
        changes
    }

    pub(super) fn editor_of(&self, place: &WorkspacePath) -> Option<EditorId> {
        self.open.lock().shown(place)?.editor
    }

    pub(super) fn list(&self) -> Vec<(WorkspacePath, ContentHash)> {
        let open = self.open.lock();
        open.texts.all_shown().map(|(place, text)| (place.clone(), text.hash)).collect()
    }

    /// Shows the texts as they are now, on another branch if there is one.
    fn show(&self, open: &mut Open, branch: Option<Branch>) {
        if let Some(branch) = branch {
            open.branch = branch;
        }
        let snapshot = (!open.texts.is_empty()).then(|| Arc::new(open.branch.snapshot()));
        self.current.store(snapshot);
    }
}

fn expect_room(bytes: u64) -> Result<(), BufferError> {
    if bytes > MAX_BYTES { Err(EditError::BuffersFull { bytes, limit: MAX_BYTES }) } else { Ok(()) }
}

impl BufferChange {
    fn between(place: WorkspacePath, before: Option<ShownText>, shown: Option<ShownText>) -> Option<Self> {
        let is_other = before != shown;
        let is_other_content = before.map(|it| it.hash) != shown.as_ref().map(|it| it.hash);
        is_other.then_some(Self { place, shown, is_other_content })
    }
}

impl Open {
    /// The place of the text, and the branch with it, if it is shown.
    fn with(
        &self,
        editor: Option<&EditorId>,
        path: &WorkspacePath,
        bytes: &Bytes,
        is_opened: bool,
    ) -> Result<(WorkspacePath, Option<Branch>), BufferError> {
        let mut branch = self.branch.clone();
        let place = match self.places.get(&(editor.cloned(), path.clone())) {
            Some(place) => {
                branch.write(place, bytes.clone())?;
                place.clone()
            }
            None => {
                branch.write(path, bytes.clone())?;
                // Now that the file is there, it tells where the links led.
                let place = branch.snapshot().resolve(path);
                place.map_err(|source| EditError::Unreachable { path: path.clone(), source })?
            }
        };
        // Texts of the past would stay in memory.
        branch.forget_history();
        let is_shown = self.texts.would_show(&place, editor, is_opened);
        Ok((place, is_shown.then_some(branch)))
    }

    fn shown(&self, place: &WorkspacePath) -> Option<ShownText> {
        let it = self.texts.shown(place)?;
        Some(ShownText { editor: it.editor.clone(), hash: it.hash })
    }

    fn places_of(&self, editor: Option<&EditorId>) -> impl Iterator<Item = &WorkspacePath> {
        self.places.iter().filter(move |((it, _), _)| it.as_ref() == editor).map(|(_, place)| place)
    }

    /// The shown texts of all places, on a new branch.
    fn again(&self, mut branch: Branch) -> Branch {
        for (place, text) in self.texts.all_shown() {
            // The write finds its way cleared, so it cannot fail; should the disk be unreadable there, the disk is what is
            // left to show.
            clear_the_way(&mut branch, place);
            let _ = branch.write(place, text.bytes.clone());
        }
        branch.forget_history();
        branch
    }
}

/// Hides what came to stand in the way of a buffer since it was opened: a buffer goes before the disk.
fn clear_the_way(branch: &mut Branch, place: &WorkspacePath) {
    let mut way: Vec<_> = place.ancestors().filter(|it| !it.is_root()).collect();
    while let Some(here) = way.pop() {
        let fits = if way.is_empty() { FileKind::File } else { FileKind::Directory };
        match branch.snapshot().metadata(&here) {
            Ok(metadata) if metadata.kind == fits => {}
            Ok(_) => drop(branch.remove(&here)),
            Err(_) => return,
        }
    }
}
