//! A text's lines and blocks, as markdownlint's rules look at them. Lines are counted from 1, and the empty one after the
//! last line's end is a line as well; offsets are bytes.
//!
//! Left out: what micromark reads otherwise than pulldown-cmark, such as directives.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser};
use rumdl_lib::inline_config::InlineConfig;
use rumdl_lib::rule::{Fix, LintWarning, Severity};
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::reader::Reader;

#[derive(Default)]
pub(super) struct Page<'a> {
    pub(super) text: &'a str,
    pub(super) lines: Vec<&'a str>,
    /// The first line after the front matter and the empty lines behind it.
    pub(super) first: usize,
    pub(super) headings: Vec<Heading>,
    /// The inner ones last.
    pub(super) lists: Vec<List>,
    pub(super) code: Vec<Code>,
    pub(super) emphases: Vec<Emphasis>,
    /// Parts of emphasis that are a whole paragraph outside other blocks, if they are nothing but words.
    pub(super) lone_emphases: Vec<Range<usize>>,
    /// Lines that another one of the same paragraph follows.
    pub(super) broken: FxHashSet<usize>,
    pub(super) html: FxHashSet<usize>,
    /// Lines whose ends are in comments.
    pub(super) commented: FxHashSet<usize>,
    /// Thematic breaks.
    pub(super) breaks: Vec<Range<usize>>,
    /// Labels of definitions that links and images name, in small letters.
    pub(super) labels: FxHashSet<String>,
    pub(super) tables: Vec<Table>,
    /// Lines between two quotations that follow each other.
    pub(super) gaps: Vec<Range<usize>>,
    rules: Map<String, Value>,
    comments: InlineConfig,
    starts: Vec<usize>,
    /// Length of a byte order mark, which is no part of `text`.
    mark: usize,
}

pub(super) struct Heading {
    pub(super) level: u64,
    pub(super) range: Range<usize>,
    pub(super) lines: Range<usize>,
}

pub(super) struct List {
    pub(super) is_ordered: bool,
    /// Whether the list is part of another one.
    pub(super) is_nested: bool,
    pub(super) lines: Range<usize>,
    pub(super) items: Vec<Item>,
}

pub(super) struct Item {
    /// Offset of its marker.
    pub(super) start: usize,
    pub(super) column: usize,
    /// Length of its marker.
    pub(super) marker: usize,
}

pub(super) struct Code {
    pub(super) is_fenced: bool,
    pub(super) is_in_list: bool,
    /// With its fences.
    pub(super) lines: Range<usize>,
}

impl Code {
    /// The lines between its fences.
    pub(super) fn inner(&self) -> Range<usize> {
        if self.is_fenced {
            self.lines.start + 1..self.lines.end.saturating_sub(1)
        } else {
            self.lines.clone()
        }
    }
}

pub(super) struct Emphasis {
    pub(super) is_strong: bool,
    pub(super) range: Range<usize>,
}

/// Offsets of a table's rows, the one of its delimiters second.
pub(super) type Table = Vec<Range<usize>>;

impl<'a> Page<'a> {
    pub(super) fn new(rules: &Map<String, Value>, text: &'a str) -> Self {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let comments = InlineConfig::from_content(text);
        let text = &text[mark..];
        let lines: Vec<&str> = text.split('\n').collect();
        let first = front_matter(&lines) + 1;
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect();
        let rules = rules.clone();
        let mut page = Self { text, lines, first, rules, comments, starts, mark, ..Self::default() };
        let own = page.comments.get_all_rule_configs().clone();
        page.rules.extend(own);
        page.read();
        page.commented =
            commented(page.text).flat_map(|it| page.line_at(it.start)..page.line_at(it.end)).collect();
        page
    }

