//! Long lines: MD013. Unless it is `strict`, it lets pass lines that have no blank beyond the limit (unless it is `stern`)
//! and lines that have a link and no words of a paragraph beside it; definitions of links and footnotes always.
//!
//! markdownlint goes by the words that stand right in a paragraph: those of a link, of emphasis, of headings and of tables
//! do not count. Left out: escapes and entities, which do not count for it and do here.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};
use rumdl_lib::rule::LintWarning;
use rustc_hash::{FxHashMap, FxHashSet};

use super::page::Page;

/// The lines of a text, counted from 1.
#[derive(Default)]
pub(super) struct LongLines {
    with_links: FxHashSet<usize>,
    with_words: FxHashSet<usize>,
    definitions: FxHashSet<usize>,
}

impl LongLines {
    pub(super) fn of(text: &str) -> Self {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect();
        let line = |at: usize| starts.partition_point(|it| *it <= at);
        let lines = |range: &Range<usize>| {
            let whole = text[range.clone()].trim_end().len().max(1);
            line(range.start)..line(range.start + whole - 1) + 1
        };
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_MATH
            | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
        let mut found = Self::default();
        let parser = Parser::new_ext(text, options);
        let definitions = parser.reference_definitions().iter().map(|it| lines(&it.1.span));
        found.definitions.extend(definitions.flatten());
        // Whether the words of each open element are those of a paragraph. Items of tight lists are paragraphs as well.
        let mut open: Vec<bool> = Vec::new();
        let mut is_code = false;
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => {
                    is_code = true;
                    open.push(false);
                }
                Event::Start(tag) => {
                    open.push(matches!(tag, Tag::Paragraph | Tag::Item));
                    match tag {
                        Tag::Link { .. } | Tag::Image { .. } => found.with_links.extend(lines(&range)),
                        Tag::FootnoteDefinition(_) => found.definitions.extend(lines(&range)),
                        _ => {}
                    }
                }
                Event::End(_) => {
                    is_code = false;
                    open.pop();
                }
                Event::Text(_) => {
                    let words = &text[range.clone()];
                    if is_address(words) && !is_code {
                        found.with_links.extend(lines(&range));
                    }
                    if open.last() == Some(&true) && !is_whole_address(words) {
                        found.with_words.extend(lines(&range));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a line is one of a link and of nothing beside it.
    pub(super) fn is_link_only(&self, number: usize) -> bool {
        self.with_links.contains(&number) && !self.with_words.contains(&number)
    }

    pub(super) fn is_definition(&self, number: usize) -> bool {
        self.definitions.contains(&number)
    }
}

/// Whether a text has an address that is a link without any sign for it.
fn is_address(text: &str) -> bool {
    ["http://", "https://", "www."]
        .iter()
        .any(|it| text.split(it).skip(1).any(|it| it.starts_with(char::is_alphanumeric)))
}

fn is_whole_address(text: &str) -> bool {
    ["http://", "https://", "www."].iter().any(|it| text.starts_with(it))
        && !text.contains(char::is_whitespace)
        && !text.ends_with(|it: char| "?!.,:*_~\"'<)".contains(it))
}

/// Lines longer than the limit for what they are part of.
pub(super) fn check(page: &Page<'_>) -> Vec<LintWarning> {
    let limits = Limits::new(page);
    let long = LongLines::of(&page.text[page.start_of(page.first)..]);
    let lines = (page.first..=page.lines.len()).filter_map(|number| {
        let (line, limit) = (page.line(number), limits.of(number)?);
        let inner = number + 1 - page.first;
        let passes = long.is_definition(inner) || limits.lets_pass(line, long.is_link_only(inner));
        let whole = if page.commented.contains(&number) { line.trim_end() } else { line };
        let is_long = limits.counted(whole) > limit && length(line) != limit;
        (!passes && is_long).then(|| finding(page, number, limit))
    });
    lines.collect()
}

fn finding(page: &Page<'_>, number: usize, limit: usize) -> LintWarning {
    let (line, start) = (page.line(number), page.start_of(number));
    let beyond = line.char_indices().nth(limit).map_or(line.len(), |it| it.0);
    let message = format!("Line length {} exceeds {limit} characters", length(line));
    page.finding("MD013", start + beyond..start + line.len(), message)
}

/// Options of the rule.
struct Limits {
    plain: usize,
    is_strict: bool,
    is_stern: bool,
    /// The limits of lines that are part of headings, code and tables.
    special: FxHashMap<usize, Option<usize>>,
}

impl Limits {
    fn new(page: &Page<'_>) -> Self {
        let number = |name, default| page.number("MD013", name, default);
        let plain = number("line_length", 80);
        let limit = |name, length: u64| page.is_true("MD013", name, true).then_some(to_size(length));
        let headings = limit("headings", number("heading_line_length", plain));
        let code = limit("code_blocks", number("code_block_line_length", plain));
        let tables = limit("tables", plain);
        let mut special = FxHashMap::default();
        special.extend(page.headings.iter().flat_map(|it| it.lines.clone()).map(|it| (it, headings)));
        special.extend(page.code.iter().flat_map(|it| it.lines.clone()).map(|it| (it, code)));
        special.extend(page.tables.iter().flatten().map(|it| (page.line_at(it.start), tables)));
        let (is_strict, is_stern) =
            (page.is_true("MD013", "strict", false), page.is_true("MD013", "stern", false));
        Self { plain: to_size(plain), is_strict, is_stern, special }
    }

    /// None: any length.
    fn of(&self, number: usize) -> Option<usize> {
        self.special.get(&number).copied().unwrap_or(Some(self.plain))
    }

    fn lets_pass(&self, line: &str, is_link_only: bool) -> bool {
        !self.is_strict && (is_link_only || self.is_stern && is_single_word(line))
    }

    /// Length of a line for the limit: unless each character counts, a word that begins within the limit may end beyond it.
    fn counted(&self, line: &str) -> usize {
        if self.is_strict || self.is_stern {
            return length(line);
        }
        length(line.trim_end_matches(|it: char| !it.is_whitespace())) + 1
    }
}

fn to_size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Length in units of UTF-16, as in JavaScript.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Whether a line cannot be broken: a word, with marks of headings or quotations before it.
fn is_single_word(line: &str) -> bool {
    let before = line.trim_end_matches(|it: char| !it.is_whitespace());
    before.chars().all(|it| matches!(it, '#' | '>') || it.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link_only(text: &str) -> Vec<usize> {
        let lines = LongLines::of(text);
        (1..=text.lines().count()).filter(|it| lines.is_link_only(*it)).collect()
    }

    #[test]
    fn lines_of_links() {
        assert_eq!(link_only("Text\n[a b](\nhttps://a.org)\nand more\n"), [2, 3]);
        assert_eq!(link_only("Text\n[a b](\nhttps://a.org).\n"), [2]);
        assert_eq!(link_only("- **[a b](c)**\n- ![a b](c)\n- a [b](c)\n\n<https://a.org>\n"), [1, 2, 5]);
        assert_eq!(link_only("## A [b](c) d\n\n| a | [b](c) |\n| - | - |\n| a | [b](c) |\n"), [1, 3, 5]);
        assert_eq!(link_only("https://a.org\n\nhttps://a.org.\n\n[a](b) [c](d)\n"), [1]);
        assert_eq!(link_only("```sh\ncurl https://a.org\n```\n\n    wget https://a.org\n"), [0; 0], "code");
        assert_eq!(link_only("text only\n\n`code` *more*\n"), [0; 0]);
    }

    #[test]
    fn definitions() {
        let lines = LongLines::of("[a] b[^c]\n\n[a]: d\n\n[^c]: e\n    f\n");
        assert_eq!((1..=6).filter(|it| lines.is_definition(*it)).collect::<Vec<_>>(), [3, 5, 6]);
    }

    #[test]
    fn words_of_lines() {
        assert!(is_single_word("> ## word") && is_single_word("word") && is_single_word(""));
        assert!(!is_single_word("- word") && !is_single_word("two words"));
    }
}
