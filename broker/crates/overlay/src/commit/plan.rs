//! Conversion of changes to actions in a sound order, each of them checked against the disk.
//!
//! Removals go first: files, then directories, the deepest first. Then directories are made, the highest first, and
//! their files are put there.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use rustix::fs::FileType;

use super::{
    CommitError, Conflict, DiskState, Expected, FileOp,
    action::{Action, Change, Plan},
    folder::Folder,
    look::{Stamp, State, is_out_of_reach},
    protected::protected,
};
use crate::{ContentHash, WorkspacePath};

/// Looks at everything that is to be changed; all conflicts are told at once.
pub(super) fn make(folder: &Folder, ops: &[FileOp]) -> Result<Plan, CommitError> {
    let mut planner = Planner { folder, going: BTreeMap::new(), coming: BTreeMap::new(), conflicts: vec![] };
    planner.sort(ops)?;
    if let Some(path) = protected(folder, ops.iter().map(FileOp::path))? {
        return Err(CommitError::VersionControl { path });
    }
    planner.check_going()?;
    planner.check_coming()?;
    planner.add_parents()?;
    if !planner.conflicts.is_empty() {
        planner.conflicts.sort_by(|a, b| a.path.cmp(&b.path));
        return Err(CommitError::Conflicts(planner.conflicts));
    }
    planner.finish()
}

/// The changes by path: what goes and what comes, as one may take the place of the other.
struct Planner<'a> {
    folder: &'a Folder,
    going: BTreeMap<WorkspacePath, Going<'a>>,
    coming: BTreeMap<WorkspacePath, Coming<'a>>,
    conflicts: Vec<Conflict>,
}

struct Going<'a> {
    /// `None` for a directory.
    file: Option<&'a Expected>,
    before: State,
}

struct Coming<'a> {
    /// `None` for a directory that only others need.
    op: Option<&'a FileOp>,
    before: State,
    /// Whether there is nothing to do, since the state is the wanted one.
    idle: bool,
}

impl<'a> Planner<'a> {
    fn sort(&mut self, ops: &'a [FileOp]) -> Result<(), CommitError> {
        for op in ops {
            let path = op.path();
            if path.is_root() {
                return Err(CommitError::Root);
            }
            let is_first = match op {
                FileOp::Remove { before, .. } => self.goes(path, Some(before)),
                FileOp::RemoveDir { .. } => self.goes(path, None),
                _ => self.coming.insert(path.clone(), Coming::new(Some(op))).is_none(),
            };
            if !is_first {
                return Err(CommitError::Contradiction { path: path.clone() });
            }
        }
        // An operation that replaces a directory implies the directory's removal.
        for op in ops {
            if let FileOp::Write { path, before, .. } | FileOp::Symlink { path, before, .. } = op
                && *before == Expected::Directory
                && !self.going.contains_key(path)
            {
                self.goes(path, None);
            }
        }
        Ok(())
    }

    fn goes(&mut self, path: &WorkspacePath, file: Option<&'a Expected>) -> bool {
        self.going.insert(path.clone(), Going { file, before: State::Missing }).is_none()
    }

    /// The state at a path before the commit; `None`, and a conflict, if a link or file is in the way.
    fn look(&mut self, path: &WorkspacePath, expected: &Expected) -> Result<Option<State>, CommitError> {
        match self.folder.look(path) {
            Ok(state) => Ok(Some(state)),
            Err(error) if is_out_of_reach(&error) => {
                self.conflict(path, expected, DiskState::Unreachable);
                Ok(None)
            }
            Err(source) => Err(CommitError::io(path, "look at", source)),
        }
    }

    fn conflict(&mut self, path: &WorkspacePath, expected: &Expected, found: DiskState) {
        self.conflicts.push(Conflict { path: path.clone(), expected: expected.clone(), found });
    }

