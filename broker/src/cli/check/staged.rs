//! `--fix` of what is staged: in the index, and in the folder as far as that has the same lines.

use std::sync::Arc;

use bytes::Bytes;
use checker::pipeline::Fixed;
use config::root::WorkspaceRoot;
use lint::printable;
use overlay::{Branch, ContentHash, View, WorkspacePath, merge_texts};

use super::{input, write};
use crate::{
    CliError,
    console::Messages,
    git::{Git, Restaged},
};

/// Writes the fixes to the folder first: an index that could not be written leaves them there, not staged.
pub(super) fn keep(fixed: &Fixed, workspace: &WorkspaceRoot, messages: &Messages) -> Result<(), CliError> {
    let git = Git::of(workspace.root())?;
    let warn = |path: &WorkspacePath, why: &str| {
        messages.warning(&printable(&format!("{} {why}", workspace.display(path))));
    };
    let filtered = git.filtered(&fixed.before.keys().collect::<Vec<_>>())?;
    let disk = input::disk(workspace)?;
    let mut folder = Branch::new(Arc::clone(&disk));
    let mut restaged = Vec::new();
    for (path, before) in &fixed.before {
        let Some((old, new)) = fixed_text(fixed, path, before)? else { continue };
        if filtered.contains(path) {
            warn(path, "was not fixed: git stores it by means of a program, which Broker does not run");
            continue;
        }
        let own = disk.read(path).ok();
        let merged = own.as_ref().map(|own| merge_texts(&old, own, &new));
        match merged {
            Some(Some(text)) => {
                folder.write(path, text).map_err(|it| CliError::files(it.to_string()))?;
            }
            Some(None) => {
                warn(path, "was fixed in the index only: what is not staged touches the same lines")
            }
            None => warn(path, "was fixed in the index only: it is not in the folder"),
        }
        restaged.push(Restaged { path: path.clone(), is_stored: own.as_ref() != Some(&old), old, new });
    }
    write::fixes(&folder, workspace.root(), messages)?;
    git.restage(&restaged)
}

/// What was checked, and what it became; `None` if that is the same.
fn fixed_text(
    fixed: &Fixed,
    path: &WorkspacePath,
    before: &ContentHash,
) -> Result<Option<(Bytes, Bytes)>, CliError> {
    let after = fixed.branch.snapshot();
    let read = |view: &dyn View| {
        view.read(path).map_err(|error| CliError::files(format!("cannot read what was fixed: {error}")))
    };
    let (old, new) = (read(&after.base_of())?, read(&after)?);
    if ContentHash::of(&old) != *before {
        let error = CliError::files(format!("`{path}` changed while it was checked"));
        return Err(error.hint("run it again: it starts from what is there now"));
    }
    Ok((old != new).then_some((old, new)))
}
