//! A text without what is in strings and comments, for what asks only for signs outside of them.

use std::ops::Range;

use broker_plugin_sdk::template::{self, Tag};
use raffia::Syntax;

/// In stylesheets they have no other meaning; `${ … }` has one where they are part of a script.
const TAGS: [Tag; 5] = [Tag::Value, Tag::Statement, Tag::Comment, Tag::Erb, Tag::Php];

/// First comment or string that is not closed, with its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unclosed {
    Comment(usize),
    String(usize),
}

/// Copy of the text of the same length in bytes. Comments are spaces; contents of strings and of `url()` are `_`, and so are
/// escapes.
#[derive(Debug)]
pub(crate) struct Mask {
    pub(crate) bytes: Vec<u8>,
    pub(crate) unclosed: Option<Unclosed>,
}

impl Mask {
    pub(crate) fn of(text: &str, syntax: Syntax) -> Self {
        let mut mask = Self { bytes: text.as_bytes().to_vec(), unclosed: None };
        let mut at = 0;
        while at < mask.bytes.len() {
            at = mask.piece(at, syntax);
        }
        mask
    }

    /// Masks what begins at a place, and tells where it ends.
    fn piece(&mut self, at: usize, syntax: Syntax) -> usize {
        let rest = &self.bytes[at..];
        match rest[0] {
            b'/' if rest.starts_with(b"/*") => match find(rest, 2, b"*/") {
                Some(length) => self.fill(at, at + length + 2, b' '),
                None => {
                    self.unclosed.get_or_insert(Unclosed::Comment(at));
                    self.fill(at, self.bytes.len(), b' ')
                }
            },
            b'/' if syntax != Syntax::Css && rest.starts_with(b"//") => {
                self.fill(at, at + find(rest, 2, b"\n").unwrap_or(rest.len()), b' ')
            }
            b'"' | b'\'' => self.string(at),
            // A program in JavaScript.
            b'`' if syntax == Syntax::Less => match find(rest, 1, b"`") {
                Some(length) => self.fill(at, at + length + 1, b'_'),
                None => at + 1,
            },
            b'\\' => self.fill(at, (at + 2).min(self.bytes.len()), b'_'),
            b'(' if self.is_raw_url(at) => match url_end(rest, syntax) {
                Some(length) => self.fill(at + 1, at + length, b'_'),
                None => at + 1,
            },
            _ => at + 1,
        }
    }

    /// A string ends where its line does, unless the end of the line is escaped.
    fn string(&mut self, start: usize) -> usize {
        let mut at = start + 1;
        while let Some(it) = self.bytes.get(at).copied().filter(|it| *it != b'\n') {
            match it {
                b'\\' if self.bytes[at + 1..].starts_with(b"\r\n") => at += 3,
                b'\\' => at += 2,
                it if it == self.bytes[start] => return self.fill(start + 1, at, b'_') + 1,
                _ => at += 1,
            }
        }
        self.unclosed.get_or_insert(Unclosed::String(start));
        self.fill(start + 1, at.min(self.bytes.len()), b'_')
    }

    fn is_raw_url(&self, bracket: usize) -> bool {
        let is_url =
            bracket.checked_sub(3).is_some_and(|it| self.bytes[it..bracket].eq_ignore_ascii_case(b"url"));
        let inner = self.bytes[bracket + 1..].trim_ascii_start();
        is_url && !inner.starts_with(b"\"") && !inner.starts_with(b"'")
    }

    fn fill(&mut self, start: usize, end: usize, with: u8) -> usize {
        self.bytes[start..end].iter_mut().filter(|it| !it.is_ascii_whitespace()).for_each(|it| *it = with);
        end
    }

    /// Whether the text has tags of a template.
    pub(crate) fn is_template(&self) -> bool {
        template::tags(&self.bytes, &TAGS).next().is_some()
    }

    /// The first words between signs that end statements which are neither a declaration nor a rule nor a call.
    pub(crate) fn no_statement(&self, syntax: Syntax) -> Option<Range<usize>> {
        let mut start = 0;
        while start < self.bytes.len() {
            let end = start + statement_end(&self.bytes[start..]);
            let words = self.bytes[start..end].trim_ascii();
            if self.bytes.get(end) != Some(&b'{') && is_no_statement(words, syntax) {
                let start = end - self.bytes[start..end].trim_ascii_start().len();
                return Some(start..start + words.len());
            }
            start = end + 1;
        }
        None
    }
}

/// Whether there is a tag of a template with quotes on the line of `at`, which end a string that it is in:
/// `"{{ printf "%s.css" .name }}"`.
pub(crate) fn has_quoting_tag(text: &str, at: usize) -> bool {
    let is_in_string = |it: &Range<usize>| {
        let before = &text[text[..it.start].rfind('\n').map_or(0, |at| at + 1)..it.start];
        ['"', '\'']
            .iter()
            .any(|quote| text[it.clone()].contains(*quote) && before.matches(*quote).count() % 2 == 1)
    };
    let tags = template::tags(text.as_bytes(), &TAGS).filter(is_in_string);
    template::on_lines(text.as_bytes(), tags, [at]).is_some()
}

/// End of a statement or of the head of a block; interpolations `#{…}` and `@{…}` have no statements.
pub(crate) fn statement_end(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    for (at, it) in rest.iter().enumerate() {
        match it {
            b'{' if depth > 0 || at > 0 && matches!(rest[at - 1], b'#' | b'@') => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b'{' | b'}' | b';' if depth == 0 => return at,
            _ => {}
        }
    }
    rest.len()
}

fn is_no_statement(words: &[u8], syntax: Syntax) -> bool {
    let count = |sign: u8| words.iter().filter(|it| **it == sign).count();
    let is_call =
        syntax == Syntax::Less && (words.starts_with(b".") || words.starts_with(b"#") || count(b'(') > 0);
    !words.is_empty()
        && !words.starts_with(b"@")
        && count(b':') == 0
        && count(b'(') == count(b')')
        && !is_call
}

/// Offset of the bracket that closes an address without quotes. `None`: it is no such address, but the call of a function, as
/// Sass and Less take `url(lower($name))`.
fn url_end(rest: &[u8], syntax: Syntax) -> Option<usize> {
    let mut depth = 0_usize;
    for at in 1..rest.len() {
        match rest[at] {
            _ if rest[at - 1] == b'\\' => {}
            b'{' if syntax != Syntax::Css && matches!(rest[at - 1], b'#' | b'@') => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            b')' => return Some(at),
            b'(' if syntax != Syntax::Css => return None,
            b'$' if syntax == Syntax::Scss => return None,
            _ => {}
        }
    }
    None
}

/// Offset of the next occurrence of some bytes.
pub(crate) fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(what.len()).position(|it| it == what).map(|it| from + it)
}
