//! An agent's edit as two states of its files: before it, and after it.

use std::path::Path;

use broker_proto::{v1 as pb, v1::preview_edit::Edit as PreviewEdit};
use overlay::WorkspacePath;

use super::{
    event::{Edit, Moment, Original, Replacement},
    patch,
};
use crate::{CliError, client::Opened};

/// What is asked about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Made on the disk as it is: `before` first, which undoes what is done already.
    Between { before: Vec<pb::PreviewEdit>, edits: Vec<pb::PreviewEdit> },
    /// Files as they are, since it is not known what they were.
    Now(Vec<WorkspacePath>),
}

impl Change {
    /// `None` if there is nothing to ask about: files elsewhere, or an edit that cannot be made, as its agent will notice.
    pub(super) fn of(moment: Moment, edit: &Edit, opened: &Opened) -> Result<Option<Self>, CliError> {
        let paths = paths(edit, opened);
        if paths.is_empty() {
            return Ok(None);
        }
        match moment {
            Moment::Before => {
                Ok(ahead(edit, &paths, opened)?.map(|edits| Self::Between { before: Vec::new(), edits }))
            }
            Moment::After => {
                let Some(before) = back(edit, &paths, opened)? else { return Ok(Some(Self::Now(paths))) };
                let edits = paths.iter().map(|it| as_it_is(it, opened)).collect::<Result<_, _>>()?;
                Ok(Some(Self::Between { before, edits }))
            }
        }
    }
}

/// The files; none if one of them is not in the workspace.
fn paths(edit: &Edit, opened: &Opened) -> Vec<WorkspacePath> {
    let all: Result<_, _> = match edit {
        Edit::Write { path, .. } | Edit::Replace { path, .. } | Edit::Delete { path } => {
            opened.path(path).map(|it| vec![it])
        }
        Edit::Patch(text) => patch::paths(text).into_iter().map(|it| opened.path(Path::new(it))).collect(),
    };
    all.unwrap_or_default()
}

/// What makes the edit.
fn ahead(
    edit: &Edit,
    paths: &[WorkspacePath],
    opened: &Opened,
) -> Result<Option<Vec<pb::PreviewEdit>>, CliError> {
    let made = match edit {
        Edit::Write { text, .. } => Some(write(&paths[0], text)),
        Edit::Delete { .. } => Some(remove(&paths[0])),
        Edit::Patch(text) => Some(code(text)),
        Edit::Replace { replacements, .. } => {
            let text = on_disk(&paths[0], opened)?;
            text.and_then(|it| replaced(it, replacements)).map(|it| write(&paths[0], &it))
        }
    };
    Ok(made.map(|it| vec![it]))
}

/// What undoes the edit, if that is known.
fn back(
    edit: &Edit,
    paths: &[WorkspacePath],
    opened: &Opened,
) -> Result<Option<Vec<pb::PreviewEdit>>, CliError> {
    let undone = match edit {
        Edit::Write { original, .. } | Edit::Replace { original, .. } if *original != Original::NotSaid => {
            match original {
                Original::Text(text) => Some(write(&paths[0], text)),
                _ => Some(remove(&paths[0])),
            }
        }
        Edit::Replace { replacements, .. } => {
            let text = on_disk(&paths[0], opened)?;
            text.and_then(|it| undone(it, replacements)).map(|it| write(&paths[0], &it))
        }
        Edit::Patch(text) => patch::reversed(text).map(|it| code(&it)),
        Edit::Write { .. } | Edit::Delete { .. } => None,
    };
    Ok(undone.map(|it| vec![it]))
}

/// `None` if the agent's edit does not fit the text.
fn replaced(mut text: String, replacements: &[Replacement]) -> Option<String> {
    for Replacement { old, new, all } in replacements {
        if old.is_empty() || !text.contains(old) || (!all && text.matches(old).nth(1).is_some()) {
            return None;
        }
        text = text.replace(old, new);
    }
    Some(text)
}

/// `None` where another text could have been the one before, too.
fn undone(mut text: String, replacements: &[Replacement]) -> Option<String> {
    for Replacement { old, new, all } in replacements.iter().rev() {
        if *all || new.is_empty() || text.matches(new).count() != 1 {
            return None;
        }
        text = text.replace(new, old);
    }
    Some(text)
}

/// The text of a file, if it is there and is one.
#[expect(
    clippy::disallowed_methods,
    reason = "what an agent is about to edit, or has just edited, is on the disk"
)]
fn on_disk(path: &WorkspacePath, opened: &Opened) -> Result<Option<String>, CliError> {
    let file = opened.workspace.root().join(path.as_str());
    match std::fs::read(&file) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::files(format!("cannot read {}: {error}", file.display()))),
    }
}

fn as_it_is(path: &WorkspacePath, opened: &Opened) -> Result<pb::PreviewEdit, CliError> {
    Ok(match on_disk(path, opened)? {
        Some(text) => write(path, &text),
        None => remove(path),
    })
}

fn write(path: &WorkspacePath, text: &str) -> pb::PreviewEdit {
    let (path, content) = (path.to_string(), text.to_owned().into());
    file(pb::file_edit::Edit::Write(pb::WriteFile { path, content, if_content_hash: String::new() }))
}

fn remove(path: &WorkspacePath) -> pb::PreviewEdit {
    file(pb::file_edit::Edit::Remove(pb::RemovePath { path: path.to_string() }))
}

fn file(edit: pb::file_edit::Edit) -> pb::PreviewEdit {
    pb::PreviewEdit { edit: Some(PreviewEdit::File(pb::FileEdit { edit: Some(edit) })) }
}

fn code(text: &str) -> pb::PreviewEdit {
    let code = pb::CodeEdit { target_file: String::new(), code_edit: text.to_owned() };
    pb::PreviewEdit { edit: Some(PreviewEdit::Code(code)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replacement(old: &str, new: &str, all: bool) -> Replacement {
        Replacement { old: old.to_owned(), new: new.to_owned(), all }
    }

    #[test]
    fn replacements_are_made_one_after_another() {
        let steps = [replacement("a", "b", false), replacement("b", "c", true)];
        assert_eq!(replaced("a b".to_owned(), &steps).unwrap(), "c c");
        assert_eq!(replaced("a a".to_owned(), &steps), None, "it stands there twice");
        assert_eq!(replaced("x".to_owned(), &steps), None);
    }

    #[test]
    fn only_what_is_certain_is_undone() {
        let undo = |text: &str, step| undone(text.to_owned(), &[step]);
        assert_eq!(undo("b c", replacement("a", "b", false)).unwrap(), "a c");
        assert_eq!(undo("b b", replacement("a", "b", false)), None);
        assert_eq!(undo("b", replacement("a", "b", true)), None);
        assert_eq!(undo("b", replacement("a", "", false)), None);
    }
}
