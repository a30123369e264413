//! Writing a set of changes into the real workspace folder: all of them or none.
//!
//! The new texts are laid under hidden names beside their targets first. Then a journal outside the
//! workspace is marked as decided, which is the point of no return, and renames put everything in place.
//! A commit that breaks off before that point is taken back, one that breaks off after it is finished, by
//! [`Committer::recover`] at the latest. An error on the way takes everything back at once.
//!
//! A file that is not what the change was made on is a conflict. What is replaced changes places with the new
//! text in one step, what is removed is moved under a hidden name, and only then is it looked at: so what
//! another program saves at any moment is either found there, and goes back, or stands over what the commit wrote.
//! A file that a program has open for writing is a conflict, too, where the system tells; and before a hidden
//! file is removed, and once more when it has no name any more, it is compared with what it should hold. What
//! another program saved is then kept in the journal folder, and reported.
//!
//! Two things are not noticed: what a program writes that had opened a file before the commit, and still has
//! it when all is done, where the system does not tell of writers; and an `open` that found the file by its
//! name and is held up inside the system until all is done. Where a file system cannot exchange names there
//! is for a moment nothing at the path of what is replaced.
//!
//! Every path is opened without following a link, so nothing outside the root is reached.
//!
//! Extended attributes of a replaced file are not carried over, and a file with several hard links is
//! replaced under the one name only, as with every writer that renames.

mod action;
mod apply;
mod earlier;
mod error;
mod fail_point;
mod folder;
mod journal;
mod kept;
mod look;
mod plan;
mod protected;
mod recover;
mod swap;
mod undo;
mod writers;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use action::Plan;
pub use error::{CommitError, Conflict, DiskState, first_of_files};
use folder::Folder;
use journal::{Journal, Stage};
pub use kept::{Leftover, LeftoverText, prune_kept};
pub use recover::{Outcome, Recovered};

use crate::{Expected, FileOp, Permissions, WorkspacePath, store::private_folder};

/// Result of a commit. Directories made for a file are counted with those that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    pub written: usize,
    pub linked: usize,
    pub removed: usize,
    pub modes_changed: usize,
    pub directories_created: usize,
    pub directories_removed: usize,
    /// Permissions of each file and directory that was removed, or is of another kind now.
    pub permissions: Vec<(WorkspacePath, Permissions)>,
    /// Texts that other programs saved so late that they could not be put back.
    pub leftovers: Vec<Leftover>,
}

/// The one writer of a workspace folder.
pub struct Committer {
    folder: Folder,
    journal_dir: PathBuf,
}

