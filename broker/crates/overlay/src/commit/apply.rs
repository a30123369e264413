//! The way forward: texts beside their targets, then everything into place.

use std::{collections::BTreeSet, io};

use super::{
    CommitError, Found,
    folder::Folder,
    look::{State, is_out_of_reach},
    plan::{Action, Change, Plan},
};
use crate::WorkspacePath;

/// Lays all new texts and links under their hidden names, durably. Nothing that is there is touched.
pub(super) fn stage(folder: &Folder, plan: &Plan) -> Result<(), CommitError> {
    let mut files = Vec::new();
    for (action, text) in plan.actions.iter().zip(&plan.texts) {
        let made = match &action.change {
            Change::File { executable, .. } => {
                let made = folder.create(&action.new, text, *executable, action.stamp);
                made.map(|it| files.push((action, it)))
            }
            Change::Symlink(target) => folder.symlink(&action.new, target),
            Change::Remove | Change::RemoveDir | Change::CreateDir | Change::SetExecutable(_) => Ok(()),
        };
        made.map_err(|source| failed(folder, action, source))?;
        // Few enough to be open at a time; together, so that the disk can write them out together.
        if files.len() == MAX_OPEN {
            sync_files(folder, &mut files)?;
        }
    }
    sync_files(folder, &mut files)?;
    sync_directories(folder, plan.actions.iter().filter(|it| it.is_put()).filter_map(|it| it.new.parent()))
}

const MAX_OPEN: usize = 64;

fn sync_files(folder: &Folder, files: &mut Vec<(&Action, std::fs::File)>) -> Result<(), CommitError> {
    for (action, file) in files.drain(..) {
        folder.sync(file).map_err(|source| CommitError::io(&action.path, "sync", source))?;
    }
    Ok(())
}

/// Puts everything in place, durably. Stops at the first thing that is not as it was; `begun` says how
/// many actions may have to be taken back then.
pub(super) fn apply(folder: &Folder, plan: &Plan, begun: &mut usize) -> Result<(), CommitError> {
    for action in &plan.actions {
        check(folder, action)?;
        *begun += 1;
        act(folder, action)?;
    }
    sync_touched(folder, &plan.actions)
}

/// As late as possible; for a file that is replaced, `act` has then only to rename.
fn check(folder: &Folder, action: &Action) -> Result<(), CommitError> {
    if action.is_put() && action.before != State::Missing {
        keep_old(folder, action).map_err(|source| failed(folder, action, source))?;
    }
    let state = folder.look(&action.path).map_err(|source| failed(folder, action, source))?;
    let is_there = action.change == Change::CreateDir && matches!(state, State::Directory(_));
    if state.is_like(&action.before) || is_there {
        return Ok(());
    }
    Err(CommitError::conflict(&action.path, action.before.expected(), state.found()))
}

/// A second name for what is about to be replaced. Where there are no such names `act` moves it away.
fn keep_old(folder: &Folder, action: &Action) -> io::Result<()> {
    match folder.link(&action.path, &action.old) {
        Err(error) if is_link_refused(&error) => Ok(()),
        answer => answer,
    }
}

/// No hard links on this file system, too many of them, or another user's file.
fn is_link_refused(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(error.kind(), Kind::PermissionDenied | Kind::Unsupported | Kind::TooManyLinks | Kind::NotFound)
}

/// Does what `check` or a recovery found to be due.
pub(super) fn act(folder: &Folder, action: &Action) -> Result<(), CommitError> {
    let done = match &action.change {
        Change::Remove => folder.rename_new(&action.path, &action.old),
        Change::RemoveDir => folder.remove_dir(&action.path),
        Change::CreateDir => create_dir(folder, action),
        Change::File { .. } | Change::Symlink(_) => put(folder, action),
        Change::SetExecutable(executable) => set_executable(folder, action, *executable),
    };
    done.map_err(|source| failed(folder, action, source))
}

fn create_dir(folder: &Folder, action: &Action) -> io::Result<()> {
    match action.stamp {
        Some(stamp) => folder.create_stamped_dir(&action.path, stamp),
        None => match folder.create_dir(&action.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            done => done,
        },
    }
}

fn put(folder: &Folder, action: &Action) -> io::Result<()> {
    if action.before == State::Missing {
        return folder.rename_new(&action.new, &action.path);
    }
    if !folder.exists(&action.old)? && folder.exists(&action.path)? {
        folder.rename(&action.path, &action.old)?;
    }
    folder.rename(&action.new, &action.path)
}

fn set_executable(folder: &Folder, action: &Action, executable: bool) -> io::Result<()> {
    match &action.before {
        State::File { stamp, .. } => {
            folder.set_mode(folder.file(&action.path)?, stamp.made_executable(executable).mode)
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Some errors say that something else is there than was looked at a moment ago.
fn failed(folder: &Folder, action: &Action, source: io::Error) -> CommitError {
    let found = match source.kind() {
        io::ErrorKind::DirectoryNotEmpty => {
            let stranger = folder.stranger(&action.path, |_| false);
            Some(Found::NotEmpty(stranger.ok().flatten().unwrap_or_default()))
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            match folder.look(&action.path) {
                Ok(state) if state.is_like(&action.before) => None,
                Ok(state) => Some(state.found()),
                Err(_) => Some(Found::Unreachable),
            }
        }
        _ => None,
    };
    match found {
        Some(found) => CommitError::conflict(&action.path, action.before.expected(), found),
        None => CommitError::io(&action.path, doing(action), source),
    }
}

fn doing(action: &Action) -> &'static str {
    match action.change {
        Change::Remove => "remove",
        Change::RemoveDir => "remove the directory",
        Change::CreateDir => "make the directory",
        Change::File { .. } => "write",
        Change::Symlink(_) => "link",
        Change::SetExecutable(_) => "change the permissions of",
    }
}

/// Makes all changes of names durable, and of permissions.
pub(super) fn sync_touched(folder: &Folder, actions: &[Action]) -> Result<(), CommitError> {
    for action in actions.iter().filter(|it| matches!(it.change, Change::SetExecutable(_))) {
        match folder.file(&action.path) {
            Err(error) if is_out_of_reach(&error) => {}
            file => file
                .and_then(|it| folder.sync(it))
                .map_err(|source| CommitError::io(&action.path, "sync", source))?,
        }
    }
    let hidden = actions.iter().map(|it| &it.new);
    let touched = actions.iter().map(|it| &it.path).chain(hidden);
    let stamped = actions.iter().filter(|it| it.change == Change::CreateDir && it.stamp.is_some());
    let stamped = stamped.map(|it| it.path.clone());
    sync_directories(folder, touched.filter_map(WorkspacePath::parent).chain(stamped))
}

/// Those that are still there.
fn sync_directories(
    folder: &Folder,
    directories: impl Iterator<Item = WorkspacePath>,
) -> Result<(), CommitError> {
    for path in directories.collect::<BTreeSet<_>>() {
        match folder.directory(&path) {
            Err(error) if is_out_of_reach(&error) => {}
            directory => directory
                .and_then(|it| folder.sync(it))
                .map_err(|source| CommitError::io(&path, "sync", source))?,
        }
    }
    Ok(())
}

/// Removes what was laid under hidden names, exactly those of this commit.
pub(super) fn remove_hidden(folder: &Folder, plan: &Plan) -> Result<(), CommitError> {
    for action in &plan.actions {
        for path in [&action.new, &action.old] {
            folder.unlink(path).map_err(|source| CommitError::io(path, "remove", source))?;
        }
    }
    sync_directories(folder, plan.actions.iter().filter_map(|it| it.new.parent()))
}
