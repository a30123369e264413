//! Maps a part of a scalar's value to its place in the text.
//!
//! The value is compared with the lines that it was read from: text between white space is the same in both, so that indentation,
//! folded lines and the end of a block need no rules of their own. If an escape makes it another (`''`, `\n`), every part is
//! where the value begins.

use std::ops::Range;

use granit_parser::ScalarStyle;

#[derive(Debug)]
pub(super) struct Source {
    /// In their order; none where the value is not written as it is.
    parts: Vec<Part>,
    first_line: Range<usize>,
}

/// Part that is the same in the value and in the text.
#[derive(Debug)]
struct Part {
    value: Range<usize>,
    /// Offset of the part in the text.
    at: usize,
}

const BLANK: [char; 3] = [' ', '\t', '\r'];

impl Source {
    pub(super) fn of(text: &str, range: Range<usize>, style: ScalarStyle, value: &str) -> Self {
        let written = &text[range.clone()];
        let first = written.lines().next().map_or(0, str::len);
        let first_line = range.start..range.start + first;
        let area = match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if written.len() >= 2 => {
                range.start + 1..range.end - 1
            }
            // The line of a block scalar with the `|` or `>` is no part of its text.
            _ => range,
        };
        Self { parts: aligned(text, area, value).unwrap_or_default(), first_line }
    }

    /// Range of the scalar's first line.
    pub(super) fn first_line(&self) -> Range<usize> {
        self.first_line.clone()
    }

    /// Range of a part of the value in the text, or else the place where the value begins.
    pub(super) fn range(&self, of: Range<usize>) -> Range<usize> {
        let Some(start) = self.start(of.start) else { return self.first_line() };
        start..self.end(of.end).unwrap_or(start).max(start)
    }

    fn start(&self, at: usize) -> Option<usize> {
        let next = self.parts.iter().find(|it| at < it.value.end).or_else(|| self.parts.last())?;
        Some(next.place(at))
    }

    fn end(&self, at: usize) -> Option<usize> {
        let before = self.parts.iter().rfind(|it| it.value.start < at).or_else(|| self.parts.first())?;
        Some(before.place(at))
    }
}

impl Part {
    fn place(&self, at: usize) -> usize {
        self.at + at.clamp(self.value.start, self.value.end) - self.value.start
    }
}

/// The parts of a value, one for each line that it has in the text; none if they are not the same.
fn aligned(text: &str, area: Range<usize>, value: &str) -> Option<Vec<Part>> {
    let (mut parts, mut at, mut line_at) = (Vec::new(), 0, area.start);
    for line in text.get(area)?.split_inclusive('\n') {
        let start = line_at;
        line_at += line.len();
        let line = line.trim_end_matches('\n');
        let word = line.trim_matches(BLANK);
        at += value[at..].len() - value[at..].trim_start_matches([' ', '\t', '\n']).len();
        if at == value.len() {
            break;
        }
        if word.is_empty() {
            continue;
        }
        let found = value[at..].starts_with(word).then(|| at..at + word.len())?;
        let word_at = start + (line.len() - line.trim_start_matches(BLANK).len());
        let part = widened(value, found, text, word_at);
        at = part.value.end;
        parts.push(part);
    }
    value[at..].trim_matches(['\n', ' ', '\t']).is_empty().then_some(parts)
}

/// With the blanks around it that are in both.
fn widened(value: &str, found: Range<usize>, text: &str, at: usize) -> Part {
    let is_blank = |it: &(&u8, &u8)| it.0 == it.1 && matches!(*it.0, b' ' | b'\t');
    let (value, text) = (value.as_bytes(), text.as_bytes());
    let before = value[..found.start].iter().rev().zip(text[..at].iter().rev()).take_while(is_blank).count();
    let end = at + found.len();
    let after = value[found.end..].iter().zip(&text[end..]).take_while(is_blank).count();
    Part { value: found.start - before..found.end + after, at: at - before }
}

#[cfg(test)]
mod tests {
    use broker_yaml_tree::document;
    use broker_yaml_tree::tree::Kind;

    use super::*;

    /// Text at the place of `part` of the value of `run`.
    fn at<'t>(text: &'t str, part: &str) -> &'t str {
        let document = document(text).unwrap();
        let node = document.node(document.get(0, "run").unwrap());
        let Kind::Scalar { text: value, style, .. } = &node.kind else { panic!("{node:?}") };
        let start = value.find(part).unwrap_or_else(|| panic!("{value:?} has no {part:?}"));
        &text[Source::of(text, node.range.clone(), *style, value).range(start..start + part.len())]
    }

    #[test]
    fn parts_of_block_scalars() {
        for sign in ["|", "|-", "|+", "|  # why", "|2"] {
            let text = format!("run: {sign}\n  one\n\n    two ö  three\n  one two\n\nname: one\n");
            for part in ["two ö", "  three", "one two", "one", "  two"] {
                assert_eq!(at(&text, part), part, "{text}");
            }
        }
        let crlf = "run: |\r\n  one\r\n  two\r\n";
        assert_eq!((at(crlf, "two"), at(crlf, "one\ntwo")), ("two", "one\r\n  two"));
        let folded = "run: >-\n  one\n  two\n\n  three\n    four\n  five\n";
        for part in ["two", "three", "  four", "five"] {
            assert_eq!(at(folded, part), part);
        }
        assert_eq!(at(folded, "one two"), "one\n  two");
        assert_eq!(at("run: |\n  > a\n  | b\n", "> a\n| b"), "> a\n  | b");
    }

    #[test]
    fn parts_of_flow_scalars() {
        for text in ["run: a bb c\n", "run: 'a bb c'\n", "run: \"a bb c\"\n", "{run: a\n   bb c}"] {
            assert_eq!((at(text, "bb"), at(text, "c")), ("bb", "c"), "{text}");
        }
        assert_eq!(at("run: a \\ b\n", "b"), "b");
    }

    #[test]
    fn escapes_point_to_the_beginning() {
        assert_eq!(at("run: 'it''s a b'\n", "b"), "'it''s a b'");
        assert_eq!(at("run: \"a\\nb\"\n", "b"), "\"a\\nb\"");
    }

    #[test]
    fn line_breaks_belong_to_the_lines_around_them() {
        let text = "run: |\n  one\n  two\n";
        assert_eq!(at(text, "one\n"), "one");
        assert_eq!(at(text, "\ntwo"), "two");
    }
}
