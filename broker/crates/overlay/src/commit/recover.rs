//! Recovery after a crash: an interrupted commit is finished if it was decided, else taken back.

use std::{io, path::Path};

use super::{
    CommitError, Committer,
    action::{Action, Change, Plan},
    apply::{act, sync_touched},
    earlier,
    folder::Folder,
    journal::{Journal, Replacing, Stage},
    kept::{Leftover, keep},
    look::{State, is_out_of_reach},
    swap::put_back,
    undo::{swap_back, undo},
};
use crate::WorkspacePath;

/// Result of recovering an interrupted commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    pub outcome: Outcome,
    /// Places at which another program had changed the workspace. Its work was left as it is.
    pub leftovers: Vec<Leftover>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All its changes are in the workspace, but for the leftovers.
    Finished,
    /// None of its changes are in the workspace, but for the leftovers.
    TakenBack,
}

impl Committer {
    /// Finishes an interrupted commit, or takes it back. To be called before the first commit.
    ///
    /// A recovery can be interrupted itself, and then be called again.
    pub fn recover(&self) -> Result<Option<Recovered>, CommitError> {
        let _lock = self.lock()?;
        let mut journal = Journal::new(&self.journal_dir, self.folder.fail_point());
        if journal.pending()?.is_none() {
            return Ok(None);
        }
        let (plan, replacing) = journal.read()?;
        if replacing == Replacing::ByLink && matches!(journal.stage(), Stage::Decided | Stage::Undoing) {
            earlier::drop_second_names(&self.folder, &plan.actions)?;
        }
        let mut leftovers = Vec::new();
        let outcome = match journal.stage() {
            Stage::Intent | Stage::TakenBack => Outcome::TakenBack,
            Stage::Done => Outcome::Finished,
            Stage::Undoing => {
                leftovers = undo(&self.folder, &plan.actions, &self.journal_dir)?;
                journal.enter(Stage::TakenBack)?;
                Outcome::TakenBack
            }
            Stage::Decided => {
                leftovers = finish(&self.folder, &plan, &self.journal_dir)?;
                journal.enter(Stage::Done)?;
                Outcome::Finished
            }
        };
        self.clean_up(&plan, &mut journal, &mut leftovers)?;
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
            let kept = keep(folder, action, &action.new, journal_dir);
            leftovers.push(kept.map_err(|source| CommitError::io(&action.new, "keep", source))?);
        }
    }
    sync_touched(folder, &plan.actions)?;
    Ok(leftovers)
}

enum Due {
    /// The action is done.
    Nothing,
    Act,
    /// The entry is not the one that the change was made on.
    Blocked,
}

fn due(folder: &Folder, action: &Action) -> io::Result<Due> {
    if let Some(hidden) = action.taken_out(folder)? {
        return due_after(folder, action, hidden);
    }
    // The new text is there exactly until it was put in its place.
    if action.is_put() && !folder.exists(&action.new)? {
        return Ok(Due::Nothing);
    }
    let is_removal = matches!(action.change, Change::Remove | Change::RemoveDir);
    let state = match folder.look(&action.path) {
        // A later action put a file in the place of a directory above it.
        Err(error) if is_out_of_reach(&error) && is_removal => return Ok(Due::Nothing),
        Err(error) if is_out_of_reach(&error) => return Ok(Due::Blocked),
        state => state?,
    };
    // The same, in the place of the directory itself.
    let is_replaced = action.change == Change::RemoveDir && !matches!(state, State::Directory(_));
    // Made already, but not given its permissions yet.
    let is_bare = action.change == Change::CreateDir && matches!(state, State::Directory(_));
    Ok(match state {
        state if is_replaced || action.leads_to(&state) => Due::Nothing,
        state if state.is_like(&action.before) || is_bare => Due::Act,
        _ => Due::Blocked,
    })
}

/// Returns the rest of an action whose old entry was taken out, and lies at `hidden`; whether it was looked at is not known.
fn due_after(folder: &Folder, action: &Action, hidden: &WorkspacePath) -> io::Result<Due> {
    let now = folder.look(&action.path).unwrap_or(State::Other);
    if !folder.look(hidden).is_ok_and(|it| it.is_like(&action.before)) {
        // Another program saved it just before: it goes back, unless there is something newer.
        let is_swapped = *hidden == action.new && action.leads_to(&now) && swap_back(folder, action, hidden)?;
        if !is_swapped {
            put_back(folder, hidden, &action.path)?;
        }
        return Ok(Due::Blocked);
    }
    let is_put = !action.is_put() || *hidden == action.new || !folder.exists(&action.new)?;
    Ok(match now {
        _ if is_put => Due::Nothing,
        // Moved aside, but nothing put in its place yet.
        State::Missing => Due::Act,
        now if action.leads_to(&now) => Due::Nothing,
        _ => Due::Blocked,
    })
}
