//! The way back: everything as it was before the commit. It can itself break off and be done again.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    CommitError,
    folder::Folder,
    look::{State, is_out_of_reach},
    plan::{Action, Change},
    recover::{Leftover, keep},
};

/// Takes back what was done of `actions`, the last first. What somebody has changed since stays as it is;
/// what should have stood there is kept in `journal_dir`, and told.
pub(super) fn undo(
    folder: &Folder,
    actions: &[Action],
    journal_dir: &Path,
) -> Result<Vec<Leftover>, CommitError> {
    let mut leftovers = Vec::new();
    for action in actions.iter().rev() {
        let undone = take_back(folder, action, journal_dir);
        match undone.map_err(|source| CommitError::io(&action.path, "restore", source))? {
            Undone::Yes => {}
            Undone::Changed(kept) => leftovers.push(Leftover { path: action.path.clone(), kept }),
        }
    }
    super::apply::sync_touched(folder, actions)?;
    Ok(leftovers)
}

enum Undone {
    Yes,
    /// Not ours any more. What stood there before, if it was moved away.
    Changed(Option<PathBuf>),
}

fn take_back(folder: &Folder, action: &Action, journal_dir: &Path) -> io::Result<Undone> {
    match &action.change {
        Change::Remove => move_back(folder, action, journal_dir),
        Change::RemoveDir => match (&action.before, folder.look(&action.path)?) {
            (State::Directory(stamp), State::Missing | State::Directory(_)) => {
                folder.create_stamped_dir(&action.path, *stamp).map(|()| Undone::Yes)
            }
            _ => Ok(Undone::Changed(None)),
        },
        // Made by this commit, or by somebody else just before; if empty, it makes no difference.
        Change::CreateDir => match folder.remove_dir(&action.path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(Undone::Changed(None)),
            Err(error) if !is_out_of_reach(&error) => Err(error),
            _ => Ok(Undone::Yes),
        },
        Change::File { .. } | Change::Symlink(_) => put_back(folder, action, journal_dir),
        Change::SetExecutable(_) => {
            if let State::File { stamp, .. } = &action.before
                && folder.look(&action.path).is_ok_and(|it| action.leads_to(&it))
            {
                folder.set_mode(folder.file(&action.path)?, stamp.mode)?;
            }
            Ok(Undone::Yes)
        }
    }
}

/// What was moved away goes back, unless something else has taken its place.
fn move_back(folder: &Folder, action: &Action, journal_dir: &Path) -> io::Result<Undone> {
    if !folder.exists(&action.old)? {
        return Ok(Undone::Yes);
    }
    match folder.rename_new(&action.old, &action.path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists || is_out_of_reach(&error) => {
            keep(folder, &action.old, journal_dir).map(Undone::Changed)
        }
        moved => moved.map(|()| Undone::Yes),
    }
}

fn put_back(folder: &Folder, action: &Action, journal_dir: &Path) -> io::Result<Undone> {
    // The new text still waits, so its target was not replaced; at most it was moved away.
    if folder.exists(&action.new)? {
        return match folder.exists(&action.path)? {
            true => Ok(Undone::Yes),
            false => move_back(folder, action, journal_dir),
        };
    }
    let state = match folder.look(&action.path) {
        Err(error) if is_out_of_reach(&error) => State::Other,
        state => state?,
    };
    match state {
        state if state.is_like(&action.before) => Ok(Undone::Yes),
        state if !action.leads_to(&state) => keep(folder, &action.old, journal_dir).map(Undone::Changed),
        _ if action.before == State::Missing => folder.unlink(&action.path).map(|()| Undone::Yes),
        _ => folder.rename(&action.old, &action.path).map(|()| Undone::Yes),
    }
}
