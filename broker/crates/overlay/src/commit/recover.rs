//! After a crash: an interrupted commit is finished if it was decided, else taken back.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{
    CommitError, Committer,
    apply::{act, sync_touched},
    folder::Folder,
    journal::{Journal, Stage},
    look::{State, is_out_of_reach},
    plan::{Action, Change, Plan},
    undo::undo,
};
use crate::WorkspacePath;

/// What became of an interrupted commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    pub outcome: Outcome,
    /// Where somebody had changed the workspace after the crash. Their work was left as it is.
    pub leftovers: Vec<Leftover>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All its changes are in the workspace, but for the leftovers.
    Finished,
    /// None of its changes are in the workspace, but for the leftovers.
    TakenBack,
}

/// A change that was neither made nor taken back, since something else stands there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub path: WorkspacePath,
    /// The text that should have come there, if there is one: a file in the journal folder.
    pub kept: Option<PathBuf>,
}

impl Committer {
    /// Finishes an interrupted commit, or takes it back. To be called before the first commit.
    ///
    /// It can be interrupted itself, and then be called again.
    pub fn recover(&self) -> Result<Option<Recovered>, CommitError> {
        let _lock = self.lock()?;
        let mut journal = Journal::new(&self.journal_dir, self.folder.fuse());
        if journal.pending()?.is_none() {
            return Ok(None);
        }
        let plan = journal.read()?;
        let (outcome, leftovers) = match journal.stage() {
            Stage::Intent => (Outcome::TakenBack, Vec::new()),
            Stage::Undoing => (Outcome::TakenBack, undo(&self.folder, &plan.actions, &self.journal_dir)?),
            Stage::Done => (Outcome::Finished, Vec::new()),
            Stage::Decided => {
                let leftovers = finish(&self.folder, &plan, &self.journal_dir)?;
                journal.enter(Stage::Done)?;
                (Outcome::Finished, leftovers)
            }
        };
        self.clean_up(&plan, &mut journal)?;
        Ok(Some(Recovered { outcome, leftovers }))
    }
}

/// Rolls forward whatever is not done yet.
fn finish(folder: &Folder, plan: &Plan, journal_dir: &Path) -> Result<Vec<Leftover>, CommitError> {
    let mut leftovers = Vec::new();
    for action in &plan.actions {
        let due = due(folder, action).map_err(|source| CommitError::io(&action.path, "look at", source))?;
        let blocked = match due {
            Due::Nothing => false,
            Due::Act => match act(folder, action) {
                // Changed in this very moment.
                Err(CommitError::Conflicts(_)) => true,
                done => done.map(|()| false)?,
            },
            Due::Blocked => true,
        };
        if blocked {
            let kept = keep(folder, &action.new, journal_dir);
            let kept = kept.map_err(|source| CommitError::io(&action.new, "keep", source))?;
            leftovers.push(Leftover { path: action.path.clone(), kept });
        }
    }
    sync_touched(folder, &plan.actions)?;
    Ok(leftovers)
}

enum Due {
    /// It is done.
    Nothing,
    Act,
    /// What is there is not what the change was made on.
    Blocked,
}

fn due(folder: &Folder, action: &Action) -> io::Result<Due> {
    let is_done = match action.change {
        Change::Remove => folder.exists(&action.old)?,
        // The hidden name is there exactly until it was renamed.
        Change::File { .. } | Change::Symlink(_) => !folder.exists(&action.new)?,
        Change::RemoveDir | Change::CreateDir | Change::SetExecutable(_) => false,
    };
    if is_done {
        return Ok(Due::Nothing);
    }
    let state = match folder.look(&action.path) {
        Err(error) if is_out_of_reach(&error) => return Ok(Due::Blocked),
        state => state?,
    };
    // Moved away already, but nothing put in its place yet.
    let is_moved = action.is_put() && state == State::Missing && folder.exists(&action.old)?;
    // Made already, but not given its permissions yet.
    let is_bare = action.change == Change::CreateDir && matches!(state, State::Directory(_));
    Ok(match state {
        state if action.leads_to(&state) => Due::Nothing,
        state if state.is_like(&action.before) || is_moved || is_bare => Due::Act,
        _ => Due::Blocked,
    })
}

/// Copies a hidden file into the journal folder, where nothing removes it. `None` if it is not there, or a link.
pub(super) fn keep(
    folder: &Folder,
    hidden: &WorkspacePath,
    journal_dir: &Path,
) -> io::Result<Option<PathBuf>> {
    if !matches!(folder.look(hidden), Ok(State::File { .. })) {
        return Ok(None);
    }
    let dir = journal_dir.join("kept");
    fs::create_dir_all(&dir)?;
    let kept = dir.join(hidden.file_name().unwrap_or_default().trim_start_matches('.'));
    let mut copy = File::create(&kept)?;
    io::copy(&mut folder.file(hidden)?, &mut copy)?;
    copy.sync_all()?;
    Ok(Some(kept))
}
