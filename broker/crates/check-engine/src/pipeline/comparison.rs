//! The other view of a comparison: what the same question finds there, and where its files are now.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
    sync::{Arc, mpsc},
};

use lint::Completeness;
use overlay::{Change, ChangeKind, ContentHash, FileState, Snapshot, View, WalkOptions, WorkspacePath};
use scheduler::Inherited;

use super::{Request, similar, unchanged::Unchanged};
use crate::{
    Due, Engine, Excluded, FileAnswers, Files, Listener, MissingLinter, Refused, RetryCache, Router, Wanted,
    is_file,
};

/// Paths and options of the search for files.
#[derive(Clone)]
pub struct Scope {
    /// Files and directories; everything if there are none.
    pub paths: Vec<WorkspacePath>,
    /// Filter on the files found: only these are checked; no filter if empty.
    pub only: BTreeSet<WorkspacePath>,
    pub walk: WalkOptions,
    /// Whether the file settings of the view's configuration apply.
    pub configured: bool,
}

/// A view to compare with, and how the files of the two stand to each other.
pub struct Comparison {
    pub(super) before: Arc<dyn View>,
    scope: Scope,
    /// Files that were moved: the new path, and the old one.
    moved: HashMap<WorkspacePath, WorkspacePath>,
    /// Files that are nowhere any more.
    gone: Vec<WorkspacePath>,
    /// Every path where the views differ, as [`Inherited::new`] has it.
    changed: Vec<WorkspacePath>,
}

/// Answers of the linters about the view before.
pub(super) struct Answers {
    files: BTreeMap<WorkspacePath, Answered>,
    /// Observations made meanwhile, for a check of the view after it.
    pub(super) seen: Arc<Inherited>,
    /// Answers that are not kept, for the same check.
    pub(super) retries: Arc<RetryCache>,
}

/// Answers of the linters about one file of the view before.
pub(super) struct Answered {
    pub(super) file: FileAnswers,
    /// The names of the linters, by the places in the answers; the view after it may ask others.
    pub(super) linters: Arc<[String]>,
    /// Digests that distinguish each of them from the same linter with other rules.
    pub(super) digests: Arc<[ContentHash]>,
}

impl Answered {
    /// Digest of the linter of this name, if it was asked about the file.
    pub(super) fn digest(&self, linter: &str) -> Option<ContentHash> {
        let mut asked = self.file.answers.iter().map(|(place, _)| *place);
        let place = asked.find(|it| self.linters.get(*it).is_some_and(|it| it == linter))?;
        self.digests.get(place).copied()
    }
}

impl Answered {
    /// Whether the file, or a part of it, was left out by the same linter for the same reason.
    pub(super) fn leaves_out(&self, now: &Excluded) -> bool {
        self.file.answers.iter().any(|(linter, answer)| {
            self.linters.get(*linter).is_some_and(|it| **it == *now.linter)
                && (answer.completeness == Completeness::Complete) == now.in_part
                && answer.left_out.as_deref() == Some(&*now.reason)
        })
    }
}

impl Scope {
    /// Whether the scope includes this file, wherever it is found.
    pub fn is_about(&self, path: &WorkspacePath) -> bool {
        self.is_below(path) && (self.only.is_empty() || self.only.contains(path))
    }

    /// Whether the file is at or below one of the paths.
    fn is_below(&self, path: &WorkspacePath) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|it| path.starts_with(it))
    }

    pub fn wanted(&self, view: &dyn View) -> Wanted {
        let Self { paths, only, walk, configured } = self;
        let are_named = only.is_empty() && !paths.is_empty() && !walk.force_excludes;
        if are_named && paths.iter().all(|it| is_file(view, it)) {
            return Wanted::Files(Files::of_named(paths.iter().cloned()));
        }
        let paths = if paths.is_empty() { vec![WorkspacePath::root()] } else { paths.clone() };
        Wanted::Walk { paths, options: walk.clone(), only: only.clone(), configured: *configured }
    }

    /// Returns what is wanted, without named paths that are gone.
    fn wanted_but(mut self, view: &dyn View, is_gone: impl Fn(&WorkspacePath) -> bool) -> Wanted {
        let are_named = !self.paths.is_empty();
        self.paths.retain(|it| !is_gone(it));
        // No paths would mean everything.
        if are_named && self.paths.is_empty() { Wanted::Files(Files::default()) } else { self.wanted(view) }
    }
}

