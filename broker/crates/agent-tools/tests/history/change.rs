//! Changes of a commit to a file, as spans of lines with context.

use std::ops::Range;

use similar::{DiffOp, TextDiff};

use crate::{
    commits::Commit,
    file::{Case, File, Group, is_blank},
    sketch::Sketch,
};

pub(crate) struct Change<'a> {
    pub(crate) before: File<'a>,
    pub(crate) after: File<'a>,
    /// Insertions, deletions and replacements.
    pub(crate) ops: Vec<DiffOp>,
}

/// Changed lines with those around them.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
    /// Numbers of unchanged lines above and below.
    above: usize,
    below: usize,
}

/// Whether a line differs from an old one in the whitespace at its end only.
pub(crate) fn have_other_ends(was: &[&str], is: &[&str]) -> bool {
    let mut said = was.iter().filter(|it| !is_blank(it));
    said.any(|old| is.iter().any(|new| new != old && new.trim_end() == old.trim_end()))
}

impl<'a> Change<'a> {
    pub(crate) fn new(commit: &'a Commit) -> Self {
        let file = |text| File::new(&commit.path, &commit.id, text);
        let diff = TextDiff::from_lines(commit.before.as_str(), commit.after.as_str());
        let ops = diff.ops().iter().filter(|it| !matches!(it, DiffOp::Equal { .. })).copied().collect();
        Self { before: file(&commit.before), after: file(&commit.after), ops }
    }

    /// Whether a sketch with context can express the change. No sketch can express that whitespace at the ends of lines or
    /// blank lines alone are other ones, nor that the first or the last lines are gone: they might as well be left out.
    pub(crate) fn is_sayable(&self) -> bool {
        let said = |lines: &[&'a str]| -> Vec<&str> {
            lines.iter().map(|it| it.trim_end()).filter(|it| !it.is_empty()).collect()
        };
        let says = |it: &DiffOp| {
            let (old, new) = (it.old_range(), it.new_range());
            let is_end = old.start == 0 || old.end == self.before.len();
            said(&self.before.lines[old]) != said(&self.after.lines[new.clone()])
                && !(is_end && new.is_empty())
        };
        self.ops.iter().all(says)
    }

    /// The changed spans with so many lines around, those that touch each other as one.
    pub(crate) fn spans(&self, above: usize, below: usize) -> Vec<Span> {
        self.joined(|it| above.min(it), |it| below.min(self.before.len() - it))
    }

    /// Returns the spans with the next line above and below that is not blank.
    pub(crate) fn spans_to_said_lines(&self) -> Vec<Span> {
        let above = |at: usize| {
            let said = (0..at).rev().position(|it| !is_blank(self.before.lines[it]));
            said.map_or(at, |it| it + 1)
        };
        let below = |at: usize| {
            let said = self.before.lines[at..].iter().position(|it| !is_blank(it));
            said.map_or(self.before.len() - at, |it| it + 1)
        };
        self.joined(above, below)
    }

    fn joined(&self, above: impl Fn(usize) -> usize, below: impl Fn(usize) -> usize) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for op in &self.ops {
            let (old, new) = (op.old_range(), op.new_range());
            let (above, below) = (above(old.start), below(old.end));
            match spans.last_mut().filter(|it| old.start - above <= it.old.end) {
                Some(last) => {
                    (last.old.end, last.new.end, last.below) = (old.end + below, new.end + below, below);
                }
                None => spans.push(Span {
                    old: old.start - above..old.end + below,
                    new: new.start - above..new.end + below,
                    above,
                    below,
                }),
            }
        }
        spans
    }

    /// Whether the context above and below of each span stands in the file once.
    pub(crate) fn is_found(&self, spans: &[Span]) -> bool {
        let is_once = |lines: &[&str]| {
            lines.is_empty() || self.before.lines.windows(lines.len()).filter(|it| *it == lines).count() == 1
        };
        spans.iter().all(|it| {
            let lines = &self.before.lines[it.old.clone()];
            is_once(&lines[..it.above]) && is_once(&lines[lines.len() - it.below..])
        })
    }

    pub(crate) fn shown(&self, span: &Span) -> Vec<String> {
        self.after.lines[span.new.clone()].iter().map(|it| (*it).to_owned()).collect()
    }

    /// The lines of each span, with markers where lines are left out.
    pub(crate) fn sketch<'f>(
        &'f self,
        mut sketch: Sketch<'f, 'a>,
        spans: &[Span],
        mut shape: impl FnMut(Vec<String>) -> Vec<String>,
    ) -> Option<String> {
        let mut at = 0;
        for span in spans {
            sketch.hidden(at..span.old.start);
            sketch.shown(&shape(self.shown(span)));
            at = span.old.end;
        }
        sketch.hidden(at..self.before.len());
        sketch.text()
    }

    /// A case of the whole change.
    pub(crate) fn case(&self, group: Group, shape: &'static str, edit: String) -> Case {
        self.before.case(group, shape, self.after.text.to_owned(), edit)
    }
}
