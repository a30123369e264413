//! The parent's side of a comparison: what the same question finds there, and where its files are now.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, mpsc},
};

use lint::Unit;
use overlay::{Change, ChangeKind, FileState, Revision, Snapshot, View, WorkspacePath};
use scheduler::Inherited;

use super::{
    Daemon, DaemonError,
    checks::{Ask, refused, wanted},
    judge::Judge,
    similar,
};
use crate::check::{FileAnswers, Files, Listener, Router, Wanted};

pub(super) struct Parent<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) answers: Answers,
}

/// What the linters say of the parent.
pub(super) struct Answers {
    pub(super) files: BTreeMap<WorkspacePath, FileAnswers>,
    /// Where files of the branch were in the parent, if elsewhere.
    pub(super) moved: HashMap<WorkspacePath, WorkspacePath>,
    /// What was seen meanwhile, for a check of the branch.
    pub(super) seen: Arc<Inherited>,
}

impl Answers {
    /// The parent's answers for a file of the branch.
    pub(super) fn take(&mut self, path: &WorkspacePath) -> Option<FileAnswers> {
        self.files.remove(self.moved.get(path).unwrap_or(path))
    }

    /// What no file of the branch stands for. A file that left the paths that were asked about is not gone.
    pub(super) fn into_gone(self, asked: &[WorkspacePath]) -> impl Iterator<Item = FileAnswers> {
        let left = |new: &WorkspacePath| !asked.is_empty() && !asked.iter().any(|it| new.starts_with(it));
        let left: BTreeSet<_> =
            self.moved.into_iter().filter(|(new, _)| left(new)).map(|(_, old)| old).collect();
        self.files.into_iter().filter(move |(path, _)| !left.contains(path)).map(|(_, it)| it)
    }
}

impl Daemon {
    /// What the linters say of the parent `before` of `snapshot`, for the same question.
    pub(super) async fn parents_answers(
        self: &Arc<Self>,
        ask: &Ask,
        snapshot: &Snapshot,
        before: &Snapshot,
        revision: Revision,
    ) -> Result<Answers, DaemonError> {
        let moved = moved(snapshot.clone(), before.clone()).await?;
        let view: Arc<dyn View> = Arc::new(before.clone());
        let (seen, parts) = mpsc::channel();
        let mut gathered = Gathered::default();
        let elsewhere = units_elsewhere(&ask.paths, &moved);
        for wanted in [Some(wanted(&*view, ask)), elsewhere].into_iter().flatten() {
            let mut inquiry = self.inquiry(ask, Arc::clone(&view), revision, wanted);
            inquiry.seen = Some(seen.clone());
            self.engine.answer(&Arc::new(inquiry), &mut gathered).await.map_err(refused)?;
        }
        let seen = Inherited::new(parts.try_iter().collect(), &snapshot.changed_paths(before));
        Ok(Answers { files: gathered.0, moved, seen: Arc::new(seen) })
    }
}

/// What was asked about in the branch, and lay elsewhere in the parent.
fn units_elsewhere(asked: &[WorkspacePath], moved: &HashMap<WorkspacePath, WorkspacePath>) -> Option<Wanted> {
    let is_asked = |path: &WorkspacePath| asked.iter().any(|it| path.starts_with(it));
    let unit = |(new, old): (&WorkspacePath, &WorkspacePath)| {
        let named = if asked.contains(new) { old.clone() } else { WorkspacePath::root() };
        (is_asked(new) && !is_asked(old)).then(|| Unit { path: old.clone(), named })
    };
    let mut units: Vec<_> = moved.iter().filter_map(unit).collect();
    units.sort_by(|a, b| a.path.cmp(&b.path));
    (!units.is_empty()).then(|| Wanted::Files(Files { units, ..Files::default() }))
}

/// Where files were before, if elsewhere: those of the same text, and those of much the same.
async fn moved(
    snapshot: Snapshot,
    before: Snapshot,
) -> Result<HashMap<WorkspacePath, WorkspacePath>, DaemonError> {
    // Reads the base, and compares texts.
    let work = tokio::task::spawn_blocking(move || {
        let changes = snapshot.changes(&before)?;
        Ok(moved_among(changes, &snapshot, &before))
    });
    let done = work.await.map_err(|error| DaemonError::Bug(format!("a comparison broke off: {error}")))?;
    done.map_err(|source| DaemonError::Io { message: "the workspace cannot be read".to_owned(), source })
}

fn moved_among(
    changes: Vec<Change>,
    snapshot: &Snapshot,
    before: &Snapshot,
) -> HashMap<WorkspacePath, WorkspacePath> {
    let (mut moved, mut gone, mut come) = (HashMap::new(), Vec::new(), Vec::new());
    for Change { path, kind, before, after } in changes {
        let is_file = |it: &Option<FileState>| matches!(it, Some(FileState::File { .. }));
        match kind {
            ChangeKind::Renamed { from } => _ = moved.insert(path, from),
            ChangeKind::Deleted if is_file(&before) => gone.push(path),
            ChangeKind::Added if is_file(&after) => come.push(path),
            _ => {}
        }
    }
    moved.extend(similar::pairs(before, gone, snapshot, come));
    moved
}

#[derive(Default)]
struct Gathered(BTreeMap<WorkspacePath, FileAnswers>);

impl Listener for Gathered {
    async fn start(&mut self, _router: &Router, _files: usize, _answers: usize) {}

    async fn file(&mut self, file: FileAnswers) {
        self.0.insert(file.unit.path.clone(), file);
    }

    async fn pause(&mut self) {}
}
