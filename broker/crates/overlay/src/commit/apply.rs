//! The way forward: texts beside their targets, then everything into place.

use std::{collections::BTreeSet, io};

use super::{
    CommitError, DiskState,
    action::{Action, Change, Plan},
    folder::Folder,
    look::{Seen, State, is_out_of_reach},
    swap::{Swap, take_away},
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

/// Files that a commit has open at a time.
pub(super) const MAX_OPEN: usize = 64;

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
    sync_touched(folder, &plan.actions)?;
    plan.actions.iter().try_for_each(|it| confirm(folder, it))
}

/// Checks an action before anything moves. The state that `act` finds afterwards is decisive.
fn check(folder: &Folder, action: &Action) -> Result<(), CommitError> {
    let seen = folder.look_when_still(&action.path).map_err(|source| failed(folder, action, source))?;
    let is_there = action.change == Change::CreateDir && matches!(seen.state, State::Directory(_));
    if is_there || is_before(action)(&seen) {
        return Ok(());
    }
    Err(changed(action, seen.instead_of(&action.before)))
}

/// Checks replaced or removed entries again: a program that had one open may have written to it since.
fn confirm(folder: &Folder, action: &Action) -> Result<(), CommitError> {
    let looked =
        action.taken_out(folder).and_then(|hidden| hidden.map(|it| folder.look_at_hidden(it)).transpose());
    match looked.map_err(|source| failed(folder, action, source))? {
        Some(seen) if !is_before(action)(&seen) => Err(changed(action, seen.instead_of(&action.before))),
        _ => Ok(()),
    }
}

/// Whether the entry is still the one that the change was made on, and no program is about to change it.
pub(super) fn is_before(action: &Action) -> impl Fn(&Seen) -> bool {
    |seen| seen.is_still(|it| it.is_like(&action.before))
}

fn changed(action: &Action, found: DiskState) -> CommitError {
    CommitError::conflict(&action.path, action.before.expected(), found)
}

/// Does what `check` or a recovery found to be due.
pub(super) fn act(folder: &Folder, action: &Action) -> Result<(), CommitError> {
    let found = match &action.change {
        Change::Remove => {
            let found = |it: &Seen| it.instead_of(&action.before);
            take_away(folder, &action.path, &action.old, is_before(action), found)
        }
        Change::RemoveDir => folder.remove_dir(&action.path).map(|()| None),
        Change::CreateDir => create_dir(folder, action).map(|()| None),
        Change::File { .. } | Change::Symlink(_) => put(folder, action),
        Change::SetExecutable(executable) => set_executable(folder, action, *executable),
    };
    match found.map_err(|source| failed(folder, action, source))? {
        Some(found) => Err(changed(action, found)),
        None => Ok(()),
    }
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

fn put(folder: &Folder, action: &Action) -> io::Result<Option<DiskState>> {
    // Nothing is there, or a recovery found that it was moved aside.
    if action.before == State::Missing || folder.exists(&action.old)? {
        return folder.rename_new(&action.new, &action.path).map(|()| None);
    }
    let swap = Swap { path: &action.path, incoming: &action.new, aside: &action.old };
    let is_new = |seen: &Seen| seen.is_still(|it| action.leads_to(it));
    swap.run(folder, is_before(action), is_new, |it| it.instead_of(&action.before))
}

/// Sets the bit through a single handle, so that no other file gets these permissions.
fn set_executable(folder: &Folder, action: &Action, executable: bool) -> io::Result<Option<DiskState>> {
    let file = folder.file(&action.path)?;
    let seen = folder.look_into(&file)?;
    match &seen.state {
        State::File { stamp, .. } if seen.state.is_like(&action.before) => {
            folder.set_mode(&file, stamp.made_executable(executable).mode)?;
        }
        state => return Ok(Some(state.found())),
    }
    let now = folder.look(&action.path)?;
    Ok(Some(now).filter(|it| !action.leads_to(it)).map(|it| it.found()))
}

/// Converts an error. Some kinds mean that the entry is no longer the one that was looked at a moment ago.
fn failed(folder: &Folder, action: &Action, source: io::Error) -> CommitError {
    let found = match source.kind() {
        io::ErrorKind::DirectoryNotEmpty => {
            let stranger = folder.stranger(&action.path, |_| false);
            Some(DiskState::NotEmpty(stranger.ok().flatten().unwrap_or_default()))
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            match folder.look(&action.path) {
                Ok(state) if state.is_like(&action.before) => None,
                Ok(state) => Some(state.found()),
                Err(_) => Some(DiskState::Unreachable),
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

/// Syncs the directories that still exist, each before its parents: hidden files lie above the directories that they
/// are moved into, and must not be gone from there on the disk before they are in the lower ones.
pub(super) fn sync_directories(
    folder: &Folder,
    directories: impl Iterator<Item = WorkspacePath>,
) -> Result<(), CommitError> {
    for path in directories.collect::<BTreeSet<_>>().into_iter().rev() {
        match folder.directory(&path) {
            Err(error) if is_out_of_reach(&error) => {}
            directory => directory
                .and_then(|it| folder.sync(it))
                .map_err(|source| CommitError::io(&path, "sync", source))?,
        }
    }
    Ok(())
}
