//! Lines of a file that are shown, and the outline of the rest.

use std::ops::RangeInclusive;

use agent_tools::edit::{self, OutlineEntry};
use overlay::WorkspacePath;
use schemars::JsonSchema;
use serde::Serialize;
use syntax::Trees;

use crate::limits;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Lines {
    file: String,
    /// Number of the first line that is shown, from 1; 0 if there is none.
    first_line: usize,
    last_line: usize,
    total_lines: usize,
    pub(super) text: String,
    /// Symbols of a file that is not shown whole, as `line kind name`, indented below those around them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<String>,
}

impl Lines {
    /// Numbers of the lines that are shown, from 1.
    pub(super) fn numbers(&self) -> RangeInclusive<usize> {
        self.first_line..=self.last_line
    }

    pub(super) fn total(&self) -> usize {
        self.total_lines
    }

    /// Lines `first` to `last` of a text, at most `bytes` of them, with an outline if there is a rest and `trees` are given.
    pub(super) fn of(
        path: &WorkspacePath,
        text: &str,
        (first, last): (usize, usize),
        bytes: usize,
        trees: Option<&Trees>,
    ) -> Self {
        let shown = lines(text, first, last, bytes);
        let (count, total_lines) = (split_lines(&shown).count(), split_lines(text).count());
        let (first_line, last_line) = if count == 0 { (0, 0) } else { (first, first + count - 1) };
        let trees = trees.filter(|_| count < total_lines);
        let outline = trees.map(|it| outline(path, text, it)).unwrap_or_default();
        Self { file: path.to_string(), first_line, last_line, total_lines, text: shown, outline }
    }

    pub(super) fn count(&self) -> usize {
        if self.first_line == 0 { 0 } else { self.last_line - self.first_line + 1 }
    }

    pub(super) fn text(&self) -> String {
        let Self { file, first_line, last_line, total_lines, text, .. } = self;
        let is_whole = *first_line <= 1 && last_line == total_lines;
        let head = match is_whole {
            true => format!("{file}, {total_lines} lines"),
            false => format!("{file}, lines {first_line}-{last_line} of {total_lines}"),
        };
        let mut answer = format!("{head}\n{text}");
        if !self.outline.is_empty() {
            let end = if answer.ends_with('\n') { "" } else { "\n" };
            answer.push_str(&format!("{end}outline:\n{}", self.outline.join("\n")));
        }
        answer
    }
}

/// The symbols of a text by their lines. Of too many, the innermost are left out.
fn outline(path: &WorkspacePath, text: &str, trees: &Trees) -> Vec<String> {
    let mut all = edit::outline(path, text, trees);
    let total = all.len();
    while let Some(deepest) = all.iter().map(|it| it.depth).max().filter(|it| *it > 0)
        && all.len() > limits::SYMBOLS
    {
        all.retain(|it| it.depth < deepest);
    }
    all.truncate(limits::SYMBOLS);
    let more = total - all.len();
    let shown = all.iter().map(outline_line);
    shown.chain((more > 0).then(|| format!("… {more} more"))).collect()
}

/// `line kind name`, with the name's depth.
fn outline_line(it: &OutlineEntry) -> String {
    let indent = "  ".repeat(it.depth);
    let space = if it.kind.is_empty() { "" } else { " " };
    format!("{} {indent}{}{space}{}", it.line, it.kind, it.name)
}

/// The lines of a text with their ends, as findings count them: a carriage return alone ends one as well.
pub(super) fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(['\n', '\r']).map_or(rest.len(), |it| it + 1);
        let is_half = rest[..end].ends_with('\r') && rest[end..].starts_with('\n');
        let (line, below) = rest.split_at(if is_half { end + 1 } else { end });
        rest = below;
        (!line.is_empty()).then_some(line)
    })
}

/// Whole lines from `first` to `last`, as many as fit.
fn lines(text: &str, first: usize, last: usize, bytes: usize) -> String {
    let mut shown = String::new();
    for line in split_lines(text).take(last).skip(first - 1) {
        if shown.len() + line.len() > bytes && !shown.is_empty() {
            break;
        }
        let end = line.floor_char_boundary(bytes);
        shown.push_str(&line[..end]);
        if end < line.len() {
            shown.push_str(&format!("… {} more bytes of this line\n", line.len() - end));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LINE_BYTES;

    #[test]
    fn an_outline_leaves_out_what_is_innermost() {
        let trees = Trees::new(1 << 20);
        let shown = |text: &str| outline(&WorkspacePath::new("a.ts").unwrap(), text, &trees);
        let class = |members: usize| format!("class A {{\n{}}}\n", "  m() {}\n".repeat(members));
        assert_eq!(shown(&class(2)), ["1 class A", "2   method m", "3   method m"]);
        assert_eq!(shown(&class(limits::SYMBOLS)), ["1 class A", "… 100 more"]);
        let many = shown(&"type A = 1;\n".repeat(limits::SYMBOLS + 1));
        assert_eq!((many.len(), many[100].as_str()), (101, "… 1 more"));
    }

    #[test]
    fn lines_are_whole() {
        assert_eq!(lines("a\nb\r\nc", 2, 3, LINE_BYTES), "b\r\nc");
        assert_eq!(lines("", 1, 0, LINE_BYTES), "");
        assert_eq!(lines("a\rb\r\nc\r\n", 2, 3, LINE_BYTES), "b\r\nc\r\n", "as findings count them");
    }
}
