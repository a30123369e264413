//! Copies in the journal folder of texts that a commit could not leave in their place, and their report.
//!
//! Nothing is removed from the workspace that is neither the commit's own text nor what it was made on.

use std::{
    fmt,
    fs::{self, File},
    io::{self, Seek as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    CommitError,
    action::{Action, Plan},
    apply::{MAX_OPEN, sync_directories},
    folder::Folder,
    look::{Seen, State},
};
use crate::WorkspacePath;

/// The folder of the copies, in the journal folder.
const KEPT: &str = "kept";

/// Time for which a copy is there for its user.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A path where another program changed the workspace while a commit was made, taken back or interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub path: WorkspacePath,
    pub text: LeftoverText,
    /// A file with the text, if there is one that stands nowhere else.
    pub kept: Option<PathBuf>,
}

/// Text of a path that is not in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverText {
    /// The text that the commit would have written.
    New,
    /// The text from before the commit.
    Old,
    /// The text that another program saved meanwhile.
    Saved,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        let Some(kept) = &self.kept else {
            return write!(f, "`{path}` changed meanwhile and was left as it is");
        };
        let kept = kept.display();
        match self.text {
            LeftoverText::New => {
                write!(
                    f,
                    "`{path}` changed meanwhile and was left as it is; the text of the commit is in {kept}"
                )
            }
            LeftoverText::Old => {
                write!(
                    f,
                    "`{path}` changed meanwhile and was left as it is; its text from before is in {kept}"
                )
            }
            LeftoverText::Saved => {
                write!(f, "`{path}` was saved while it was replaced; what was saved is in {kept}")
            }
        }
    }
}

impl Leftover {
    /// Returns a leftover without a copy: every text is in some other place, too.
    pub(super) fn nothing(action: &Action) -> Self {
        Self { path: action.path.clone(), text: LeftoverText::New, kept: None }
    }
}

/// Whether there is a copy.
#[expect(clippy::disallowed_methods, reason = "the journal folder lies outside the workspace")]
pub(super) fn has_copies(journal_dir: &Path) -> bool {
    fs::read_dir(journal_dir.join(KEPT)).is_ok_and(|mut it| it.next().is_some())
}

/// Removes the copies that were made more than 30 days before `now`. What cannot be looked at stays.
#[expect(clippy::disallowed_methods, reason = "the journal folder lies outside the workspace")]
pub fn prune_kept(journal_dir: &Path, now: SystemTime) {
    for copy in fs::read_dir(journal_dir.join(KEPT)).into_iter().flatten().flatten() {
        let made = copy.metadata().and_then(|it| it.modified());
        let is_old = made.is_ok_and(|it| now.duration_since(it).is_ok_and(|age| age > KEPT_FOR));
        if is_old {
            // Another process may have removed it.
            let _removed = fs::remove_file(copy.path());
        }
    }
}

/// Copies what lies under a hidden name into the journal folder, where it stays until [`prune_kept`] finds it too
/// old. A directory, a link or a device stays where it is.
pub(super) fn keep(
    folder: &Folder,
    action: &Action,
    hidden: &WorkspacePath,
    journal_dir: &Path,
) -> io::Result<Leftover> {
    let state = folder.look(hidden).unwrap_or(State::Other);
    let text = match &state {
        state if action.leads_to(state) => LeftoverText::New,
        state if state.is_like(&action.before) => LeftoverText::Old,
        _ => LeftoverText::Saved,
    };
    let kept = match (&state, text) {
        (State::File { .. }, _) => Some(copy(&mut folder.file(hidden)?, hidden, journal_dir)?),
        (State::Directory(_) | State::Symlink(_) | State::Other, LeftoverText::Saved) => {
            Some(folder.absolute(hidden))
        }
        _ => None,
    };
    Ok(Leftover { path: action.path.clone(), text, kept })
}

#[expect(clippy::disallowed_methods, reason = "the journal folder lies outside the workspace")]
fn copy(from: &mut File, hidden: &WorkspacePath, journal_dir: &Path) -> io::Result<PathBuf> {
    let dir = journal_dir.join(KEPT);
    fs::create_dir_all(&dir)?;
    let kept = dir.join(hidden.file_name().unwrap_or_default().trim_start_matches('.'));
    // An earlier copy goes only when this one is whole.
    let unfinished = kept.with_added_extension("unfinished");
    let mut copy = File::create(&unfinished)?;
    from.rewind()?;
    io::copy(from, &mut copy)?;
    copy.sync_all()?;
    fs::rename(&unfinished, &kept)?;
    File::open(&dir)?.sync_all()?;
    Ok(kept)
}

