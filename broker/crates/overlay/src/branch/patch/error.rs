//! Errors of patches, with the place in the patch.

use crate::{EditError, PathError, WorkspacePath};

/// Error of a patch that was refused. The branch is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    #[error("a patch of {length} bytes is too long; the limit is {limit}")]
    TooLong { length: usize, limit: usize },
    /// Lines are counted from 1, in the patch, here and below.
    #[error("the patch cannot be read from line {line} on: {why}")]
    Unreadable { line: usize, why: String },
    /// `hunk` counts those of the whole patch from 1.
    #[error(
        "hunk {hunk}, at line {line} of the patch (`{file}`), states {} old and {} new lines but has {} and {}",
        .stated.0, .stated.1, .found.0, .found.1
    )]
    HunkLength { file: String, hunk: usize, line: usize, stated: (usize, usize), found: (usize, usize) },
    /// A hunk that follows neither the names of a file nor another hunk.
    #[error("the hunk at line {line} of the patch belongs to no file")]
    LostHunk { line: usize },
    /// The search for a hunk's place takes too long. `hunk` is counted from 1 within the file.
    #[error(
        "hunk {hunk} of `{path}`, at line {patch_line} of the patch, and those before it are too far from where \
         they say; make the patch anew from the present text"
    )]
    TooFar { path: WorkspacePath, hunk: usize, patch_line: usize },
    #[error("a patch of more than {limit} files; apply it in parts")]
    TooManyFiles { limit: usize },
    #[error("line {line} of the patch is a binary patch of `{file}`; only text can be patched")]
    Binary { file: String, line: usize },
    #[error("`{0}` is a submodule")]
    Submodule(WorkspacePath),
    #[error(transparent)]
    Path(#[from] PathError),
    /// `hunk` is counted from 1 within the file; lines from 1.
    #[error(
        "hunk {hunk} of `{path}`, at line {patch_line} of the patch, does not fit: line {file_line} of the \
         file should be {expected:?} but {}", or_end(.found.as_deref())
    )]
    Mismatch {
        path: WorkspacePath,
        hunk: usize,
        patch_line: usize,
        file_line: usize,
        expected: String,
        /// `None`: the file ends before.
        found: Option<String>,
    },
    /// The patch removes a file, but the file has more than the patch removes.
    #[error("the patch deletes `{0}`, but not all of its lines")]
    NotAllDeleted(WorkspacePath),
    #[error(transparent)]
    Edit(#[from] EditError),
}

fn or_end(line: Option<&str>) -> String {
    line.map_or_else(|| "the file ends before".to_owned(), |line| format!("is {line:?}"))
}