    fn read(&mut self) {
        let Some(start) = self.starts.get(self.first - 1).copied() else { return };
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_MATH;
        let mut reader = Reader::new();
        for (event, range) in Parser::new_ext(&self.text[start..], options).into_offset_iter() {
            let range = range.start + start..range.end + start;
            if matches!(event, Event::SoftBreak | Event::HardBreak) {
                self.broken.insert(self.line_at(range.start));
            }
            let range = self.trimmed(range);
            reader.event(&event, range, self);
        }
    }

    /// A range without the blanks around it.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let whole = &self.text[range.clone()];
        let start = range.start + (whole.len() - whole.trim_start().len());
        start..(start + whole.trim().len())
    }

    /// The lines of a range, without empty ones at its end.
    pub(super) fn lines_of(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.line_at(range.start);
        let mut last = self.line_at(range.end.saturating_sub(1).max(range.start));
        while last > start && is_blank_in_quotation(self.line(last)) {
            last -= 1;
        }
        start..last + 1
    }

    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|it| *it <= offset)
    }

    pub(super) fn start_of(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|it| self.starts.get(it)).copied().unwrap_or(self.text.len())
    }

    pub(super) fn line(&self, number: usize) -> &'a str {
        number.checked_sub(1).and_then(|it| self.lines.get(it)).copied().unwrap_or_default()
    }

    /// Whether lines are empty, given the marks of quotations around them.
    pub(super) fn is_blank(&self, mut lines: Range<usize>) -> bool {
        lines.all(|it| is_blank_in_quotation(self.line(it)))
    }

    /// Whether a line has nothing but comments and marks of quotations. Front matter is no part of the text.
    pub(super) fn is_empty(&self, number: usize) -> bool {
        number < self.first || is_blank_in_quotation(&without_comments(self.line(number)))
    }

    /// A table's row in a line, without what the blocks around it put before it.
    pub(super) fn row(&self, line: usize) -> Range<usize> {
        let (start, text) = (self.start_of(line), self.line(line));
        let row = text.trim_start_matches([' ', '\t', '>']);
        let before = text.len() - row.len();
        start + before..start + text.trim_end().len().max(before)
    }

    /// The innermost list that a line is part of.
    pub(super) fn list(&self, number: usize) -> Option<&List> {
        self.lists.iter().rfind(|it| it.lines.contains(&number))
    }

    pub(super) fn option(&self, code: &str, name: &str) -> Option<&Value> {
        self.rules.get(code)?.get(name)
    }

    pub(super) fn is_true(&self, code: &str, name: &str, default: bool) -> bool {
        self.option(code, name).and_then(Value::as_bool).unwrap_or(default)
    }

    pub(super) fn number(&self, code: &str, name: &str, default: u64) -> u64 {
        self.option(code, name).and_then(Value::as_u64).unwrap_or(default)
    }

    /// A rule's `style`.
    pub(super) fn style(&self, code: &str, default: &'static str) -> &str {
        self.option(code, "style").and_then(Value::as_str).filter(|it| !it.is_empty()).unwrap_or(default)
    }

    /// Whether comments in the text turn a rule off in a line.
    pub(super) fn is_off(&self, code: &str, line: usize) -> bool {
        self.comments.is_rule_disabled(code, line)
            || self.comments.get_rule_config(code) == Some(&Value::Bool(false))
    }

    pub(super) fn finding(&self, code: &str, range: Range<usize>, message: String) -> LintWarning {
        let column = |line: usize, at: usize| self.text[self.start_of(line)..at].chars().count() + 1;
        let (line, end_line) = (self.line_at(range.start), self.line_at(range.end));
        LintWarning {
            rule_name: Some(code.to_owned()),
            line,
            column: column(line, range.start),
            end_line,
            end_column: column(end_line, range.end),
            message,
            fix: None,
            severity: Severity::Warning,
        }
    }

    /// An edit of the text in which a byte order mark counts.
    pub(super) fn edit(&self, range: Range<usize>, replacement: &str) -> Fix {
        Fix::new(range.start + self.mark..range.end + self.mark, replacement.to_owned())
    }
}

