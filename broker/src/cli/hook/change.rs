//! An agent's edit as two states of its files: before it, and after it.

use std::{io, path::Path};

use agents::{CodexPatch, PreviewEdit};
use bytes::Bytes;
use overlay::{Disk, FileKind, View as _, WorkspacePath, io_reason};
use workspaces::{Expected, FileEdit};

use super::event::{Edit, Moment, Original, Replacement};
use crate::{CliError, client::Opened};

/// Change that a hook asks about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Edits of the disk as it is: `before` is made first, and undoes edits that are on the disk already.
    Between { before: Vec<PreviewEdit>, edits: Vec<PreviewEdit>, paths: Vec<WorkspacePath> },
    /// Files as they are, since it is not known what they were.
    Now(Vec<WorkspacePath>),
}

impl Change {
    /// `None` if there is nothing to ask about: files elsewhere, or an edit that cannot be made.
    pub(super) fn of(moment: Moment, edit: &Edit, opened: &Opened) -> Result<Option<Self>, CliError> {
        let edit = &within(edit, opened);
        let paths = paths(edit, opened);
        match (moment, edit) {
            _ if paths.is_empty() => Ok(None),
            // The content of a deleted file is not known.
            (Moment::After, Edit::Delete { .. }) => Ok(None),
            (Moment::Before, _) => Ok(ahead(edit, &paths, opened)?.map(|it| Self::Between {
                before: Vec::new(),
                edits: vec![it],
                paths,
            })),
            (Moment::After, _) => {
                let Some(before) = back(edit, &paths, opened)? else { return Ok(Some(Self::Now(paths))) };
                let edits = paths.iter().map(|it| as_it_is(it, opened)).collect::<Result<_, _>>()?;
                Ok(Some(Self::Between { before: vec![before], edits, paths }))
            }
        }
    }
}

/// The edit with a patch's files as the workspace names them, and without those elsewhere: an agent names them as seen from
/// its own folder.
fn within(edit: &Edit, opened: &Opened) -> Edit {
    let name = |path: &str| opened.path(Path::new(path)).ok().map(|it| it.to_string());
    match edit {
        Edit::Patch(text) => Edit::Patch(renamed(text, name)),
        other => other.clone(),
    }
}

/// A patch that cannot be read stays as it is: its own tool refuses it.
fn renamed(patch: &str, name: impl Fn(&str) -> Option<String>) -> String {
    CodexPatch::read(patch).map_or_else(|_| patch.to_owned(), |it| it.renamed(name))
}

/// The files; none if it is not in the workspace.
fn paths(edit: &Edit, opened: &Opened) -> Vec<WorkspacePath> {
    match edit {
        Edit::Write { path, .. } | Edit::Replace { path, .. } | Edit::Delete { path } => {
            opened.path(path).into_iter().collect()
        }
        Edit::Patch(text) => {
            let patch = CodexPatch::read(text);
            let paths = patch.iter().flat_map(CodexPatch::paths);
            paths.filter_map(|it| WorkspacePath::new(it).ok()).collect()
        }
    }
}

/// Returns the edit in the form of a preview.
fn ahead(edit: &Edit, paths: &[WorkspacePath], opened: &Opened) -> Result<Option<PreviewEdit>, CliError> {
    Ok(match edit {
        Edit::Write { text, .. } => Some(write(&paths[0], text.clone())),
        Edit::Delete { .. } => Some(remove(&paths[0])),
        Edit::Patch(text) => Some(code(text)),
        Edit::Replace { replacements, .. } => {
            let text = text_on_disk(&paths[0], opened)?;
            replaced(text, replacements).map(|it| write(&paths[0], it))
        }
    })
}

/// Returns an edit that undoes the edit, if one is known.
fn back(edit: &Edit, paths: &[WorkspacePath], opened: &Opened) -> Result<Option<PreviewEdit>, CliError> {
    Ok(match edit {
        Edit::Write { original: Original::Text(text), .. }
        | Edit::Replace { original: Original::Text(text), .. } => Some(write(&paths[0], text.clone())),
        Edit::Write { original: Original::Missing, .. }
        | Edit::Replace { original: Original::Missing, .. } => Some(remove(&paths[0])),
        Edit::Replace { replacements, .. } => {
            let text = text_on_disk(&paths[0], opened)?;
            text.and_then(|it| undone(it, replacements)).map(|it| write(&paths[0], it))
        }
        Edit::Patch(text) => CodexPatch::read(text).ok().and_then(|it| it.reversed()).map(|it| code(&it)),
        Edit::Write { .. } | Edit::Delete { .. } => None,
    })
}

