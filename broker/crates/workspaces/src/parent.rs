//! The parent's side of a comparison: what the same question finds there, and where its files are now.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, mpsc},
};

use checker::{Dependents, FileAnswers, Files, Lack, Listener, Router, Wanted};
use overlay::{Change, ChangeKind, ContentHash, FileState, Revision, Snapshot, View, WorkspacePath};
use scheduler::Inherited;

use super::{
    Daemon, DaemonError,
    ask::{Ask, refused, walk_options, wanted},
    judge::Judge,
    similar,
};

pub(super) struct Parent<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) answers: Answers,
}

/// What the linters say of the parent.
pub(super) struct Answers {
    pub(super) files: BTreeMap<WorkspacePath, Answered>,
    /// Where files of the branch were in the parent, if elsewhere.
    pub(super) moved: HashMap<WorkspacePath, WorkspacePath>,
    /// What was seen meanwhile, for a check of the branch.
    pub(super) seen: Arc<Inherited>,
}

/// What the linters say of one file of the parent.
pub(super) struct Answered {
    pub(super) file: FileAnswers,
    /// The names of those that its answers count in; the branch may ask others.
    pub(super) linters: Arc<[String]>,
    /// What tells each of them from the same linter with other rules.
    pub(super) digests: Arc<[ContentHash]>,
}

impl Answered {
    /// That of the linter of this name, if it was asked about the file.
    pub(super) fn digest(&self, linter: &str) -> Option<ContentHash> {
        let mut asked = self.file.answers.iter().map(|(place, _)| *place);
        let place = asked.find(|it| self.linters.get(*it).is_some_and(|it| it == linter))?;
        self.digests.get(place).copied()
    }
}

impl Answers {
    /// The parent's answers for a file of the branch.
    pub(super) fn take(&mut self, path: &WorkspacePath) -> Option<Answered> {
        self.files.remove(self.moved.get(path).unwrap_or(path))
    }

    /// What no file of the branch stands for. A file that left what was asked about is not gone.
    pub(super) fn into_gone(self, ask: &Ask) -> impl Iterator<Item = Answered> {
        let left: BTreeSet<_> =
            self.moved.into_iter().filter(|(new, _)| !ask.is_about(new)).map(|(_, old)| old).collect();
        self.files.into_iter().filter(move |(path, _)| !left.contains(path)).map(|(_, it)| it)
    }
}

impl Daemon {
    /// What the linters say of the parent `before` of `snapshot`, for the same question.
    pub(super) async fn parents_answers(
        self: &Arc<Self>,
        ask: &Ask,
        dependents: Option<Arc<Dependents>>,
        snapshot: &Snapshot,
        before: &Snapshot,
        revision: Revision,
    ) -> Result<Answers, DaemonError> {
        let Moves { moved, gone } = moves(snapshot.clone(), before.clone()).await?;
        let view: Arc<dyn View> = Arc::new(before.clone());
        let (seen, parts) = mpsc::channel();
        let mut gathered = Gathered::default();
        let same = of_parent(ask, &moved, gone, before);
        for wanted in [Some(same), elsewhere(ask, &moved)].into_iter().flatten() {
            let mut inquiry = self.inquiry(ask, Arc::clone(&view), revision, wanted);
            inquiry.seen = Some(seen.clone());
            inquiry.dependents.clone_from(&dependents);
            self.engine.answer(&Arc::new(inquiry), &mut gathered).await.map_err(refused)?;
        }
        let seen = Inherited::new(parts.try_iter().collect(), &snapshot.changed_paths(before));
        Ok(Answers { files: gathered.files, moved, seen: Arc::new(seen) })
    }
}

/// The same question about the parent: what only the branch has is not asked for, what is gone is.
fn of_parent(
    ask: &Ask,
    moved: &HashMap<WorkspacePath, WorkspacePath>,
    gone: Vec<WorkspacePath>,
    before: &Snapshot,
) -> Wanted {
    let mut ask = ask.clone();
    if !ask.only.is_empty() {
        ask.only = ask.only.iter().map(|it| moved.get(it).unwrap_or(it).clone()).chain(gone).collect();
    }
    wanted_but(before, ask, |it| !is_there(before, it))
}

