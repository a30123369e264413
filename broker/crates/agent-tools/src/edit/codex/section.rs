//! Section of a codex patch for one file.

use super::super::{block::Block, names::Named};

/// Operation on one file.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Section<'a> {
    Add { path: &'a str, lines: Vec<&'a str> },
    Delete { path: &'a str },
    Update { path: &'a str, to: Option<&'a str>, chunks: Vec<Chunk<'a>> },
}

impl Section<'_> {
    pub(in super::super) fn named(&self) -> Named {
        match self {
            Self::Update { path, to: Some(to), .. } => {
                Named::Moved { from: (*path).to_owned(), to: (*to).to_owned() }
            }
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => {
                Named::One((*path).to_owned())
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Chunk<'a> {
    /// Lines that stand above it, outermost first.
    pub(super) heads: Vec<&'a str>,
    pub(super) block: Block<'a>,
    pub(super) is_last: bool,
}