impl Committer {
    /// A committer into `root`, which must exist. `journal_dir` is made if it is missing, for this user
    /// alone, and must lie outside of `root`; it belongs to this workspace and to nothing else.
    pub fn new(root: &Path, journal_dir: &Path) -> io::Result<Self> {
        let (root, spelled) = (fs::canonicalize(root)?, root);
        private_folder(journal_dir)?;
        let journal_dir = fs::canonicalize(journal_dir)?;
        if journal_dir.starts_with(&root) {
            let message = format!("it lies inside the workspace {}", root.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self { folder: Folder::open(&root, spelled)?, journal_dir })
    }

    /// Says whether [`commit`](Committer::commit) would find conflicts, and changes nothing.
    pub fn check(&self, ops: &[FileOp]) -> Result<(), CommitError> {
        plan::make(&self.folder, ops).map(drop)
    }

    /// Makes all changes, durably, or none. Blocks until the disk has them.
    pub fn commit(&self, ops: &[FileOp]) -> Result<Committed, CommitError> {
        let _lock = self.lock()?;
        let mut journal = Journal::new(&self.journal_dir, self.folder.fail_point());
        if let Some(pending) = journal.pending()? {
            return Err(CommitError::Interrupted { journal: pending });
        }
        let plan = plan::make(&self.folder, ops)?;
        if plan.actions.is_empty() {
            return Ok(Committed::default());
        }
        let mut begun = 0;
        let done = match self.carry_out(&plan, &mut journal, &mut begun) {
            Ok(()) => self.finish(&plan, &mut journal),
            Err(error) => Err(self.give_up(&plan, &mut journal, begun, error)),
        };
        self.folder.hashes().forget();
        done
    }

    fn carry_out(&self, plan: &Plan, journal: &mut Journal, begun: &mut usize) -> Result<(), CommitError> {
        journal.begin(plan)?;
        apply::stage(&self.folder, plan)?;
        journal.enter(Stage::Decided)?;
        apply::apply(&self.folder, plan, begun)?;
        journal.enter(Stage::Done)
    }

    fn finish(&self, plan: &Plan, journal: &mut Journal) -> Result<Committed, CommitError> {
        let mut committed = plan.summary();
        let leftovers = &mut committed.leftovers;
        // Once more before giving up: whatever fails here, the changes are made.
        let cleaned =
            self.clean_up(plan, journal, leftovers).or_else(|_| self.clean_up(plan, journal, leftovers));
        match cleaned {
            Ok(()) => Ok(committed),
            Err(error) => {
                let (journal, error, committed) = (journal.path(), Box::new(error), Box::new(committed));
                Err(CommitError::NotCleanedUp { journal, error, committed })
            }
        }
    }

    /// Removes all hidden files and then the journal, which nothing needs any more.
    fn clean_up(
        &self,
        plan: &Plan,
        journal: &mut Journal,
        leftovers: &mut Vec<Leftover>,
    ) -> Result<(), CommitError> {
        if journal.stage() == Stage::Intent {
            kept::remove_staged(&self.folder, plan)?;
        } else {
            kept::remove_hidden(&self.folder, plan, &self.journal_dir, leftovers)?;
        }
        journal.end()
    }

    /// Takes back whatever was done, and says why: `error`, or that even this did not work.
    fn give_up(&self, plan: &Plan, journal: &mut Journal, begun: usize, error: CommitError) -> CommitError {
        match self.take_back(plan, journal, begun) {
            Ok(leftovers) => error.with(leftovers),
            Err(then) => {
                let journal = journal.path();
                CommitError::NotTakenBack { journal, error: Box::new(error), then: Box::new(then) }
            }
        }
    }

    fn take_back(
        &self,
        plan: &Plan,
        journal: &mut Journal,
        begun: usize,
    ) -> Result<Vec<Leftover>, CommitError> {
        let mut leftovers = Vec::new();
        // Before the decision nothing has been put in place.
        if journal.stage() != Stage::Intent {
            journal.enter(Stage::Undoing)?;
            leftovers = undo::undo(&self.folder, &plan.actions[..begun], &self.journal_dir)?;
            journal.enter(Stage::TakenBack)?;
        }
        self.clean_up(plan, journal, &mut leftovers)?;
        Ok(leftovers)
    }

    /// Whether an interrupted commit is to be recovered, by what is in `journal_dir`; or one is under way just now.
    pub fn is_interrupted(journal_dir: &Path) -> bool {
        !matches!(Journal::new(journal_dir, fail_point::FailPoint::default()).pending(), Ok(None))
    }

    /// Whether texts may be nowhere but in the journal: a commit was interrupted, or kept what it could not leave in its place.
    pub fn holds_texts(journal_dir: &Path) -> bool {
        Self::is_interrupted(journal_dir) || kept::has_copies(journal_dir)
    }

    /// Held while the journal is in use, so that two processes cannot both be at work.
    ///
    /// A commit beside another one waits for it: programs run their hooks side by side.
    #[expect(clippy::disallowed_methods, reason = "the journal folder lies outside the workspace")]
    fn lock(&self) -> Result<File, CommitError> {
        const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
        let path = self.journal_dir.join("lock");
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = opened.map_err(|source| CommitError::journal(&path, "open", source))?;
        let begin = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(fs::TryLockError::WouldBlock)
                    if self.folder.fail_point().may_wait() && begin.elapsed() < LOCK_TIMEOUT =>
                {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(fs::TryLockError::WouldBlock) => return Err(CommitError::Busy { lock: path }),
                Err(fs::TryLockError::Error(source)) => {
                    return Err(CommitError::journal(&path, "lock", source));
                }
            }
        }
    }
}

impl FileOp {
    pub fn path(&self) -> &WorkspacePath {
        match self {
            Self::Write { path, .. }
            | Self::Remove { path, .. }
            | Self::Symlink { path, .. }
            | Self::SetExecutable { path, .. }
            | Self::CreateDir { path, .. }
            | Self::RemoveDir { path } => path,
        }
    }
}

#[cfg(test)]
mod tests;
