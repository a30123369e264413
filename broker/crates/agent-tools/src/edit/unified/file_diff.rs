//! Part of a diff for one file.

use super::super::{block::Block, names::Named};

/// The part of a diff that is of one file.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct FileDiff<'a> {
    pub(in super::super) named: Named,
    pub(in super::super) kind: Kind,
    /// Whether the diff makes the file another kind of file, or changes whether it is executable.
    pub(in super::super) is_mode_changed: bool,
    pub(in super::super) hunks: Vec<Hunk<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Edit,
    Create,
    Delete,
}

#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Hunk<'a> {
    pub(in super::super) block: Block<'a>,
    /// The first line that is there before, from 0, if the head can be believed.
    pub(super) stated: Option<usize>,
    /// The line above it that the head names.
    pub(super) heading: Option<&'a str>,
    /// Whether the text ends with a line ending afterwards; `None` if the hunk leaves that open.
    pub(super) ends: Option<bool>,
}