/// The comments in a text, wherever they are: markdownlint takes their words out of all lines.
fn commented(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find("<!--")?;
        let end = start + 4 + text[start + 4..].find("-->")?;
        rest = end + 3;
        Some(start..end)
    })
}

pub(super) fn without_comments(line: &str) -> String {
    let mut rest = line.to_owned();
    loop {
        let (start, end) = (rest.find("<!--"), rest.find("-->"));
        rest = match (start, end) {
            (None, None) => return rest,
            (Some(start), None) => rest[..start].to_owned(),
            (Some(start), Some(end)) if start < end => format!("{}{}", &rest[..start], &rest[end + 3..]),
            (_, Some(end)) => rest.split_off(end + 3),
        };
    }
}

/// The label of a definition as it is compared with others.
pub(super) fn label(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn is_blank_in_quotation(line: &str) -> bool {
    line.trim_matches(|it: char| it == '>' || it.is_whitespace()).is_empty()
}

/// Number of lines of the front matter with the empty ones behind it.
fn front_matter(lines: &[&str]) -> usize {
    let ends: &[&str] = match lines.first().map(|it| it.trim_end()) {
        Some("---") => &["---"],
        Some("+++") => &["+++", "..."],
        Some("{") => &["}"],
        _ => return 0,
    };
    let end = lines.iter().skip(1).position(|it| ends.contains(&it.trim_end()));
    let blank = |end: usize| lines[end..].iter().take_while(|it| it.trim().is_empty()).count();
    end.map_or(0, |it| it + 2 + blank(it + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page<'_> {
        Page::new(&Map::new(), text)
    }

    #[test]
    fn lines_of_front_matter() {
        let first = |text: &str| page(text).first;
        assert_eq!((first("---\na: b\n---\n\n\n# T\n"), first("+++\na\n...\nb\n")), (6, 4));
        assert_eq!((first("---\na: b\n"), first("a\n---\nb\n---\n"), first("")), (1, 1, 1));
    }

    #[test]
    fn items_of_lists() {
        let page = page("> 1. - a\n>    - b\n>\n> c\n\n- d\n\t- e\n\n[f]: g\n");
        let items = |it: &List| it.items.iter().map(|it| (it.column, it.marker)).collect::<Vec<_>>();
        let found: Vec<_> = page.lists.iter().map(|it| (items(it), it.lines.clone())).collect();
        assert_eq!(
            found,
            [(vec![(2, 2)], 1..3), (vec![(5, 1), (5, 1)], 1..3), (vec![(0, 1)], 6..8), (vec![(1, 1)], 7..8)]
        );
    }

    #[test]
    fn rows_of_tables() {
        let text = "\u{feff}> a | b\n> - | -\n> c |\n";
        let page = page(text);
        let rows: Vec<_> = page.tables[0].iter().map(|it| &page.text[it.clone()]).collect();
        assert_eq!(rows, ["a | b", "- | -", "c |"]);
    }

    #[test]
    fn quotations_in_a_row() {
        assert_eq!(page("> a\n\n\n> b\n\n- c\n\n  > d\n\n  > e\n").gaps, [2..4, 9..10]);
        assert!(page("> a\n\nb\n\n> c\n\n---\n\n> d\n\n[e]: f\n\n> g\n").gaps.is_empty());
    }

    #[test]
    fn lines_with_comments() {
        let page = page("a <!-- b\nc\n--> d\n<!-- e --> > <!-- f\n<!--\n");
        assert!(page.commented.contains(&1) && page.commented.contains(&2) && page.commented.len() == 2);
        assert!(!page.is_empty(1) && !page.is_empty(2) && !page.is_empty(3) && page.is_empty(4));
    }

    #[test]
    fn emphases_that_are_paragraphs() {
        let lone = |text: &str| !page(text).lone_emphases.is_empty();
        assert!(lone("**a b**\n- c\n") && lone("_a_"));
        assert!(!lone("**a** b\n") && !lone("- **a**\n") && !lone("***a***\n") && !lone("**`a`**\n"));
    }
}
