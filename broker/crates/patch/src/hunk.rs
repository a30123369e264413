//! The hunks of a diff: their heads, and where they end.

use crate::{
    Error, Mode, Problem,
    around::{is_fence, is_signature, is_vcs_head},
    heads::{is_head_of_diff, is_head_of_file, is_name},
    unended,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// Its head, from 1.
    pub line: usize,
    /// The numbers in its head, if it has any and they count its lines right.
    pub numbers: Option<Numbers>,
    /// The line above it that the head names.
    pub heading: Option<&'a str>,
    /// Lines without their signs. The last one of a side that ends the file without a line ending has none.
    pub lines: Vec<(Sign, &'a str)>,
    /// Whether the text ends with a line ending afterwards; `None` if the hunk leaves that open.
    pub ends: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Keep,
    Old,
    New,
}

/// `-START,LENGTH +START,LENGTH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    pub old: Span,
    pub new: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub length: usize,
}

impl Span {
    fn read(text: &str, sign: char) -> Option<Self> {
        let text = text.strip_prefix(sign)?;
        let (start, length) = text.split_once(',').unwrap_or((text, "1"));
        let span = Self { start: start.parse().ok()?, length: length.parse().ok()? };
        span.start.checked_add(span.length).map(|_| span)
    }

    fn end(self) -> usize {
        self.start + self.length
    }
}

impl Numbers {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.trim().split(' ');
        Some(Self { old: Span::read(words.next()?, '-')?, new: Span::read(words.next()?, '+')? })
    }

    /// The first line that is there before, from 0. A hunk without old lines states the line that it comes after.
    pub fn first(self) -> usize {
        if self.old.length == 0 { self.old.start } else { self.old.start.saturating_sub(1) }
    }

    pub(crate) fn is_before(self, next: Self) -> bool {
        self.old.end() <= next.old.start && self.new.end() <= next.new.start
    }
}

/// The first line of a hunk: `@@ NUMBERS @@ HEADING`, of which models leave out one or both.
pub(crate) fn head(line: &str, mode: Mode) -> (Option<Numbers>, Option<&str>) {
    let line = line.strip_prefix("@@").unwrap_or(line);
    let (numbers, heading) = match line.split_once("@@") {
        Some((numbers, heading)) => (Numbers::read(numbers), heading),
        None if mode == Mode::Strict => (None, line),
        None => match Numbers::read(line) {
            Some(numbers) => (Some(numbers), ""),
            None => (None, line),
        },
    };
    let says_something = |it: &&str| it.contains(|it: char| it.is_alphabetic());
    (numbers, Some(heading.trim()).filter(says_something))
}

/// Whether lines that may be a hunk change anything.
pub(crate) fn has_change(lines: &[&str]) -> bool {
    let mut signed = lines.iter().take_while(|it| it.is_empty() || it.starts_with([' ', '+', '-']));
    signed.any(|it| it.starts_with(['+', '-']))
}

/// Lines of a hunk, as they are read.
#[derive(Default)]
struct Body<'a> {
    lines: Vec<(Sign, &'a str)>,
    /// Numbers of old and new lines that the head states, and that were read.
    due: (usize, usize),
    read: (usize, usize),
    /// Empty lines at the end without a sign.
    blank: usize,
    /// Sides whose last line has no line ending.
    is_open: (bool, bool),
}

impl<'a> Body<'a> {
    fn push(&mut self, sign: Sign, text: &'a str, is_blank: bool) {
        let (old, new) = sides(sign);
        self.read = (self.read.0 + usize::from(old), self.read.1 + usize::from(new));
        self.blank = if is_blank { self.blank + 1 } else { 0 };
        self.lines.push((sign, text));
    }

    /// Takes the line ending from the last line.
    fn open(&mut self) {
        let (old, new) = self.lines.last().map_or((true, true), |it| sides(it.0));
        self.is_open = (self.is_open.0 || old, self.is_open.1 || new);
        if let Some((_, text)) = self.lines.last_mut() {
            *text = text.strip_suffix('\n').unwrap_or(text);
        }
    }

    fn is_due(&self) -> bool {
        self.read.0 < self.due.0 || self.read.1 < self.due.1
    }

    /// Whether a line follows the end of its side of the file.
    fn is_after_end(&self, sign: Sign) -> bool {
        let (old, new) = sides(sign);
        old && self.is_open.0 || new && self.is_open.1
    }

