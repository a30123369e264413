//! Locations: a server's positions as places in the view's text. What lies outside of the workspace
//! is read from the disk, as the server does.

use std::{
    fmt,
    path::{Path, PathBuf},
    str,
};

use bytes::Bytes;
use lint::{LineColumn, Span};
use lsp_client::{PositionEncoding, Positions, Range, uri::Uris};
use overlay::{View, WorkspacePath, read_regular};

/// A file as a server names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum File {
    Workspace(WorkspacePath),
    /// An absolute path: of a standard library, say.
    Outside(PathBuf),
    /// A URI of the server's own, of what is no file.
    Other(String),
}

/// Range of a text, in bytes and as lines and columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TextRange {
    pub span: Span,
    /// Columns count Unicode scalar values.
    pub start: LineColumn,
    pub end: LineColumn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub file: File,
    /// `None` if the server told none, or the file's text cannot be read.
    pub range: Option<TextRange>,
}

impl fmt::Debug for TextRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { span, start, end } = self;
        write!(f, "{}..{} ", span.start, span.end)?;
        write!(f, "{}:{}-{}:{}", start.line, start.column, end.line, end.column)
    }
}

/// Larger files are not read to find a place in them.
const LARGEST: u64 = 32 << 20;

/// The texts that a server's positions are in.
pub(super) struct Texts<'a> {
    pub(super) uris: &'a Uris,
    pub(super) view: &'a dyn View,
    pub(super) encoding: PositionEncoding,
}

impl Texts<'_> {
    pub(super) fn file(&self, uri: &str) -> File {
        match self.uris.path(uri) {
            Some(path) => File::Workspace(path),
            None => lsp_client::uri::absolute(uri).map_or_else(|| File::Other(uri.to_owned()), File::Outside),
        }
    }

    /// The locations of these ranges, in their order. What the view does not have is left out: only what it no
    /// longer shows can be meant.
    pub(super) fn locations(&self, all: impl IntoIterator<Item = (String, Option<Range>)>) -> Vec<Location> {
        let all: Vec<_> = all.into_iter().collect();
        let mut locations = Vec::with_capacity(all.len());
        for of_one in all.chunk_by(|one, other| one.0 == other.0) {
            let file = self.file(&of_one[0].0);
            if matches!(&file, File::Workspace(path) if !self.is_there(path)) {
                continue;
            }
            let text = self.text(&file);
            let positions =
                text.as_deref().and_then(|it| str::from_utf8(it).ok()).map(|it| self.positions(it));
            let range = |it: &Option<Range>| Some(text_range(positions.as_ref()?, (*it)?));
            locations.extend(of_one.iter().map(|it| Location { file: file.clone(), range: range(&it.1) }));
        }
        locations
    }

    pub(super) fn location(&self, uri: String, range: Option<Range>) -> Option<Location> {
        self.locations([(uri, range)]).pop()
    }

    pub(super) fn positions<'t>(&self, text: &'t str) -> Positions<'t> {
        Positions::new(text, self.encoding)
    }

    fn is_there(&self, path: &WorkspacePath) -> bool {
        self.view.resolve(path).and_then(|it| self.view.metadata(&it)).is_ok()
    }

    fn text(&self, file: &File) -> Option<Bytes> {
        match file {
            File::Workspace(path) => self.view.open(path).ok(),
            File::Outside(path) => read_outside(path),
            File::Other(_) => None,
        }
    }
}

pub(super) fn text_range(positions: &Positions<'_>, range: Range) -> TextRange {
    let span = positions.span(range);
    let (start, end) = (positions.line_column(span.start), positions.line_column(span.end));
    TextRange { span, start, end }
}

/// Reads a file outside of the workspace that a server referred to.
fn read_outside(path: &Path) -> Option<Bytes> {
    read_regular(path, LARGEST).ok().map(Bytes::from)
}