impl Comparison {
    /// Compares a branch with its parent. Blocks: it reads and compares texts.
    pub fn of_branch(branch: &Snapshot, parent: &Snapshot, scope: Scope) -> io::Result<Self> {
        let mut comparison = Self {
            before: Arc::new(parent.clone()),
            scope,
            moved: HashMap::new(),
            gone: Vec::new(),
            changed: branch.changed_paths(parent),
        };
        let (mut gone, mut come) = (BTreeSet::new(), Vec::new());
        for Change { path, kind, before, after } in branch.changes(parent)? {
            let is_file = |it: &Option<FileState>| matches!(it, Some(FileState::File { .. }));
            match kind {
                ChangeKind::Renamed { from } => _ = comparison.moved.insert(path, from),
                ChangeKind::Deleted if is_file(&before) => _ = gone.insert(path),
                ChangeKind::Added if is_file(&after) => come.push(path),
                _ => {}
            }
        }
        come.retain(|new| {
            let old = gone.take(&branch.came_from(new));
            old.map(|old| comparison.moved.insert(new.clone(), old)).is_none()
        });
        comparison.pair(gone, branch, come);
        Ok(comparison)
    }

    /// Compares any two views that differ only in the files `changed`. Blocks: it reads and compares texts.
    pub fn of_views(
        before: Arc<dyn View>,
        after: &dyn View,
        changed: Vec<WorkspacePath>,
        scope: Scope,
    ) -> Self {
        let there = |view: &dyn View| {
            let there = changed.iter().filter(|it| is_file(view, it)).cloned();
            there.collect::<BTreeSet<_>>()
        };
        let (old, new) = (there(&*before), there(after));
        let (gone, come) = (&old - &new, &new - &old);
        let mut comparison = Self { before, scope, moved: HashMap::new(), gone: Vec::new(), changed };
        comparison.pair(gone, after, come.into_iter().collect());
        comparison
    }

    /// Finds among the files that came those that went.
    fn pair(&mut self, mut gone: BTreeSet<WorkspacePath>, after: &dyn View, come: Vec<WorkspacePath>) {
        self.moved.extend(similar::pairs(&*self.before, gone.iter().cloned().collect(), after, come));
        self.moved.values().for_each(|it| _ = gone.remove(it));
        self.gone = gone.into_iter().collect();
    }

    /// Returns the files to check in the view after: a named path that only the view before has is gone, and no mistake.
    pub fn wanted(&self, after: &dyn View) -> Wanted {
        let is_gone = |it: &_| !is_there(after, it) && is_there(&*self.before, it);
        self.scope.clone().wanted_but(after, is_gone)
    }

    /// Returns the files to check in the view before: without those that only the other view has, with those that are gone.
    fn wanted_before(&self) -> Wanted {
        let mut scope = self.scope.clone();
        if !scope.only.is_empty() {
            let only = scope.only.iter().map(|it| self.moved_from(it).unwrap_or(it));
            scope.only = only.chain(&self.gone).cloned().collect();
        }
        scope.wanted_but(&*self.before, |it| !is_there(&*self.before, it))
    }