    fn check_going(&mut self) -> Result<(), CommitError> {
        for path in self.going.keys().cloned().collect::<Vec<_>>() {
            let file = self.going[&path].file;
            let expected = file.unwrap_or(&Expected::Directory);
            let Some(state) = self.look(&path, expected)? else { continue };
            let is_right_kind = matches!(state, State::Directory(_)) == file.is_none();
            if !self.folder.is(&path, &state, expected) || !(is_right_kind || state == State::Missing) {
                self.conflict(&path, expected, state.found());
                continue;
            }
            if file.is_none() {
                let stranger = self.folder.stranger(&path, |name| self.going.contains_key(&path.child(name)));
                let stranger = stranger.map_err(|source| CommitError::io(&path, "list", source))?;
                stranger.into_iter().for_each(|it| self.conflict(&path, expected, DiskState::NotEmpty(it)));
            }
            if let Some(going) = self.going.get_mut(&path) {
                going.before = state;
            }
        }
        Ok(())
    }

    fn check_coming(&mut self) -> Result<(), CommitError> {
        for (path, op) in self.coming.iter().map(|(path, it)| (path.clone(), it.op)).collect::<Vec<_>>() {
            // Something goes from there, or from above there: nothing is left to be checked.
            if path.ancestors().any(|it| self.going.contains_key(&it)) {
                match op {
                    Some(FileOp::SetExecutable { .. }) => return Err(CommitError::Contradiction { path }),
                    _ => continue,
                }
            }
            let expected = op.map_or(&Expected::Missing, expected_by);
            let Some(state) = self.look(&path, expected)? else { continue };
            let idle = match op {
                Some(FileOp::CreateDir { .. }) | None => matches!(state, State::Directory(_)),
                Some(FileOp::SetExecutable { executable, .. }) => match &state {
                    State::File { executable: is, .. } => is == executable,
                    _ => {
                        self.conflict(&path, expected, state.found());
                        continue;
                    }
                },
                Some(_) => false,
            };
            let is_there_already = idle && matches!(state, State::Directory(_));
            if !(is_there_already || self.folder.is(&path, &state, expected)) {
                self.conflict(&path, expected, state.found());
            }
            self.coming.insert(path, Coming { op, before: state, idle });
        }
        Ok(())
    }