/// The question about the branch itself: what is named and only the parent has is gone, and no mistake.
pub(super) fn of_branch(ask: &Ask, view: &dyn View, before: &Snapshot) -> Wanted {
    wanted_but(view, ask.clone(), |it| !is_there(view, it) && is_there(before, it))
}

/// What is asked about, without those named paths that are gone.
fn wanted_but(view: &dyn View, mut ask: Ask, is_gone: impl Fn(&WorkspacePath) -> bool) -> Wanted {
    let are_named = !ask.paths.is_empty();
    ask.paths.retain(|it| !is_gone(it));
    // No paths would mean everything.
    if are_named && ask.paths.is_empty() { Wanted::Files(Files::default()) } else { wanted(view, &ask) }
}

pub(super) fn is_there(view: &dyn View, path: &WorkspacePath) -> bool {
    view.resolve(path).is_ok_and(|it| view.metadata(&it).is_ok())
}

/// What is asked about in the branch, and lay elsewhere in the parent: found by a walk, unless it was named.
fn elsewhere(ask: &Ask, moved: &HashMap<WorkspacePath, WorkspacePath>) -> Option<Wanted> {
    let is_elsewhere =
        |(new, old): &(&WorkspacePath, &WorkspacePath)| ask.is_about(new) && !ask.is_below(old);
    let all: Vec<_> = moved.iter().filter(is_elsewhere).collect();
    let named = all.iter().filter(|(new, _)| ask.paths.contains(new)).map(|(_, old)| (*old).clone());
    let paths = [WorkspacePath::root()].into_iter().chain(named).collect();
    let only = all.iter().map(|(_, old)| (*old).clone()).collect();
    (!all.is_empty()).then(|| Wanted::Walk { paths, options: walk_options(), only })
}

/// How files of a branch stand to those of its parent.
struct Moves {
    /// Where files were before, if elsewhere.
    moved: HashMap<WorkspacePath, WorkspacePath>,
    /// Files that are nowhere any more.
    gone: Vec<WorkspacePath>,
}

async fn moves(snapshot: Snapshot, before: Snapshot) -> Result<Moves, DaemonError> {
    // Reads the base, and compares texts.
    let work = tokio::task::spawn_blocking(move || {
        let changes = snapshot.changes(&before)?;
        Ok(Moves::among(changes, &snapshot, &before))
    });
    let done = work.await.map_err(|error| DaemonError::broke_off("a comparison", error))?;
    done.map_err(DaemonError::unreadable)
}

impl Moves {
    /// Files of the same text, those that the branch knows it moved, and those of much the same text.
    fn among(changes: Vec<Change>, snapshot: &Snapshot, before: &Snapshot) -> Self {
        let (mut moved, mut gone, mut come) = (HashMap::new(), BTreeSet::new(), Vec::new());
        for Change { path, kind, before, after } in changes {
            let is_file = |it: &Option<FileState>| matches!(it, Some(FileState::File { .. }));
            match kind {
                ChangeKind::Renamed { from } => _ = moved.insert(path, from),
                ChangeKind::Deleted if is_file(&before) => _ = gone.insert(path),
                ChangeKind::Added if is_file(&after) => come.push(path),
                _ => {}
            }
        }
        come.retain(|new| {
            let old = gone.take(&snapshot.came_from(new));
            old.map(|old| moved.insert(new.clone(), old)).is_none()
        });
        moved.extend(similar::pairs(before, gone.iter().cloned().collect(), snapshot, come));
        moved.values().for_each(|it| _ = gone.remove(it));
        Self { moved, gone: gone.into_iter().collect() }
    }
}

#[derive(Default)]
struct Gathered {
    linters: Arc<[String]>,
    digests: Arc<[ContentHash]>,
    files: BTreeMap<WorkspacePath, Answered>,
}

impl Listener for Gathered {
    async fn start(&mut self, router: &Router, _lacks: Vec<Lack>, _files: usize, _answers: usize) {
        self.linters = router.names();
        self.digests = router.linters().iter().map(|it| it.identity().digest).collect();
    }

    async fn file(&mut self, file: FileAnswers) {
        let (linters, digests) = (Arc::clone(&self.linters), Arc::clone(&self.digests));
        self.files.insert(file.unit.path.clone(), Answered { file, linters, digests });
    }

    async fn pause(&mut self) {}
}
