//! Writes of a check to the workspace: fixes, all or none, and the completion of an interrupted earlier write.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use config::folders;
use lint::printable;
use overlay::{
    Branch, CommitConflict, CommitError, Committed, Committer, ContentHash, DiskState, FileOp, Leftover,
};

use crate::{CliError, console::Messages};

/// Ends what an interrupted `--fix` or commit left in the workspace, before that is looked at. Costs a few looks
/// at the state folder if there is nothing.
pub(super) fn recover(root: &Path, messages: &Messages) {
    let Some(journal) = journal(root).filter(|it| Committer::is_interrupted(it)) else { return };
    let committer = folders::own_state_dir().map_err(|error| error.message).and_then(|_| {
        Committer::new(root, &journal).map_err(|error| format!("cannot use {}: {error}", journal.display()))
    });
    let recovered = committer.and_then(|it| it.recover().map_err(|error| error.to_string()));
    match recovered {
        Ok(recovered) => report_leftovers(recovered.iter().flat_map(|it| &it.leftovers), messages),
        Err(error) => {
            let text = format!("what an interrupted commit left cannot be ended: {error}");
            messages.warning(&printable(&text));
        }
    }
}

/// Writes what `branch` changed to the workspace, all or none.
pub(super) fn fixes(branch: &Branch, root: &Path, messages: &Messages) -> Result<(), CliError> {
    let plan = branch.plan_commit(&BTreeSet::new());
    let mut plan = plan.map_err(|error| CliError::files(format!("cannot write the fixes: {error}")))?;
    if plan.ops.is_empty() {
        return Ok(());
    }
    folders::own_state_dir()?;
    let journal = journal(root).ok_or_else(|| {
        let error = CliError::files("there is no place for the journal of changes");
        error.hint("set BROKER_STATE_DIR to a folder outside of the workspace")
    })?;
    let committer = Committer::new(root, &journal)
        .map_err(|error| CliError::files(format!("cannot use {}: {error}", journal.display())))?;
    if let Some(state) = journal.parent() {
        // Only `broker daemon clean` needs it.
        let _unknown = workspaces::note_root(state, root);
    }
    let recovered = committer.recover().map_err(|error| refused(&error))?;
    report_leftovers(recovered.iter().flat_map(|it| &it.leftovers), messages);
    match commit_rest(&committer, &mut plan.ops) {
        Ok(committed) => report_leftovers(&committed.leftovers, messages),
        // The next check removes what was left behind.
        Err(CommitError::NotCleanedUp { journal, error, committed }) => {
            report_leftovers(&committed.leftovers, messages);
            let error = CommitError::NotCleanedUp { journal, error, committed };
            messages.warning(&printable(&error.to_string()));
        }
        Err(error) => return Err(refused(&error)),
    }
    Ok(())
}

/// Commits all of `ops` but those that another program has made in the meantime, which are taken out: several
/// `--fix` side by side would each write the same.
fn commit_rest(committer: &Committer, ops: &mut Vec<FileOp>) -> Result<Committed, CommitError> {
    loop {
        let refused = match committer.commit(ops) {
            Err(CommitError::Conflicts(refused)) => refused,
            done => return done,
        };
        let before = ops.len();
        ops.retain(|it| !refused.iter().any(|conflict| is_made(it, conflict)));
        if ops.len() == before {
            return Err(CommitError::Conflicts(refused));
        }
    }
}

/// Whether the file that was found is equal to the one that would have been written.
fn is_made(op: &FileOp, conflict: &CommitConflict) -> bool {
    let FileOp::Write { path, bytes, executable, .. } = op else { return false };
    *path == conflict.path && conflict.found == DiskState::File(ContentHash::of(bytes), *executable)
}

/// Path of the daemon's journal of the same workspace, so that each finds what the other left.
fn journal(root: &Path) -> Option<PathBuf> {
    let state = folders::state_dir()?;
    Some(workspaces::journal_of(&workspaces::state_of(&state, &workspaces::id_of(root))))
}

fn report_leftovers<'a>(leftovers: impl IntoIterator<Item = &'a Leftover>, messages: &Messages) {
    leftovers.into_iter().for_each(|it| messages.warning(&printable(&it.to_string())));
}

