//! Access to a server that is in the view's state, for a question about a document that is open there.

use std::{str, time::Instant};

use bytes::Bytes;
use lint::Cancel;
use overlay::{View, WorkspacePath};
use serde::de::DeserializeOwned;
use serde_json::{Value, json, value::RawValue};

use std::sync::Arc;

use lsp_client::{Client, EditPolicy, Position, PositionEncoding, Positions, Range, RequestError, uri::Uris};

use super::{At, NoAnswer, Part, location::Texts};
use crate::Profile;

/// Parameters of a question.
pub(crate) struct Asker<'a> {
    pub(crate) client: Client,
    pub(crate) uris: &'a Uris,
    pub(crate) profile: &'a Profile,
    pub(crate) view: &'a Arc<dyn View>,
    /// Document that the question is about.
    pub(crate) document: Option<(WorkspacePath, Bytes)>,
    /// Diagnostics that the server has published about the document, if that is how it reports them.
    pub(crate) published: Vec<Value>,
    pub(crate) deadline: Instant,
    pub(crate) cancel: &'a Cancel,
    /// Takes what the server has wanted to change so far.
    pub(crate) wanted: &'a mut dyn FnMut() -> Vec<Box<RawValue>>,
}

const METHOD_NOT_FOUND: i64 = -32601;

impl Asker<'_> {
    /// Sends a request of a method that the server supports.
    pub(super) fn request<R: DeserializeOwned>(&self, method: &str, params: &Value) -> Result<R, NoAnswer> {
        if !self.client.supports(method) {
            return Err(NoAnswer::Unsupported(method.to_owned()));
        }
        self.request_unseen(method, params)
    }

    /// Sends a request of a method that the server need not have announced.
    pub(super) fn request_unseen<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<R, NoAnswer> {
        let answer = self.client.request(method, params, self.deadline, self.cancel);
        answer.map_err(|error| match error {
            RequestError::Refused(it) if it.code == METHOD_NOT_FOUND => {
                NoAnswer::Unsupported(method.to_owned())
            }
            RequestError::TimedOut | RequestError::Cancelled => NoAnswer::Pending(error.to_string()),
            error => NoAnswer::Failed(error.to_string()),
        })
    }

    /// Runs a command of the server's. Returns what it wanted to change: nothing is changed.
    pub(super) fn execute(
        &mut self,
        command: &str,
        arguments: &Value,
    ) -> Result<Vec<Box<RawValue>>, NoAnswer> {
        drop((self.wanted)());
        self.client.set_edits(EditPolicy::Capture);
        let params = json!({ "command": command, "arguments": arguments });
        let done = self.request::<Value>("workspace/executeCommand", &params);
        self.client.set_edits(EditPolicy::Refuse);
        let wanted = (self.wanted)();
        done.map(|_| wanted)
    }

    pub(super) fn texts(&self) -> Texts<'_> {
        Texts { uris: self.uris, view: &**self.view, encoding: self.encoding() }
    }

    pub(super) fn encoding(&self) -> PositionEncoding {
        self.client.encoding()
    }

    /// `textDocument` of the parameters.
    pub(super) fn document(&self) -> Result<Value, NoAnswer> {
        let (path, _) = self.document.as_ref().ok_or_else(no_document)?;
        Ok(json!({ "uri": self.uris.of(path) }))
    }

    pub(super) fn path(&self) -> Result<&WorkspacePath, NoAnswer> {
        self.document.as_ref().map(|it| &it.0).ok_or_else(no_document)
    }

    /// The positions of the document.
    pub(super) fn positions(&self) -> Result<Positions<'_>, NoAnswer> {
        let (_, bytes) = self.document.as_ref().ok_or_else(no_document)?;
        // The server was told of it, and so it is UTF-8.
        Ok(Positions::new(str::from_utf8(bytes).unwrap_or_default(), self.encoding()))
    }

    pub(super) fn position(&self, at: At) -> Result<Position, NoAnswer> {
        let (_, bytes) = self.document.as_ref().ok_or_else(no_document)?;
        let text = str::from_utf8(bytes).unwrap_or_default();
        let offset = offset_of(text, at).ok_or_else(|| NoAnswer::Failed(nowhere(at)))?;
        Ok(Positions::new(text, self.encoding()).position(offset))
    }

    pub(super) fn range(&self, part: &Part) -> Result<Range, NoAnswer> {
        Ok(Range { start: self.position(part.start)?, end: self.position(part.end)? })
    }

    /// Returns the range of the part, or of the whole document.
    pub(super) fn range_or_all(&self, part: Option<&Part>) -> Result<Range, NoAnswer> {
        let all = || At::Offset(0)..At::Offset(u32::try_from(self.length()).unwrap_or(u32::MAX));
        part.map_or_else(|| self.range(&all()), |it| self.range(it))
    }

    /// The usual parameters of a question about a place.
    pub(super) fn at(&self, at: At) -> Result<Value, NoAnswer> {
        Ok(json!({ "textDocument": self.document()?, "position": self.position(at)? }))
    }

    fn length(&self) -> usize {
        self.document.as_ref().map_or(0, |it| it.1.len())
    }
}

fn no_document() -> NoAnswer {
    NoAnswer::Failed("the question names no document".to_owned())
}

fn nowhere(at: At) -> String {
    match at {
        At::Offset(offset) => {
            format!("there is no byte {offset} in the text, or a character starts before it")
        }
        At::LineColumn(it) => format!("there is no line {}, column {} in the text", it.line, it.column),
    }
}

/// `None` for a place that the text does not have: it is of another text.
pub(crate) fn offset_of(text: &str, at: At) -> Option<u32> {
    match at {
        At::Offset(offset) => text.is_char_boundary(offset as usize).then_some(offset),
        At::LineColumn(it) => {
            let positions = Positions::new(text, PositionEncoding::Utf32);
            let position = Position { line: it.line.checked_sub(1)?, character: it.column.checked_sub(1)? };
            let offset = positions.offset(position);
            (positions.position(offset) == position).then_some(offset)
        }
    }
}

#[cfg(test)]
mod tests {
    use lint::LineColumn;

    use super::*;

    #[track_caller]
    fn check(text: &str, line: u32, column: u32, want: Option<u32>) {
        assert_eq!(offset_of(text, At::LineColumn(LineColumn { line, column })), want);
    }

    #[test]
    fn a_place_of_another_text_is_none() {
        check("a𐐀b\nc", 1, 3, Some(5));
        check("a𐐀b\nc", 2, 2, Some(8));
        check("a𐐀b\nc", 1, 5, None);
        check("a𐐀b\nc", 3, 1, None);
        check("a", 0, 1, None);
        check("\u{feff}a", 1, 1, Some(3));
        assert_eq!(offset_of("a𐐀b", At::Offset(2)), None);
        assert_eq!(offset_of("a𐐀b", At::Offset(6)), Some(6));
        assert_eq!(offset_of("a𐐀b", At::Offset(7)), None);
    }
}
