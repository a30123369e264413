//! One branch of a preview: what it changed since the common ancestor.

use std::{
    collections::{BTreeSet, HashMap},
    io,
    sync::{Arc, LazyLock},
};

use imports::{Imports, Languages};
use overlay::{ChangeKind, Snapshot, View, WorkspacePath, changed_lines};
use parking_lot::Mutex;

use super::{
    Checked,
    change::FileNames,
    edit::{Edit, text},
    names::{NameCache, TextNames},
};

pub(super) struct Side {
    /// Place among the branches of the request.
    pub(super) number: usize,
    pub(super) id: String,
    pub(super) snapshot: Snapshot,
    /// Sorted.
    pub(super) writes: Vec<WorkspacePath>,
    pub(super) edits: Vec<Edit>,
    /// Changed files whose language is known.
    pub(super) files: Vec<FileNames>,
    /// Files that are deleted or moved, as far as others may import them.
    pub(super) gone: BTreeSet<WorkspacePath>,
    /// Files that are new.
    pub(super) come: BTreeSet<WorkspacePath>,
    pub(super) checked: Checked,
    /// Linters whose reads are not known, and whose answers may rest on something that the branch wrote.
    pub(super) untraced: BTreeSet<String>,
    known: Arc<Known>,
    /// Files that import a file, directly or through others.
    importers: Mutex<HashMap<WorkspacePath, BTreeSet<WorkspacePath>>>,
}

/// Contents that all branches of a preview share, parsed once.
#[derive(Default)]
pub(super) struct Known {
    pub(super) names: NameCache,
    imports: Imports,
}

impl Side {
    /// Reads and compares texts.
    pub(super) fn new(
        number: usize,
        id: String,
        snapshot: Snapshot,
        ancestor: &Snapshot,
        checked: Checked,
        known: &Arc<Known>,
    ) -> io::Result<Self> {
        let writes = snapshot.changed_paths(ancestor);
        let (mut edits, mut files) = (Vec::new(), Vec::new());
        let (mut gone, mut come) = (BTreeSet::new(), BTreeSet::new());
        for change in snapshot.changes(ancestor)? {
            let path = change.path;
            let origin = match change.kind {
                ChangeKind::Renamed { from } => from,
                _ => snapshot.came_from(&path),
            };
            let texts = [text(ancestor, &origin), text(&snapshot, &path)];
            if texts[0].is_some() && !is_there(&snapshot, &origin) {
                gone.insert(origin.clone());
            }
            if texts[1].is_some() && !is_there(ancestor, &path) {
                come.insert(path.clone());
            }
            let names = [(&origin, &texts[0]), (&path, &texts[1])];
            let names = names.map(|(path, text)| known.names.of(path, text.as_ref()?));
            let texts = texts.each_ref().map(|it| it.as_deref().unwrap_or_default());
            let places = changed_lines(texts[0], texts[1]);
            files.extend(FileNames::new([origin, path.clone()], texts, names, &places));
            edits.extend(places.into_iter().map(|it| Edit::new(path.clone(), it)));
        }
        FileNames::forget_moved(&mut files);
        gone.retain(|it| !is_package_there(&snapshot, it));
        let (known, importers, untraced) = (Arc::clone(known), Mutex::default(), BTreeSet::new());
        Ok(Self {
            number,
            id,
            snapshot,
            writes,
            edits,
            files,
            gone,
            come,
            checked,
            untraced,
            known,
            importers,
        })
    }

    /// Names of a file as the branch has it.
    pub(super) fn names(&self, path: &WorkspacePath) -> Option<Arc<TextNames>> {
        self.known.names.of(path, &text(&self.snapshot, path)?)
    }

    /// Whether a file imports another, directly or through others; true where imports of its language are not known.
    pub(super) fn imports(&self, path: &WorkspacePath, other: &WorkspacePath) -> bool {
        static LANGUAGES: LazyLock<Languages> =
            LazyLock::new(|| Languages::of(["py", "ts", "go", "rs", "c"]));
        if !LANGUAGES.have(path) {
            return true;
        }
        if let Some(known) = self.importers.lock().get(other) {
            return known.contains(path);
        }
        let changed = std::slice::from_ref(other);
        let all: BTreeSet<_> =
            self.known.imports.dependents(&LANGUAGES, &self.snapshot, changed).into_iter().collect();
        let is_one = all.contains(path);
        self.importers.lock().insert(other.clone(), all);
        is_one
    }

    /// Whether the branch changed the file, or something that holds it.
    pub(super) fn writes(&self, path: &WorkspacePath) -> bool {
        path.ancestors().any(|it| self.writes.binary_search(&it).is_ok())
    }
}

fn is_there(view: &dyn View, path: &WorkspacePath) -> bool {
    view.metadata(path).is_ok()
}

/// Whether a file of Go is of a package that has others.
fn is_package_there(view: &dyn View, path: &WorkspacePath) -> bool {
    let is_go = path.extension() == Some("go");
    let listing = path.parent().filter(|_| is_go).and_then(|it| view.list(&it).ok());
    listing.is_some_and(|it| it.entries.iter().any(|it| it.name.ends_with(".go")))
}
