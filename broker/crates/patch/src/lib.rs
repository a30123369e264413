//! Texts of unified and git diffs: files, names, modes and hunks, each with its line in the text.
//!
//! One reader has two modes. [`Mode::Strict`] takes what `git apply` takes, so that no hunk is lost or guessed at;
//! [`Mode::Lenient`] takes what models write: hunks without numbers or with wrong ones, files without names, text around
//! the diff. Which file a name means and where a hunk fits is decided by those who apply the diff.

mod around;
mod error;
mod file;
mod heads;
mod hunk;
mod names;
mod reader;

pub use self::{
    around::{Outside, is_fence, is_signature, is_vcs_head},
    error::{Error, Problem},
    file::{FilePatch, Kind},
    hunk::{Hunk, Numbers, Sign},
    names::bare,
    reader::Patch,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Strict,
    Lenient,
}

/// A line without its ending.
fn unended(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}
