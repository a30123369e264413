//! Commits that an earlier version began, and was killed in.
//!
//! That version gave what it was about to replace a second, hidden name by a hard link, and renamed the new text over
//! the first. So the hidden name did not mean that anything had been moved, as it does today; everything else
//! was as it is now. Without the second names the usual recovery finishes such a commit, or takes it back.
//!
//! The other way round there is no help: the earlier version refuses a journal of today.

use std::io;

use super::{CommitError, action::Action, folder::Folder, look::State};

/// Removes the second names of what still stands in its place. Can break off and be done again.
pub(super) fn drop_second_names(folder: &Folder, actions: &[Action]) -> Result<(), CommitError> {
    for action in actions {
        let dropped = has_second_name(folder, action)
            .and_then(|it| if it { folder.unlink(&action.old).map(drop) } else { Ok(()) });
        dropped.map_err(|source| CommitError::io(&action.old, "remove", source))?;
    }
    Ok(())
}

/// Whether the text lies both at the path and under the hidden name, and its replacement waits still.
fn has_second_name(folder: &Folder, action: &Action) -> io::Result<bool> {
    if !action.is_put() || !folder.exists(&action.new)? || !folder.exists(&action.old)? {
        return Ok(false);
    }
    let (first, second) = (folder.look(&action.path), folder.look(&action.old)?);
    Ok(second != State::Other && first.is_ok_and(|it| it == second))
}