/// Removes what lies under hidden names, exactly those of this commit, before anything was put in its place.
pub(super) fn remove_staged(folder: &Folder, plan: &Plan) -> Result<(), CommitError> {
    for path in plan.actions.iter().flat_map(|it| [&it.new, &it.old]) {
        folder.unlink(path).map_err(|source| CommitError::io(path, "remove", source))?;
    }
    sync_directories(folder, plan.actions.iter().filter_map(|it| it.new.parent()))
}

/// Removes hidden files when all is in place, or taken back. Texts saved into one meanwhile are kept, and reported.
pub(super) fn remove_hidden(
    folder: &Folder,
    plan: &Plan,
    journal_dir: &Path,
    leftovers: &mut Vec<Leftover>,
) -> Result<(), CommitError> {
    for actions in plan.actions.chunks(MAX_OPEN / 2) {
        let mut removed = Vec::new();
        for (action, hidden) in actions.iter().flat_map(|it| [(it, &it.new), (it, &it.old)]) {
            let failed = |source| CommitError::io(hidden, "remove", source);
            let it = Removed::of(folder, action, hidden, journal_dir, leftovers).map_err(failed)?;
            removed.extend(it);
        }
        // A program that had opened one by its name, but not yet written, when that was taken away.
        for it in &mut removed {
            let failed = |source| CommitError::io(it.hidden, "keep", source);
            tell(leftovers, it.look_again(folder, journal_dir).map_err(failed)?);
        }
    }
    sync_directories(folder, plan.actions.iter().filter_map(|it| it.new.parent()))
}

/// Adds a leftover that is not listed yet.
fn tell(leftovers: &mut Vec<Leftover>, leftover: Option<Leftover>) {
    leftovers.extend(leftover.filter(|it| !leftovers.contains(it)));
}

/// A file that has no name any more, but is still open.
struct Removed<'a> {
    action: &'a Action,
    hidden: &'a WorkspacePath,
    file: File,
    /// Length and time of the last change of its contents.
    written: (u64, Option<SystemTime>),
}

impl<'a> Removed<'a> {
    /// Removes one hidden file, or link.
    fn of(
        folder: &Folder,
        action: &'a Action,
        hidden: &'a WorkspacePath,
        journal_dir: &Path,
        leftovers: &mut Vec<Leftover>,
    ) -> io::Result<Option<Self>> {
        if !folder.exists(hidden)? {
            return Ok(None);
        }
        let seen = folder.look_when_still(hidden).unwrap_or_else(|_| Seen::other());
        let is_known = seen.is_still(|it| is_known(action, it));
        if !is_known {
            // A file that is still written to is looked at again below, when it has no name any more.
            let kept = keep(folder, action, hidden, journal_dir)?;
            if kept.text == LeftoverText::Saved {
                tell(leftovers, Some(kept));
            }
        }
        let file = match seen.state {
            State::File { .. } => Some(folder.file(hidden)?),
            State::Symlink(_) if is_known => None,
            // Not the commit's: it stays, and is listed above.
            _ => return Ok(None),
        };
        let written = file.as_ref().map(written).transpose()?;
        folder.unlink(hidden)?;
        let removed = |(file, written)| Self { action, hidden, file, written };
        Ok(file.zip(written).map(removed))
    }

    fn look_again(&mut self, folder: &Folder, journal_dir: &Path) -> io::Result<Option<Leftover>> {
        let is_old = |it: &SystemTime| it.elapsed().is_ok_and(|it| it > COARSE);
        let is_settled = self.written.1.as_ref().is_some_and(is_old);
        if is_settled && !folder.has_writer(&self.file) && written(&self.file)? == self.written {
            return Ok(None);
        }
        let seen = folder.patient(|| {
            (&self.file).rewind()?;
            folder.look_into(&self.file)
        })?;
        if seen.is_still(|it| is_known(self.action, it)) {
            return Ok(None);
        }
        let kept = Some(copy(&mut self.file, self.hidden, journal_dir)?);
        Ok(Some(Leftover { path: self.action.path.clone(), text: LeftoverText::Saved, kept }))
    }
}

/// Longer than the tick of any file system: a change gets another time than one so long ago.
const COARSE: Duration = Duration::from_millis(2100);

fn written(file: &File) -> io::Result<(u64, Option<SystemTime>)> {
    let metadata = file.metadata()?;
    Ok((metadata.len(), metadata.modified().ok()))
}

/// Whether it is the commit's own text, or the one that the change was made on, which is meant to go.
fn is_known(action: &Action, state: &State) -> bool {
    state.is_like(&action.before) || (*state != State::Missing && action.leads_to(state))
}
