//! Putting one thing in the place of another without losing what is saved there meanwhile.
//!
//! The present entry and the new one change places in one step, and only then is the one that came out looked at: it
//! lies under a hidden name, where no other program replaces it. If it is not the expected one it goes back in the
//! same way, and so does any newer one that comes out then. The entry at the path in the end is the newest; any other
//! lies under the hidden name, and is kept when hidden names are removed.
//!
//! On a file system that cannot exchange names, the present entry is moved aside first, and the new one replaces
//! nothing. For a moment there is nothing at the path then.

use std::io;

use super::{DiskState, folder::Folder, look::Seen};
use crate::WorkspacePath;

/// The paths of an exchange.
pub(super) struct Swap<'a> {
    pub(super) path: &'a WorkspacePath,
    /// The hidden name of what comes; afterwards of what came out.
    pub(super) incoming: &'a WorkspacePath,
    /// Hidden name of the entry that came out, where names cannot be exchanged.
    pub(super) aside: &'a WorkspacePath,
}

/// Bound on exchanges with a program that saves again and again. Each round takes microseconds.
const ROUNDS: usize = 32;

impl Swap<'_> {
    /// `None` if what came out is `wanted`. Otherwise what was found, which is in its place again;
    /// `is_incoming` tells what was put there for a moment.
    pub(super) fn run(
        &self,
        folder: &Folder,
        wanted: impl Fn(&Seen) -> bool,
        is_incoming: impl Fn(&Seen) -> bool,
        found: impl Fn(&Seen) -> DiskState,
    ) -> io::Result<Option<DiskState>> {
        match folder.exchange(self.incoming, self.path) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                return self.run_in_two_steps(folder, wanted, found);
            }
            exchanged => exchanged?,
        }
        let mut out = folder.look_at_hidden(self.incoming)?;
        if wanted(&out) {
            return Ok(None);
        }
        let found = found(&out);
        let mut put: Option<Seen> = None;
        for _ in 0..ROUNDS {
            match folder.exchange(self.incoming, self.path) {
                // Removed meanwhile; what was saved before that is not lost by it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    put_back(folder, self.incoming, self.path)?;
                    break;
                }
                exchanged => exchanged?,
            }
            let back = folder.look_at_hidden(self.incoming)?;
            if put.as_ref().map_or_else(|| is_incoming(&back), |it| back.is_same(it)) {
                break;
            }
            put = Some(out);
            out = back;
        }
        Ok(Some(found))
    }

    fn run_in_two_steps(
        &self,
        folder: &Folder,
        wanted: impl Fn(&Seen) -> bool,
        found: impl Fn(&Seen) -> DiskState,
    ) -> io::Result<Option<DiskState>> {
        if let Some(found) = take_away(folder, self.path, self.aside, wanted, found)? {
            return Ok(Some(found));
        }
        match folder.rename_new(self.incoming, self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(Some(folder.look(self.path).map_or(DiskState::Unreachable, |it| it.found())))
            }
            put => put.map(|()| None),
        }
    }
}

/// Moves what stands at `path` to a hidden name if it is `wanted`. Otherwise what was found, which is in its
/// place again.
pub(super) fn take_away(
    folder: &Folder,
    path: &WorkspacePath,
    hidden: &WorkspacePath,
    wanted: impl Fn(&Seen) -> bool,
    found: impl Fn(&Seen) -> DiskState,
) -> io::Result<Option<DiskState>> {
    folder.rename(path, hidden)?;
    let out = folder.look_at_hidden(hidden)?;
    if wanted(&out) {
        return Ok(None);
    }
    put_back(folder, hidden, path)?;
    Ok(Some(found(&out)))
}

/// Moves what lies under a hidden name to `path`. Not if something newer stands there, or its directory is
/// gone: then it stays where it is.
pub(super) fn put_back(folder: &Folder, hidden: &WorkspacePath, path: &WorkspacePath) -> io::Result<bool> {
    match folder.rename_new(hidden, path) {
        Err(error) if is_taken(&error) => Ok(false),
        moved => moved.map(|()| true),
    }
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists || super::look::is_out_of_reach(error)
}