    /// Directories that are missing above what comes, or that something else has to make room for.
    fn add_parents(&mut self) -> Result<(), CommitError> {
        let parents: BTreeSet<_> =
            self.coming.keys().flat_map(|it| it.ancestors().skip(1)).filter(|it| !it.is_root()).collect();
        for path in parents {
            match self.coming.get(&path).map(|it| it.op) {
                Some(Some(FileOp::CreateDir { .. })) => continue,
                Some(_) => return Err(CommitError::Contradiction { path }),
                None => {}
            }
            let makes_room = path.ancestors().any(|it| self.going.contains_key(&it));
            // A link or file on the way was found when the path itself was looked at.
            if makes_room || self.folder.look(&path).is_ok_and(|it| it == State::Missing) {
                self.coming.insert(path, Coming::new(None));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Plan, CommitError> {
        let transaction = random_name();
        let mut plan = Plan { actions: vec![], texts: vec![] };
        let mut add = |path: &WorkspacePath, before: &State, change, text, stamp| {
            let n = plan.actions.len();
            let anchor = self.anchor(path)?;
            let hidden = |kind| anchor.child(&format!(".broker-{transaction}-{n}.{kind}"));
            let (new, old) = (hidden("new"), hidden("old"));
            let (path, before) = (path.clone(), before.clone());
            plan.actions.push(Action { path, before, change, stamp, new, old });
            plan.texts.push(text);
            Ok::<_, CommitError>(())
        };
        for (path, going) in self.going.iter().filter(|it| it.1.before != State::Missing) {
            if going.file.is_some() {
                add(path, &going.before, Change::Remove, Bytes::new(), None)?;
            }
        }
        // A directory sorts before all that is in it.
        for (path, going) in self.going.iter().rev().filter(|it| it.1.file.is_none()) {
            add(path, &going.before, Change::RemoveDir, Bytes::new(), None)?;
        }
        for (path, coming) in self.coming.iter().filter(|it| !it.1.idle) {
            if matches!(coming.op, None | Some(FileOp::CreateDir { .. })) {
                let stamp = coming.op.map_or(Ok(None), |it| self.stamp(it, &coming.before))?;
                add(path, &coming.before, Change::CreateDir, Bytes::new(), stamp)?;
            }
        }
        for (path, coming) in self.coming.iter().filter(|it| !it.1.idle) {
            if let Some((op, (change, text))) = coming.op.and_then(|it| Some((it, put(it)?))) {
                let stamp = self.stamp(op, &coming.before)?;
                add(path, &coming.before, change, text, stamp)?;
            }
        }
        Ok(plan)
    }

    /// The permissions and owner that what comes shall have: those of what was moved, or is replaced, or
    /// else what the change says.
    fn stamp(&self, op: &FileOp, before: &State) -> Result<Option<Stamp>, CommitError> {
        let (from, permissions, kind) = match op {
            FileOp::Write { moved_from, permissions, .. } => (moved_from, permissions, FileType::RegularFile),
            FileOp::CreateDir { moved_from, permissions, .. } => {
                (moved_from, permissions, FileType::Directory)
            }
            _ => return Ok(None),
        };
        let moved = from.as_ref().map_or(Ok(None), |from| {
            let stamp = self.folder.stamp_of(from, kind);
            stamp.map_err(|source| CommitError::io(from, "look at", source))
        });
        Ok(moved?.or(match before {
            State::File { stamp, .. } if kind == FileType::RegularFile => Some(*stamp),
            _ => permissions.map(Stamp::from),
        }))
    }

    /// The nearest directory above that is there now and stays.
    fn anchor(&self, path: &WorkspacePath) -> Result<WorkspacePath, CommitError> {
        for directory in path.ancestors().skip(1) {
            if directory.is_root() {
                break;
            }
            let stays = !self.going.contains_key(&directory) && !self.coming.contains_key(&directory);
            if stays || self.coming.get(&directory).is_some_and(|it| it.idle) {
                let found = self.folder.exists(&directory);
                if found.map_err(|source| CommitError::io(&directory, "look at", source))? {
                    return Ok(directory);
                }
            }
        }
        Ok(WorkspacePath::root())
    }
}

impl<'a> Coming<'a> {
    fn new(op: Option<&'a FileOp>) -> Self {
        Self { op, before: State::Missing, idle: false }
    }
}

fn expected_by(op: &FileOp) -> &Expected {
    match op {
        FileOp::Write { before, .. }
        | FileOp::Remove { before, .. }
        | FileOp::Symlink { before, .. }
        | FileOp::SetExecutable { before, .. } => before,
        FileOp::CreateDir { .. } => &Expected::Missing,
        FileOp::RemoveDir { .. } => &Expected::Directory,
    }
}

fn put(op: &FileOp) -> Option<(Change, Bytes)> {
    Some(match op {
        FileOp::Write { bytes, executable, .. } => {
            let hash = *ContentHash::of(bytes).as_bytes();
            (Change::File { hash, executable: *executable }, bytes.clone())
        }
        FileOp::Symlink { target, .. } => (Change::Symlink(target.clone()), Bytes::new()),
        FileOp::SetExecutable { executable, .. } => (Change::SetExecutable(*executable), Bytes::new()),
        FileOp::Remove { .. } | FileOp::CreateDir { .. } | FileOp::RemoveDir { .. } => return None,
    })
}

/// A name that no other commit uses: the standard library's hasher is keyed at random.
fn random_name() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = RandomState::new().hash_one(std::process::id());
    format!("{random:016x}")
}
