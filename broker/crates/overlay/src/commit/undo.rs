//! The way back: everything as it was before the commit. It can itself break off and be done again.

use std::{io, path::Path};

use super::{
    CommitError, DiskState,
    action::{Action, Change},
    folder::Folder,
    kept::{Leftover, keep},
    look::{Seen, State, is_out_of_reach},
    swap::{Swap, put_back, take_away},
};
use crate::WorkspacePath;

/// Takes back what was done of `actions`, the last first. What another program changed since stays as it is;
/// what should have stood there is kept in `journal_dir`, and told.
pub(super) fn undo(
    folder: &Folder,
    actions: &[Action],
    journal_dir: &Path,
) -> Result<Vec<Leftover>, CommitError> {
    let mut leftovers = Vec::new();
    for action in actions.iter().rev() {
        let undone = take_back(folder, action, journal_dir);
        let undone = undone.map_err(|source| CommitError::io(&action.path, "restore", source))?;
        leftovers.extend(undone.left);
    }
    super::apply::sync_touched(folder, actions)?;
    Ok(leftovers)
}

/// Result of undoing one action.
struct Undone {
    /// The entry was changed by another program. The one from before the commit is reported, if it was moved away.
    left: Option<Leftover>,
}

const YES: io::Result<Undone> = Ok(Undone { left: None });

fn take_back(folder: &Folder, action: &Action, journal_dir: &Path) -> io::Result<Undone> {
    let taking = Taking { folder, action, journal_dir };
    match &action.change {
        Change::Remove => taking.move_back(),
        Change::RemoveDir => match (&action.before, taking.look()?) {
            (State::Directory(stamp), State::Missing | State::Directory(_)) => {
                folder.create_stamped_dir(&action.path, *stamp).map(|()| Undone { left: None })
            }
            _ => taking.is_changed(),
        },
        // Made by this commit, or by another program just before; if empty, it makes no difference.
        Change::CreateDir => match folder.remove_dir(&action.path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => taking.is_changed(),
            Err(error) if !is_out_of_reach(&error) => Err(error),
            _ => YES,
        },
        Change::File { .. } | Change::Symlink(_) if action.before == State::Missing => taking.take_out(),
        Change::File { .. } | Change::Symlink(_) => taking.exchange_back(),
        Change::SetExecutable(_) => taking.set_mode(),
    }
}

/// An action that is being taken back.
struct Taking<'a> {
    folder: &'a Folder,
    action: &'a Action,
    journal_dir: &'a Path,
}

impl Taking<'_> {
    /// Reports that another program has changed what this action changed.
    fn is_changed(&self) -> io::Result<Undone> {
        let left = match self.action.taken_out(self.folder)? {
            Some(hidden) => keep(self.folder, self.action, hidden, self.journal_dir)?,
            None => Leftover::nothing(self.action),
        };
        Ok(Undone { left: Some(left) })
    }

    /// Moves the old entry back, unless another has taken its place.
    fn move_back(&self) -> io::Result<Undone> {
        let (folder, action) = (self.folder, self.action);
        if !folder.exists(&action.old)? || put_back(folder, &action.old, &action.path)? {
            return YES;
        }
        // An exchange was cut off between its two names, or another program restored the file.
        if folder.look(&action.path).is_ok_and(|it| it.is_like(&action.before)) {
            return YES;
        }
        self.is_changed()
    }

    /// Moves an entry that was put at a free path under its hidden name again, if it is still the same.
    fn take_out(&self) -> io::Result<Undone> {
        let (folder, action) = (self.folder, self.action);
        if folder.exists(&action.new)? {
            if folder.look(&action.new).is_ok_and(|it| action.leads_to(&it)) {
                return YES;
            }
            // An earlier undo was cut off before it looked at what it had taken.
            put_back(folder, &action.new, &action.path)?;
            return self.is_changed();
        }
        match self.look()? {
            State::Missing => return YES,
            state if !action.leads_to(&state) => return self.is_changed(),
            _ => {}
        }
        let taken = take_away(folder, &action.path, &action.new, is_new(action), |it| it.state.found());
        if is_taken(taken)? { YES } else { self.is_changed() }
    }

    /// Exchanges the old entry with its replacement again, if that is still there.
    fn exchange_back(&self) -> io::Result<Undone> {
        let (folder, action) = (self.folder, self.action);
        let Some(out) = action.taken_out(folder)? else { return YES };
        if *out == action.old && folder.exists(&action.new)? {
            if !folder.look(&action.new).is_ok_and(|it| action.leads_to(&it)) {
                // Taken out by an undo that was cut off before it looked at it.
                put_back(folder, &action.new, &action.path)?;
                return self.is_changed();
            }
            return self.move_back();
        }
        match self.look()? {
            state if action.leads_to(&state) => {}
            state if state.is_like(&action.before) => return YES,
            _ => return self.is_changed(),
        }
        if swap_back(folder, action, out)? { YES } else { self.is_changed() }
    }

    fn set_mode(&self) -> io::Result<Undone> {
        let State::File { stamp, .. } = &self.action.before else { return YES };
        let file = match self.folder.file(&self.action.path) {
            Err(error) if is_out_of_reach(&error) => return YES,
            file => file?,
        };
        if self.action.leads_to(&self.folder.look_into(&file)?.state) {
            self.folder.set_mode(file, stamp.mode)?;
        }
        YES
    }

    fn look(&self) -> io::Result<State> {
        match self.folder.look(&self.action.path) {
            Err(error) if is_out_of_reach(&error) => Ok(State::Other),
            state => state,
        }
    }
}

/// Puts back what was taken out of its place, if there is still what was put there, and no program about to
/// change it.
pub(super) fn swap_back(folder: &Folder, action: &Action, out: &WorkspacePath) -> io::Result<bool> {
    let before = folder.look_closely(out).unwrap_or_else(|_| Seen::other());
    let aside = if *out == action.new { &action.old } else { &action.new };
    let swap = Swap { path: &action.path, incoming: out, aside };
    is_taken(swap.run(folder, is_new(action), |it| it.is_same(&before), |it| it.state.found()))
}

fn is_new(action: &Action) -> impl Fn(&Seen) -> bool {
    |seen| seen.is_still(|it| action.leads_to(it))
}

/// Whether the entry was taken; false if another program removed it in this very moment.
fn is_taken(answer: io::Result<Option<DiskState>>) -> io::Result<bool> {
    match answer {
        Err(error) if is_out_of_reach(&error) => Ok(false),
        answer => Ok(answer?.is_none()),
    }
}
