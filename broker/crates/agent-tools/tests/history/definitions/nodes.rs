//! The nodes of a syntax tree, read from its table.

use std::ops::Range;

use syntax::{Flags, WORDS};

pub(super) struct Nodes<'a> {
    source: &'a str,
    table: Vec<&'a [u32]>,
    kinds: &'a [(String, bool)],
    fields: &'a [String],
    parents: Vec<Option<usize>>,
    /// Starts of lines.
    starts: Vec<usize>,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(
        source: &'a str,
        table: &'a [u32],
        kinds: &'a [(String, bool)],
        fields: &'a [String],
    ) -> Self {
        let table: Vec<&[u32]> = table.chunks_exact(WORDS).collect();
        let newlines = source.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 + 1);
        let starts = std::iter::once(0).chain(newlines).collect();
        let (mut parents, mut open) = (Vec::with_capacity(table.len()), Vec::<usize>::new());
        for at in 0..table.len() {
            while open.last().is_some_and(|it| table[*it][4] as usize <= at) {
                open.pop();
            }
            parents.push(open.last().copied());
            open.push(at);
        }
        Self { source, table, kinds, fields, parents, starts }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn kind(&self, at: usize) -> &'a str {
        self.kinds.get((self.table[at][0] & 0xffff) as usize).map_or("ERROR", |it| it.0.as_str())
    }

    pub(super) fn is_named(&self, at: usize) -> bool {
        self.table[at][1] & Flags::NAMED != 0
    }

    pub(super) fn has_error(&self, at: usize) -> bool {
        self.table[at][1] & Flags::HAS_ERROR != 0
    }

    pub(super) fn field(&self, at: usize) -> &'a str {
        self.fields.get((self.table[at][0] >> 16) as usize).map_or("", String::as_str)
    }

    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.parents[at]
    }

    /// The first node that is no part of it.
    pub(super) fn end_of_parts(&self, at: usize) -> usize {
        self.table[at][4] as usize
    }

    /// Returns the direct parts of a node.
    pub(super) fn parts(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.end_of_parts(at);
        let next = move |it: &usize| Some((self.table[*it][4] as usize).max(it + 1)).filter(|it| *it < end);
        std::iter::successors(Some(at + 1).filter(|it| *it < end), next)
    }

    pub(super) fn within(&self, at: usize) -> Range<usize> {
        at + 1..self.end_of_parts(at)
    }

    pub(super) fn part(&self, at: usize, field: &str) -> Option<usize> {
        self.parts(at).find(|it| self.field(*it) == field)
    }

    pub(super) fn field_text(&self, at: usize, field: &str) -> Option<&'a str> {
        self.part(at, field).map(|it| self.text(it))
    }

    pub(super) fn bytes(&self, at: usize) -> Range<usize> {
        self.table[at][2] as usize..self.table[at][3] as usize
    }

    pub(super) fn text(&self, at: usize) -> &'a str {
        let bytes = self.bytes(at);
        self.between(bytes.start, bytes.end)
    }

    pub(super) fn between(&self, start: usize, end: usize) -> &'a str {
        self.source.get(start..end.max(start)).unwrap_or_default()
    }

    pub(super) fn text_before(&self, end: usize) -> &'a str {
        self.between(0, end)
    }

    /// The first and the last byte that is no whitespace; some grammars count line ends in.
    pub(super) fn said(&self, at: usize) -> (usize, usize) {
        let (start, text) = (self.bytes(at).start, self.text(at));
        let first = start + (text.len() - text.trim_start().len());
        (first, (start + text.trim_end().len()).max(first + 1) - 1)
    }

    pub(super) fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|it| *it <= byte) - 1
    }

    pub(super) fn column(&self, byte: usize) -> usize {
        byte - self.starts[self.line(byte)]
    }
}