/// `None` if the agent's edit does not fit the text, of which there is none if the file is not there.
fn replaced(text: Option<String>, replacements: &[Replacement]) -> Option<String> {
    let before = text.unwrap_or_default();
    let has_crlf = before.contains("\r\n");
    let unified = |it: &str| if has_crlf { it.replace("\r\n", "\n") } else { it.to_owned() };
    let mut text = unified(&before);
    for Replacement { old, new, all } in replacements {
        let (old, new) = (unified(old), unified(new));
        // A replacement of nothing, as agents call it, makes a file.
        if old.is_empty() && text.is_empty() {
            text = new;
            continue;
        }
        if old.is_empty() || !text.contains(&old) || (!all && text.matches(&old).nth(1).is_some()) {
            return None;
        }
        text = text.replace(&old, &new);
    }
    Some(if has_crlf { text.replace('\n', "\r\n") } else { text })
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

/// Bytes of a file whose edit is previewed.
const LARGEST: u64 = 64 << 20;

/// The bytes of a file, if it is there. What an agent is about to edit, or has just edited, is on the disk. No link is followed, and
/// nothing but a regular file is read.
fn on_disk(path: &WorkspacePath, opened: &Opened) -> Result<Option<Bytes>, CliError> {
    let unreadable = |why: &dyn std::fmt::Display| CliError::files(format!("cannot read {path}: {why}"));
    let disk = Disk::new(opened.workspace.root()).map_err(|it| unreadable(&io_reason(&it)))?;
    let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let metadata = match disk.metadata(path) {
        Err(error) if missing(&error) => return Ok(None),
        metadata => metadata.map_err(|it| unreadable(&io_reason(&it)))?,
    };
    if metadata.kind != FileKind::File {
        return Err(unreadable(&"it is no regular file"));
    }
    if metadata.size > LARGEST {
        return Err(unreadable(&"it is too large"));
    }
    match disk.read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if missing(&error) => Ok(None),
        Err(error) => Err(unreadable(&io_reason(&error))),
    }
}

/// The text of a file, if it is there.
fn text_on_disk(path: &WorkspacePath, opened: &Opened) -> Result<Option<String>, CliError> {
    let no_text = |_| CliError::files(format!("cannot preview an edit of {path}: it is not UTF-8"));
    on_disk(path, opened)?.map(|it| String::from_utf8(it.into()).map_err(no_text)).transpose()
}

fn as_it_is(path: &WorkspacePath, opened: &Opened) -> Result<PreviewEdit, CliError> {
    Ok(match on_disk(path, opened)? {
        Some(bytes) => write(path, bytes),
        None => remove(path),
    })
}

fn write(path: &WorkspacePath, content: impl Into<Bytes>) -> PreviewEdit {
    let (path, content, expected) = (path.to_string(), content.into(), Expected::Anything);
    PreviewEdit::File(FileEdit::Write { path, content, expected })
}

fn remove(path: &WorkspacePath) -> PreviewEdit {
    PreviewEdit::File(FileEdit::Remove { path: path.to_string() })
}

fn code(text: &str) -> PreviewEdit {
    PreviewEdit::Code { target_file: String::new(), code_edit: text.to_owned() }
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
        let replaced = |text: &str, steps: &[_]| replaced(Some(text.to_owned()), steps);
        assert_eq!(replaced("a b", &steps).unwrap(), "c c");
        assert_eq!(replaced("a a", &steps), None, "it stands there twice");
        assert_eq!(replaced("x", &steps), None);
        assert_eq!(replaced("a\r\nb\r\n", &[replacement("a\nb", "a\nc", false)]).unwrap(), "a\r\nc\r\n");
        assert_eq!(replaced("", &[replacement("", "new", false)]).unwrap(), "new");
        assert_eq!(replaced("x", &[replacement("", "new", false)]), None);
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
