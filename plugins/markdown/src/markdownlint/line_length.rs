//! Lines that markdownlint's MD013 lets pass unless it is `strict`: such as have no blank beyond the limit (unless it is
//! `stern`), such as have a link and no words of a paragraph beside it, and definitions of links and footnotes.
//!
//! markdownlint goes by the words that stand right in a paragraph: those of a link, of emphasis, of headings and of tables
//! do not count. Left out: escapes and entities, which do not count for it and do here.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};
use rustc_hash::FxHashSet;

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
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    open.push(matches!(tag, Tag::Paragraph | Tag::Item));
                    match tag {
                        Tag::Link { .. } | Tag::Image { .. } => found.with_links.extend(lines(&range)),
                        Tag::FootnoteDefinition(_) => found.definitions.extend(lines(&range)),
                        _ => {}
                    }
                }
                Event::End(_) => drop(open.pop()),
                Event::Text(_) => {
                    let words = &text[range.clone()];
                    if is_address(words) {
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
    ["http://", "https://", "www."].iter().any(|it| text.contains(it))
}

fn is_whole_address(text: &str) -> bool {
    ["http://", "https://", "www."].iter().any(|it| text.starts_with(it))
        && !text.contains(char::is_whitespace)
        && !text.ends_with(|it: char| "?!.,:*_~\"'<)".contains(it))
}

/// Whether a line has a blank beyond the limit that a message of MD013's names.
pub(super) fn has_blank_beyond(line: &str, message: &str) -> bool {
    let limit = message.split_once(" exceeds ").and_then(|it| it.1.split(' ').next());
    let Some(limit) = limit.and_then(|it| it.parse::<usize>().ok()) else { return true };
    line.chars().skip(limit).any(char::is_whitespace)
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
        assert_eq!(link_only("text only\n\n`code` *more*\n"), [0; 0]);
    }

    #[test]
    fn definitions() {
        let lines = LongLines::of("[a] b[^c]\n\n[a]: d\n\n[^c]: e\n    f\n");
        assert_eq!((1..=6).filter(|it| lines.is_definition(*it)).collect::<Vec<_>>(), [3, 5, 6]);
    }

    #[test]
    fn blanks() {
        let message = "Line length 9 exceeds 5 characters";
        assert!(!has_blank_beyond("a b cdefg", message) && has_blank_beyond("abcdef gh", message));
        assert!(has_blank_beyond("ab", "of another form"));
    }
}