    /// Returns the old paths of files that were moved into the scope: found by a walk, unless they were named.
    fn elsewhere(&self) -> Option<Wanted> {
        let scope = &self.scope;
        let is_elsewhere =
            |(new, old): &(&WorkspacePath, &WorkspacePath)| scope.is_about(new) && !scope.is_below(old);
        let all: Vec<_> = self.moved.iter().filter(is_elsewhere).collect();
        let named = all.iter().filter(|(new, _)| scope.paths.contains(new)).map(|(_, old)| (*old).clone());
        let paths = [WorkspacePath::root()].into_iter().chain(named).collect();
        let only = all.iter().map(|(_, old)| (*old).clone()).collect();
        (!all.is_empty()).then(|| Wanted::Walk {
            paths,
            options: scope.walk.clone(),
            only,
            configured: scope.configured,
        })
    }

    /// Whether everything is compared.
    pub(super) fn is_whole(&self) -> bool {
        let Scope { paths, only, .. } = &self.scope;
        only.is_empty() && (paths.is_empty() || *paths == [WorkspacePath::root()])
    }

    /// Path of a file in the view before, if it was another.
    pub(super) fn moved_from(&self, path: &WorkspacePath) -> Option<&WorkspacePath> {
        self.moved.get(path)
    }

    /// Asks the linters about the view before, for the same question.
    ///
    /// Leaves out files that are known to be alike.
    pub(super) async fn answers(
        &self,
        engine: &Engine,
        request: &Request,
        unchanged: Option<&Unchanged>,
    ) -> Result<Answers, Refused> {
        let (seen, parts) = mpsc::channel();
        let mut gathered = Gathered::default();
        let retries = Arc::new(RetryCache::over(unchanged.and_then(|it| it.failures.clone())));
        let first = unchanged.map_or_else(|| Some(self.wanted_before()), Unchanged::wanted_before);
        let configuration = unchanged.and_then(|it| it.configured.as_ref()).unwrap_or(&self.before);
        for wanted in [first, self.elsewhere()].into_iter().flatten() {
            let mut engine_request = request.engine_request(&self.before, configuration, wanted);
            engine_request.seen = Some(seen.clone());
            engine_request.retries = Some(Arc::clone(&retries));
            engine_request.due = request.schedule.due.as_ref().map(Due::halfway);
            engine.answer(&Arc::new(engine_request), &mut gathered).await?;
        }
        let seen = Inherited::new(parts.try_iter().collect(), &self.changed);
        Ok(Answers { files: gathered.files, seen: Arc::new(seen), retries })
    }

    /// The answers that no file of the view after stands for. A file that left what was asked about is not gone.
    pub(super) fn gone(&self, answers: Answers) -> impl Iterator<Item = Answered> {
        let left: BTreeSet<_> =
            self.moved.iter().filter(|(new, _)| !self.scope.is_about(new)).map(|(_, old)| old).collect();
        answers.files.into_iter().filter(move |(path, _)| !left.contains(path)).map(|(_, it)| it)
    }
}

impl Answers {
    /// Takes out the answers for the file that was at `path`.
    pub(super) fn take(&mut self, path: &WorkspacePath) -> Option<Answered> {
        self.files.remove(path)
    }
}

/// Whether the view has anything at the path, links followed.
pub fn is_there(view: &dyn View, path: &WorkspacePath) -> bool {
    view.resolve(path).is_ok_and(|it| view.metadata(&it).is_ok())
}

#[derive(Default)]
struct Gathered {
    linters: Arc<[String]>,
    digests: Arc<[ContentHash]>,
    files: BTreeMap<WorkspacePath, Answered>,
}

impl Listener for Gathered {
    async fn start(
        &mut self,
        router: &Arc<Router>,
        _lacks: Vec<MissingLinter>,
        _files: usize,
        _answers: usize,
    ) {
        self.linters = router.names();
        self.digests = router.linters().iter().map(|it| it.identity().digest).collect();
    }

    async fn file(&mut self, file: FileAnswers) {
        let (linters, digests) = (Arc::clone(&self.linters), Arc::clone(&self.digests));
        self.files.insert(file.unit.path.clone(), Answered { file, linters, digests });
    }

    async fn pause(&mut self) {}
}
