//! A sketch as it is written: lines that are shown, and markers for those that are hidden.

use std::ops::Range;

use crate::{
    file::{File, indent, is_blank},
    random::Random,
};

pub(crate) const WORDINGS: [&str; 8] = [
    "... existing code ...",
    "...",
    "\u{2026}",
    "... rest of the code remains unchanged ...",
    "existing code...",
    "... (unchanged)",
    "rest of the file stays the same",
    "... same as before ...",
];

pub(crate) struct Sketch<'f, 'a> {
    file: &'f File<'a>,
    wording: &'static str,
    /// Whether a marker is indented as the first line that it stands for.
    is_indented: bool,
    /// Whether blank lines next to a marker are shown.
    has_blanks: bool,
    lines: Vec<String>,
    is_clear: bool,
}

impl<'f, 'a> Sketch<'f, 'a> {
    /// With a wording and an indentation of markers that are drawn; half of the markers have the usual one.
    pub(crate) fn drawn(file: &'f File<'a>, random: &mut Random) -> Self {
        let wording = if random.one_in(2) { WORDINGS[0] } else { WORDINGS[random.below(WORDINGS.len())] };
        Self { is_indented: random.one_in(2), ..Self::worded(file, wording) }
    }

    pub(crate) fn worded(file: &'f File<'a>, wording: &'static str) -> Self {
        // A wording that the file has itself is no marker.
        let is_clear = !file.lines.iter().any(|it| it.contains(wording) && is_like_marker(it));
        Self { file, wording, is_indented: true, has_blanks: false, lines: Vec::new(), is_clear }
    }

    pub(crate) fn with_blanks(mut self, has_blanks: bool) -> Self {
        self.has_blanks = has_blanks;
        self
    }

    pub(crate) fn marker(&mut self, indent: &str) {
        let (open, close) = self.file.language.comment;
        self.lines.push(format!("{indent}{open}{}{close}", self.wording));
    }

    /// A marker for lines of the file, if there are any.
    pub(crate) fn hidden(&mut self, range: Range<usize>) {
        let hidden = &self.file.lines[range];
        let (Some(first), Some(last)) = (hidden.first(), hidden.last()) else { return };
        if self.has_blanks && is_blank(first) && !self.lines.is_empty() {
            self.lines.push(String::new());
        }
        let said = hidden.iter().find(|it| !is_blank(it)).filter(|_| self.is_indented);
        self.marker(&said.map_or(String::new(), |it| indent(it).to_owned()));
        if self.has_blanks && is_blank(last) {
            self.lines.push(String::new());
        }
    }

    pub(crate) fn shown(&mut self, lines: &[impl AsRef<str>]) {
        self.is_clear &= !lines.iter().any(|it| is_like_marker(it.as_ref()));
        self.lines.extend(lines.iter().map(|it| it.as_ref().to_owned()));
    }

    /// None if a line that is shown may be taken for a marker, or a marker for a line of the file.
    pub(crate) fn text(mut self) -> Option<String> {
        while self.has_blanks && self.lines.last().is_some_and(is_blank) {
            self.lines.pop();
        }
        self.is_clear.then(|| self.lines.join("\n") + "\n")
    }
}

fn is_like_marker(line: &str) -> bool {
    let signs = ["//", "#", "/*", "*/", "<!--", "-->", "--", ";", "*"];
    let trimmed =
        signs.iter().fold(line.trim(), |it, sign| it.trim_start_matches(sign).trim_end_matches(sign).trim());
    let is_comment = trimmed.len() < line.trim().len();
    let dots = |it: &str| {
        it.starts_with("...") || it.starts_with('\u{2026}') || it.ends_with("...") || it.ends_with('\u{2026}')
    };
    let lower = trimmed.to_lowercase();
    let words = ["existing code", "unchanged", "rest of the", "same as before"];
    ["...", "\u{2026}"].contains(&trimmed)
        || is_comment && (dots(trimmed) || words.iter().any(|it| lower.contains(it)))
}
