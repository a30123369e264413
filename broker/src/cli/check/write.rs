//! What a check writes to the workspace: fixes, all or none, and the end of what was interrupted before.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use overlay::{Branch, CommitError, Committer, Leftover};

use crate::{CliError, console::Messages, daemon, home, render::printable};

/// Ends what an interrupted `--fix` or commit left in the workspace, before that is looked at. Costs a few looks
/// at the state folder if there is nothing.
pub(super) fn recover(root: &Path, messages: &Messages) {
    let Some(journal) = journal(root).filter(|it| Committer::is_interrupted(it)) else { return };
    let recovered = match Committer::new(root, &journal) {
        Ok(committer) => committer.recover().map_err(|error| error.to_string()),
        Err(error) => Err(format!("cannot use {}: {error}", journal.display())),
    };
    match recovered {
        Ok(recovered) => tell(recovered.iter().flat_map(|it| &it.leftovers), messages),
        Err(error) => {
            let text = format!("what an interrupted commit left cannot be ended: {error}");
            messages.warning(&printable(&text));
        }
    }
}

/// Writes what `branch` changed to the workspace, all or none.
pub(super) fn fixes(branch: &Branch, root: &Path, messages: &Messages) -> Result<(), CliError> {
    let plan = branch.plan_commit(&BTreeSet::new());
    let plan = plan.map_err(|error| CliError::files(format!("cannot write the fixes: {error}")))?;
    if plan.ops.is_empty() {
        return Ok(());
    }
    let journal = journal(root).ok_or_else(|| {
        let error = CliError::files("there is no place for the journal of changes");
        error.hint("set BROKER_STATE_DIR to a folder outside of the workspace")
    })?;
    let committer = Committer::new(root, &journal)
        .map_err(|error| CliError::files(format!("cannot use {}: {error}", journal.display())))?;
    let recovered = committer.recover().map_err(|error| refused(&error))?;
    tell(recovered.iter().flat_map(|it| &it.leftovers), messages);
    match committer.commit(&plan.ops) {
        Ok(committed) => tell(&committed.leftovers, messages),
        // The next check removes what was left behind.
        Err(CommitError::NotCleanedUp { journal, error, committed }) => {
            tell(&committed.leftovers, messages);
            let error = CommitError::NotCleanedUp { journal, error, committed };
            messages.warning(&printable(&error.to_string()));
        }
        Err(error) => return Err(refused(&error)),
    }
    Ok(())
}

/// Where the daemon keeps the journal of the same workspace, so that each finds what the other left.
fn journal(root: &Path) -> Option<PathBuf> {
    let state = home::state_dir()?;
    Some(daemon::state_of(&state, &daemon::id_of(root)).join("journal"))
}

fn tell<'a>(leftovers: impl IntoIterator<Item = &'a Leftover>, messages: &Messages) {
    leftovers.into_iter().for_each(|it| messages.warning(&printable(&it.to_string())));
}

fn refused(error: &CommitError) -> CliError {
    let Some(conflicts) = error.conflicts() else {
        return CliError::files(format!("cannot write the fixes: {error}"));
    };
    let told = conflicts.iter().map(ToString::to_string);
    let told: Vec<_> = told.chain(error.leftovers().iter().map(ToString::to_string)).collect();
    CliError::files(format!(
        "nothing was fixed, since files changed while they were checked: {}",
        told.join("; ")
    ))
    .hint("run it again: it starts from what is there now")
}

#[cfg(test)]
mod tests {
    use overlay::{CommitConflict, ContentHash, Expected, Found, LeftoverText, WorkspacePath};

    use super::*;

    #[test]
    fn a_refusal_names_the_files_and_says_what_to_do() {
        let path = |it: &str| WorkspacePath::new(it).unwrap();
        let hash = |it: &str| ContentHash::of(it.as_bytes());
        let expected = Expected::File(hash("old"), false);
        let conflicts = vec![
            CommitConflict {
                path: path("a.py"),
                expected: expected.clone(),
                found: Found::File(hash("new"), false),
            },
            CommitConflict { path: path("b.py"), expected, found: Found::OpenForWriting },
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
