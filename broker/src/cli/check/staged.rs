//! `--fix` of what is staged: in the index, and in the folder as far as that has the same lines.

use std::sync::Arc;

use bytes::Bytes;
use check_engine::pipeline::Fixed;
use config::root::WorkspaceRoot;
use lint::printable;
use overlay::{Branch, ContentHash, View, WorkspacePath, merge_texts};

use super::{view, write};
use crate::{
    CliError,
    console::Messages,
    git::{Conversion, Git, Restaged},
};

/// Writes the fixes to the folder first: an index that could not be written leaves them there, not staged.
pub(super) fn keep(fixed: &Fixed, workspace: &WorkspaceRoot, messages: &Messages) -> Result<(), CliError> {
    let git = Git::of(workspace.root())?;
    let warn = |path: &WorkspacePath, why: &str| {
        messages.warning(&printable(&format!("{} {why}", workspace.display(path))));
    };
    let conversions = git.conversions(fixed.before.keys())?;
    let disk = view::disk(workspace)?;
    let mut folder = Branch::new(Arc::clone(&disk));
    let mut restaged = Vec::new();
    for (path, before) in &fixed.before {
        let Some((old, new)) = fixed_text(fixed, path, before)? else { continue };
        if matches!(conversions.get(path), Some(Conversion::Clean | Conversion::Smudge)) {
            warn(path, "was not fixed: git stores it by means of a program, which Broker does not run");
            continue;
        }
        let own = disk.read(path).ok();
        let merged = own.as_ref().map(|own| merged(&old, own, &new));
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

/// Returns the text that was checked and the fixed one; `None` if they are the same.
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

/// The folder's text with the changes of the staged one; `None` if both changed the same lines. Where git stores line feeds alone,
/// the folder's line endings stay.
fn merged(old: &Bytes, own: &Bytes, new: &Bytes) -> Option<Bytes> {
    match (str::from_utf8(old), str::from_utf8(own)) {
        (Ok(stored), Ok(text)) if !stored.contains('\r') && has_crlf_only(text) => {
            let text = merge_texts(old, &text.replace("\r\n", "\n").into(), new)?;
            Some(String::from_utf8_lossy(&text).replace('\n', "\r\n").into())
        }
        _ => merge_texts(old, own, new),
    }
}

fn has_crlf_only(text: &str) -> bool {
    text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_of_the_folder_stay() {
        let merged = |own: &'static str| {
            let text = |it: &'static str| Bytes::from_static(it.as_bytes());
            let merged = merged(&text("a\nb\nc\n"), &text(own), &text("a\nc\n"));
            merged.map(|it| String::from_utf8_lossy(&it).into_owned())
        };
        assert_eq!(merged("a\r\nb\r\nc\r\nd\r\n").as_deref(), Some("a\r\nc\r\nd\r\n"));
        assert_eq!(merged("a\nb\nc\nd\n").as_deref(), Some("a\nc\nd\n"));
        assert_eq!(merged("a\r\nB\r\nc\r\n"), None, "both changed a line");
    }
}
