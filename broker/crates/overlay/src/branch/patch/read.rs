//! Files of a patch as operations on paths of the workspace.

use std::borrow::Cow;

use patch::{FilePatch, Hunk, Kind, Mode, Patch, Problem};

use super::PatchError;
use crate::{PathError, WorkspacePath};

/// A patch's edit of one file.
pub(super) struct FileEdit<'a> {
    pub(super) operation: Operation,
    pub(super) mode: Option<FileMode>,
    pub(super) hunks: Vec<Hunk<'a>>,
}

/// Kind of a file as git writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileMode {
    Regular,
    Executable,
    Symlink,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    Create(WorkspacePath),
    Delete(WorkspacePath),
    /// Edit of a file. Without git's header, `old` may be the name of a backup.
    Modify {
        old: WorkspacePath,
        path: WorkspacePath,
    },
    Rename {
        from: WorkspacePath,
        to: WorkspacePath,
    },
    Copy {
        from: WorkspacePath,
        to: WorkspacePath,
    },
}

/// A patch that came through a program that ends each line with CR LF is as it was before.
pub(super) fn normalised(patch: &str) -> Cow<'_, str> {
    let is_crlf = patch.contains('\n') && patch.split_inclusive('\n').all(|it| it.ends_with("\r\n"));
    if is_crlf { Cow::Owned(patch.replace("\r\n", "\n")) } else { Cow::Borrowed(patch) }
}

pub(super) fn read(text: &str) -> Result<Vec<FileEdit<'_>>, PatchError> {
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let patch = Patch::read(&lines, Mode::Strict);
    if let Some(error) = &patch.error {
        return Err(unreadable(error, &patch.files));
    }
    let files = patch.files().map_err(|it| unreadable(&it, &[]))?;
    let are_prefixed = git_prefixes(&files).unwrap_or_else(|| files.iter().all(is_prefixed));
    files.into_iter().map(|it| edit(it, are_prefixed)).collect()
}

/// The error of a patch, the last of whose files it is in.
fn unreadable(error: &patch::Error, files: &[FilePatch<'_>]) -> PatchError {
    let line = error.line;
    match &error.problem {
        Problem::Malformed(why) => PatchError::Unreadable { line, why: why.clone() },
        Problem::LostHunk => PatchError::LostHunk { line },
        Problem::Binary { file } => PatchError::Binary { file: file.clone(), line },
        Problem::HunkLength { stated, found } => PatchError::HunkLength {
            file: files.last().map(FilePatch::shown).unwrap_or_default().to_owned(),
            hunk: files.iter().map(|it| it.hunks.len()).sum::<usize>() + 1,
            line,
            stated: *stated,
            found: *found,
        },
    }
}

/// Returns whether all names in git's own headers have prefixes. `None` if no header shows it: one of a file that is
/// moved does not.
///
/// Which prefixes these are depends on what was compared, and on whose configuration.
fn git_prefixes(files: &[FilePatch<'_>]) -> Option<bool> {
    let pairs = files.iter().filter_map(|it| it.git.as_ref());
    pairs.map(|(old, new)| old != new).reduce(|a, b| a && b)
}

/// Whether the names have git's `a/` and `b/` before them. Those of renames and copies have not.
fn is_prefixed(file: &FilePatch<'_>) -> bool {
    let starts = |name: &Option<String>, prefix| name.as_ref().is_none_or(|it| it.starts_with(prefix));
    file.from.is_some() || file.sides.as_ref().is_none_or(|(old, new)| starts(old, "a/") && starts(new, "b/"))
}

fn edit(file: FilePatch<'_>, are_prefixed: bool) -> Result<FileEdit<'_>, PatchError> {
    let operation = operation(&file, are_prefixed)?;
    let mode = |text: Option<&str>| text.map(|it| FileMode::read(it, &file)).transpose();
    let (old, new) = (mode(file.old_mode)?, mode(file.new_mode)?);
    if [old, new].contains(&Some(FileMode::Submodule)) {
        return Err(PatchError::Submodule(operation.path().clone()));
    }
    Ok(FileEdit { operation, mode: new, hunks: file.hunks })
}

fn operation(file: &FilePatch<'_>, are_prefixed: bool) -> Result<Operation, PatchError> {
    let malformed = |why: &str| unreadable(&file.malformed(why), &[]);
    match (&file.from, &file.to) {
        (Some(from), Some(to)) if file.is_copy => {
            return Ok(Operation::Copy { from: path(from)?, to: path(to)? });
        }
        (Some(from), Some(to)) => return Ok(Operation::Rename { from: path(from)?, to: path(to)? }),
        (None, None) => {}
        _ => return Err(malformed("the names in the head of the file do not agree")),
    }
    let kind = file.kind().map_err(|it| unreadable(&it, &[]))?;
    let sides = file.sides.as_ref().map(|(old, new)| (old.as_ref(), new.as_ref()));
    let (old, new) = sides.or(file.git.as_ref().map(|(old, new)| (Some(old), Some(new)))).unwrap_or_default();
    let path = |name: Option<&String>| {
        let name = name.ok_or_else(|| malformed("the head names no file"))?;
        path(if are_prefixed { name.split_once('/').map_or("", |(_, rest)| rest) } else { name })
    };
    if kind == Kind::Edit && file.sides.is_some() && file.hunks.is_empty() {
        return Err(malformed("the names of the file have no hunk below them"));
    }
    Ok(match kind {
        Kind::Create => Operation::Create(path(new)?),
        Kind::Delete => Operation::Delete(path(old)?),
        Kind::Edit => Operation::Modify { old: path(old)?, path: path(new)? },
    })
}

impl FileMode {
    fn read(text: &str, file: &FilePatch<'_>) -> Result<Self, PatchError> {
        match text {
            "100644" => Ok(Self::Regular),
            "100755" => Ok(Self::Executable),
            "120000" => Ok(Self::Symlink),
            "160000" => Ok(Self::Submodule),
            _ => Err(unreadable(&file.malformed(format!("`{text}` is no mode of a file")), &[])),
        }
    }
}

fn path(name: &str) -> Result<WorkspacePath, PatchError> {
    if name.split('/').any(|it| it == "..") {
        return Err(PatchError::Path(PathError::Escapes(name.to_owned())));
    }
    Ok(WorkspacePath::new(name)?)
}

impl Operation {
    /// The path that the file has afterwards, or had.
    pub(super) fn path(&self) -> &WorkspacePath {
        match self {
            Self::Create(path) | Self::Delete(path) | Self::Modify { path, .. } => path,
            Self::Rename { to, .. } | Self::Copy { to, .. } => to,
        }
    }

    /// The path that is gone afterwards.
    pub(super) fn removed(&self) -> Option<&WorkspacePath> {
        match self {
            Self::Delete(path) | Self::Rename { from: path, .. } => Some(path),
            Self::Create(_) | Self::Modify { .. } | Self::Copy { .. } => None,
        }
    }
}
