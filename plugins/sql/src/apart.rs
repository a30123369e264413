//! Files of no known dialect, statement by statement, where only the rules are on that hold in any database.
//!
//! A script may have statements that no dialect here has beside others that all have, and bodies of procedures that are cut
//! at their semicolons. So each statement is read by itself, as the first dialect that can; and only those are in which one
//! of these rules can find something, since the grammar takes thousands of times as long as a look at the words.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Report};
use sqruff_lib_core::parser::segments::Tables;

use crate::convert::Place;
use crate::lint::Linter;
use crate::misspelled::{self, Misspelled};
use crate::rules::{Selection, UNPARSABLE};
use crate::statements::{may_be_wrong, statements};

/// Length of statements that are read; sqruff takes about a second for longer ones.
const LONG: usize = 50_000;

/// Limit on the bytes of a file that are read.
const MAX_BYTES: usize = 200_000;

/// A file that is being read.
pub(crate) struct Apart<'a> {
    linter: &'a Linter,
    selection: &'a Selection,
    tables: Tables,
    /// Which dialect read the last statement.
    last: usize,
    n_bytes: usize,
    n_read: usize,
    unread: Unread,
    found: Vec<Diagnostic>,
}

/// Queries that are not read though a rule might find something in them.
#[derive(Default)]
struct Unread {
    count: usize,
    /// Offset of the first such query.
    first: Option<usize>,
    /// Whether some were too long to try.
    is_long: bool,
}

impl Unread {
    /// Reason for an incomplete report; `all` is the number of queries in the file.
    fn reason(&self, text: &str, all: usize) -> Option<String> {
        let line = text.get(..self.first?)?.matches('\n').count() + 1;
        let long = if self.is_long { ", or are too long to try" } else { "" };
        let count = self.count;
        Some(format!(
            "{count} of {all} queries are of no dialect that is tried{long} (first: line {line}); name the dialect in .sqlfluff"
        ))
    }
}

impl<'a> Apart<'a> {
    pub(crate) fn new(linter: &'a Linter, selection: &'a Selection) -> Self {
        let (tables, found) = (Tables::default(), Vec::new());
        Self { linter, selection, tables, last: 0, n_bytes: 0, n_read: 0, unread: Unread::default(), found }
    }

    /// None if no statement can be read of those that a rule can find fault with. `text` is what sqruff reads.
    pub(crate) fn run(mut self, place: &Place<'_>, text: &str, path: &str) -> Result<Option<Report>, String> {
        let all = cut(text);
        for at in all.iter().filter(|it| may_be_wrong(&text[(*it).clone()])) {
            self.read(place, text, at)?;
        }
        self.misspelled(place, text, &all)?;
        let is_unread = self.n_read == 0 && self.unread.count > 0 && self.found.is_empty();
        let reason = self.unread.reason(place.text, self.n_read + self.unread.count);
        let report = (!is_unread).then(|| Report::new(self.found));
        Ok(report.map(|it| reason.iter().fold(it, |report, why| report.in_part(path, why))))
    }

    fn read(&mut self, place: &Place<'_>, text: &str, at: &Range<usize>) -> Result<(), String> {
        let own = Place { text: &place.text[at.clone()], offset: place.offset + at.start };
        match self.report(&own, &text[at.clone()])? {
            Some(report) => {
                self.n_read += 1;
                self.found.extend(report.diagnostics);
            }
            None => {
                self.unread.count += 1;
                self.unread.first.get_or_insert(first_word(text, at));
            }
        }
        Ok(())
    }

    /// None if the statement is of no dialect, or too long.
    fn report(&mut self, place: &Place<'_>, statement: &str) -> Result<Option<Report>, String> {
        self.n_bytes += statement.len();
        if statement.len() > LONG || self.n_bytes > MAX_BYTES {
            self.unread.is_long = true;
            return Ok(None);
        }
        let n_dialects = self.linter.n_dialects();
        for number in std::iter::once(self.last).chain((0..n_dialects).filter(|it| *it != self.last)) {
            let report = self.linter.report_as(number, &self.tables, place, statement, self.selection)?;
            if report.is_some() {
                self.last = number;
                return Ok(report);
            }
        }
        Ok(None)
    }

    /// Adds a statement that begins with a word that none begins with, if no dialect has it nevertheless.
    fn misspelled(&mut self, place: &Place<'_>, text: &str, all: &[Range<usize>]) -> Result<(), String> {
        let found = misspelled::find(text).filter(|_| !self.selection.ignores(UNPARSABLE));
        let Some(Misspelled { at, meant }) = found else { return Ok(()) };
        let statement = all.iter().find(|it| it.contains(&at.start)).cloned().unwrap_or(at.clone());
        let own = Place { text: &place.text[statement.clone()], offset: place.offset + statement.start };
        if self.report(&own, &text[statement])?.is_none() {
            self.found.push(misspelled::finding(text, at, meant));
            self.found.sort_by_key(|it| it.span.start);
        }
        Ok(())
    }
}

/// Offset of a statement's first word, behind the white space and the lines of comments before it.
fn first_word(text: &str, of: &Range<usize>) -> usize {
    let mut rest = text[of.clone()].trim_start();
    while let Some((_, after)) = rest.strip_prefix("--").and_then(|it| it.split_once('\n')) {
        rest = after.trim_start();
    }
    of.end - rest.len()
}

/// The statements of a text. One with comments of sqruff's, which hold for lines, is not cut.
fn cut(text: &str) -> Vec<Range<usize>> {
    let whole = 0..text.len();
    if text.contains("noqa") { vec![whole] } else { statements(text) }
}