fn refused(error: &CommitError) -> CliError {
    let Some(conflicts) = error.conflicts() else {
        return CliError::files(format!("cannot write the fixes: {error}"));
    };
    let first = [CommitConflict::first(conflicts)].into_iter();
    let told: Vec<_> = first.chain(error.leftovers().iter().map(ToString::to_string)).collect();
    CliError::files(format!(
        "nothing was fixed, since files changed while they were checked: {}",
        told.join("; ")
    ))
    .hint("run it again: it starts from what is there now")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use overlay::{Expected, LeftoverText, WorkspacePath};

    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    /// A fix of the file from `old` to `new`.
    fn write(name: &str) -> FileOp {
        FileOp::Write {
            path: path(name),
            bytes: "new".into(),
            executable: false,
            before: Expected::File(ContentHash::of(b"old"), false),
            moved_from: None,
            permissions: None,
        }
    }

    #[test]
    fn what_another_has_fixed_in_the_same_way_is_done() {
        let place = tempfile::tempdir().unwrap();
        let (root, state) = (place.path().join("work"), place.path().join("state"));
        std::fs::create_dir(&root).unwrap();
        let put = |name: &str, text: &str| folders::replace(&root.join(name), text.as_bytes()).unwrap();
        let read = |name: &str| folders::read(&root.join(name)).unwrap();
        let committer = Committer::new(&root, &state).unwrap();
        let ops = || vec![write("a"), write("b"), write("c")];
        [("a", "new"), ("b", "old"), ("c", "new")].iter().for_each(|it| put(it.0, it.1));
        let committed = commit_rest(&committer, &mut ops()).unwrap();
        assert_eq!((committed.written, read("b")), (1, b"new".to_vec()));
        assert_eq!(commit_rest(&committer, &mut ops()).unwrap(), Committed::default(), "all is there");
        [("a", "old"), ("b", "other")].iter().for_each(|it| put(it.0, it.1));
        let refused = commit_rest(&committer, &mut ops()).unwrap_err();
        let paths: Vec<_> = refused.conflicts().unwrap().iter().map(|it| it.path.as_str()).collect();
        assert_eq!((paths, read("a"), read("b")), (vec!["b"], b"old".to_vec(), b"other".to_vec()));
    }

    #[test]
    fn a_refusal_of_many_files_lists_the_first() {
        let expected = Expected::Missing;
        let conflict = |n| CommitConflict {
            path: path(&format!("g{n}.py")),
            expected: expected.clone(),
            found: DiskState::Directory,
        };
        let told =
            |count: usize| refused(&CommitError::Conflicts((0..count).map(conflict).collect())).message;
        assert!(told(5).ends_with("`g4.py` was missing, now it is a directory"), "{}", told(5));
        assert!(
            told(6).ends_with("`g4.py` was missing, now it is a directory; and 1 more file"),
            "{}",
            told(6)
        );
        assert!(told(61).ends_with("; and 56 more files") && !told(61).contains("g5.py"), "{}", told(61));
        let of_commit = CommitError::Conflicts((0..61).map(conflict).collect()).to_string();
        assert!(of_commit.ends_with("; and 56 more files"), "{of_commit}");
    }

    #[test]
    fn a_refusal_names_the_files_and_says_what_to_do() {
        let hash = |it: &str| ContentHash::of(it.as_bytes());
        let expected = Expected::File(hash("old"), false);
        let conflicts = vec![
            CommitConflict {
                path: path("a.py"),
                expected: expected.clone(),
                found: DiskState::File(hash("new"), false),
            },
            CommitConflict { path: path("b.py"), expected, found: DiskState::OpenForWriting },
        ];
        let leftovers = vec![Leftover {
            path: path("c.py"),
            text: LeftoverText::Saved,
            kept: Some("/state/kept/c".into()),
        }];
        let error = Box::new(CommitError::Conflicts(conflicts));
        let told = refused(&CommitError::Left { error, leftovers });
        assert_eq!(
            told.message,
            "nothing was fixed, since files changed while they were checked: \
             `a.py` has another content now than the change was made on; \
             `b.py` is open for writing in another program; close it there; \
             `c.py` was saved while it was replaced; what was saved is in /state/kept/c"
        );
        assert_eq!(told.hint.as_deref(), Some("run it again: it starts from what is there now"));
    }
}
