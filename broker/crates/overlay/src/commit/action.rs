//! Steps of a commit, with all that is needed to finish or to take them back. The journal keeps them.

use std::io;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{
    Committed,
    folder::Folder,
    look::{Stamp, State},
};
use crate::{Permissions, WorkspacePath};

/// Actions of a commit, in this order.
pub(super) struct Plan {
    pub(super) actions: Vec<Action>,
    /// The new text of each action; empty where there is none, and after a restart.
    pub(super) texts: Vec<Bytes>,
}

/// A step of a commit, with all that is needed to finish it or to take it back.
pub(super) struct Action {
    pub(super) path: WorkspacePath,
    /// State of the path until this action, permissions included.
    pub(super) before: State,
    pub(super) change: Change,
    /// Permissions and owner of the entry that is put there.
    pub(super) stamp: Option<Stamp>,
    /// Hidden names in the nearest directory that is there before, during and after the commit. Under the
    /// first the new text waits until it and what it replaces change places. Under the second lies what is
    /// removed, and what is replaced where names cannot be exchanged.
    pub(super) new: WorkspacePath,
    pub(super) old: WorkspacePath,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Change {
    Remove,
    RemoveDir,
    CreateDir,
    File { hash: [u8; 32], executable: bool },
    Symlink(String),
    SetExecutable(bool),
}

impl Plan {
    pub(super) fn summary(&self) -> Committed {
        let count = |of: fn(&Change) -> bool| self.actions.iter().filter(|it| of(&it.change)).count();
        Committed {
            written: count(|it| matches!(it, Change::File { .. })),
            linked: count(|it| matches!(it, Change::Symlink(_))),
            removed: count(|it| matches!(it, Change::Remove)),
            modes_changed: count(|it| matches!(it, Change::SetExecutable(_))),
            directories_created: count(|it| matches!(it, Change::CreateDir)),
            directories_removed: count(|it| matches!(it, Change::RemoveDir)),
            permissions: self.actions.iter().filter_map(Action::lost_permissions).collect(),
            leftovers: Vec::new(),
        }
    }
}

impl Action {
    /// Whether `state` is what this action leads to.
    pub(super) fn leads_to(&self, state: &State) -> bool {
        match (&self.change, state) {
            (Change::Remove | Change::RemoveDir, state) => *state == State::Missing,
            (Change::CreateDir, State::Directory(is)) => self.stamp.is_none_or(|it| it.mode == is.mode),
            (Change::File { hash, executable }, State::File { hash: is, executable: may, .. }) => {
                hash == is && executable == may
            }
            (Change::Symlink(target), State::Symlink(is)) => target == is,
            (Change::SetExecutable(executable), State::File { hash: is, executable: may, .. }) => {
                executable == may && matches!(&self.before, State::File { hash, .. } if hash == is)
            }
            _ => false,
        }
    }

    /// The hidden name of what this action removed or replaced, if it lies under one.
    pub(super) fn taken_out(&self, folder: &Folder) -> io::Result<Option<&WorkspacePath>> {
        if folder.exists(&self.old)? {
            return Ok(Some(&self.old));
        }
        if !self.is_put() || self.before == State::Missing || !folder.exists(&self.new)? {
            return Ok(None);
        }
        // Otherwise it is the new text, which waits.
        Ok(Some(&self.new).filter(|it| !folder.look(it).is_ok_and(|it| self.leads_to(&it))))
    }

    /// The permissions of what is not there any more afterwards.
    fn lost_permissions(&self) -> Option<(WorkspacePath, Permissions)> {
        let stays = match self.change {
            Change::File { .. } | Change::SetExecutable(_) => matches!(self.before, State::File { .. }),
            Change::CreateDir => matches!(self.before, State::Directory(_)),
            Change::Remove | Change::RemoveDir | Change::Symlink(_) => false,
        };
        match &self.before {
            State::File { stamp, .. } | State::Directory(stamp) if !stays => {
                Some((self.path.clone(), (*stamp).into()))
            }
            _ => None,
        }
    }

    /// Whether this action has a new text or link waiting under its hidden name until it is done.
    pub(super) fn is_put(&self) -> bool {
        matches!(self.change, Change::File { .. } | Change::Symlink(_))
    }
}