    /// Whether the hunk is over before a line.
    fn ends(&self, lines: &[&str], at: usize, mode: Mode) -> bool {
        let line = lines[at];
        if mode == Mode::Lenient {
            let is_next = line.starts_with("@@") || is_head_of_diff(lines, at);
            return is_next || (!self.is_due() && is_head_of_file(lines, at)) || is_signature(lines, at);
        }
        let is_next = line.starts_with("--- ") || is_name(line) || line.trim_end() == "--";
        let is_after = unended(line).is_empty() || (line.starts_with(' ') && self.is_open != (false, false));
        !self.is_due() && (is_next || is_after)
    }

    /// Empty lines at the end separate the hunk from what follows, unless they are counted.
    fn trim(&mut self, is_counted: bool) {
        while self.blank > 0 && !(is_counted && self.read == self.due) {
            self.lines.pop();
            (self.blank, self.read) = (self.blank - 1, (self.read.0 - 1, self.read.1 - 1));
        }
    }
}

/// Whether a line is one of the old side, and of the new one.
fn sides(sign: Sign) -> (bool, bool) {
    (sign != Sign::New, sign != Sign::Old)
}

/// Reads the hunk whose head is the line before `at`.
pub(crate) fn hunk<'a>(lines: &[&'a str], at: &mut usize, mode: Mode) -> Result<Hunk<'a>, Error> {
    let line = *at;
    let (numbers, heading) = head(unended(lines[line - 1]), mode);
    let due = numbers.map_or((0, 0), |it| (it.old.length, it.new.length));
    let mut body = Body { due, ..Body::default() };
    while let Some(line) = lines.get(*at).filter(|_| !body.ends(lines, *at, mode)) {
        let (sign, text) = match line.as_bytes().first() {
            Some(b'+') => (Sign::New, &line[1..]),
            Some(b'-') => (Sign::Old, &line[1..]),
            Some(b' ') => (Sign::Keep, &line[1..]),
            _ if unended(line).is_empty() => (Sign::Keep, *line),
            Some(b'\\') => {
                body.open();
                *at += 1;
                continue;
            }
            _ if mode == Mode::Strict || (!body.lines.is_empty() && ends_hunk(&lines[*at..])) => break,
            _ => return Err(Error::malformed(*at + 1, "a line of a hunk begins with a space, `+` or `-`")),
        };
        if mode == Mode::Strict && body.is_after_end(sign) {
            return Err(Error::malformed(*at + 1, "a line follows the one that has no line ending"));
        }
        body.push(sign, text, unended(line).is_empty());
        *at += 1;
    }
    if mode == Mode::Strict && body.read != due {
        return Err(Error { line, problem: Problem::HunkLength { stated: due, found: body.read } });
    }
    body.trim(numbers.is_some());
    let ends = (body.is_open != (false, false)).then_some(!body.is_open.1);
    Ok(Hunk { line, numbers: numbers.filter(|_| body.read == due), heading, lines: body.lines, ends })
}

/// Whether a hunk is over before a line without a sign: it is, if what follows up to the next file changes nothing. At
/// worst such lines are context, which is not needed.
fn ends_hunk(rest: &[&str]) -> bool {
    let may_be_list = is_fence(rest[0]);
    let is_item = |it: &str| match it.strip_prefix("- ").and_then(|it| it.chars().next()) {
        Some(first) => {
            first.is_uppercase() || "`*\"".contains(first) || (may_be_list && first.is_alphanumeric())
        }
        None => it.trim_end().trim_matches('-').is_empty(),
    };
    for (at, line) in rest.iter().enumerate() {
        if is_head_of_diff(rest, at)
            || is_head_of_file(rest, at)
            || is_vcs_head(line)
            || is_signature(rest, at)
        {
            return true;
        }
        if line.starts_with("@@") {
            return may_be_list;
        }
        if line.starts_with('+') || (line.starts_with('-') && !is_item(line)) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_numbers_or_a_heading_or_both() {
        let head = |line| {
            let (numbers, heading) = head(line, Mode::Lenient);
            (numbers.map(|it| (it.old.start, it.old.length, it.new.length)), heading)
        };
        assert_eq!(head("@@ -1,2 +3 @@ def f():"), (Some((1, 2, 1)), Some("def f():")));
        assert_eq!(head("@@ -1,2 +3,4 @@"), (Some((1, 2, 4)), None));
        assert_eq!(head("@@ -1,2 +3,4"), (Some((1, 2, 4)), None));
        assert_eq!(head("@@ def f():"), (None, Some("def f():")));
        assert_eq!(head("@@ ... @@ def f():"), (None, Some("def f():")));
        assert_eq!(head("@@ ... @@"), (None, None));
        assert_eq!(head("@@"), (None, None));
    }
}
