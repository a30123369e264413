//! Writes suppressions into a text: after the code of a line, on a line of their own before it, or for a whole file.
//!
//! A parser is needed to find out whether a comment can be at such a place (and is not inside of a string over several lines),
//! which is left to the caller.

use std::collections::BTreeMap;

use overlay::WorkspacePath;

use super::{
    comments::Comments,
    directive::Kind,
    scan::{Suppression, Suppressions, scan},
};
use crate::{Edit, RulePattern, Span, finding_key::slice};

/// Columns of a line with its comment; the strictest of the usual limits on lines.
const WIDTH: usize = 79;

/// Rules to be suppressed on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// Counted from 1.
    pub line: u32,
    /// In the order in which they are written: `python/F401`.
    pub rules: Vec<String>,
    pub place: CommentPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommentPlace {
    /// On the line itself.
    After,
    /// On a line of its own.
    Before,
    /// On a line of its own among the children of an element of JSX.
    InMarkup,
}

/// Error of a reason that cannot be put into a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadReason;

/// A text in which suppressions can be written.
pub struct Suppressible<'t> {
    comments: Comments,
    of: Suppressions<'t>,
    reason: &'t str,
    has_markup: bool,
}

/// A text with suppressions added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithSuppressions {
    pub text: Vec<u8>,
    /// Edits that turn the original text into this one, in ascending order.
    pub edits: Vec<Edit>,
    /// For each addition, the comment that has its rules; `None` if that comment is not for what it should be for.
    pub comments: Vec<Option<Span>>,
}

impl<'t> Suppressible<'t> {
    /// `None` if it is not known how comments are written in the file at `path`.
    pub fn new(path: &WorkspacePath, text: &'t [u8], reason: &'t str) -> Result<Option<Self>, BadReason> {
        let Some(comments) = Comments::of(path, text) else { return Ok(None) };
        let ends = comments.block.iter().map(|(_, end)| *end);
        if reason.contains(char::is_control) || ends.into_iter().any(|it| reason.contains(it)) {
            return Err(BadReason);
        }
        let has_markup = matches!(path.extension(), Some("js" | "jsx" | "tsx"));
        Ok(Some(Self { comments, of: scan(comments, text), reason, has_markup }))
    }

    pub fn has_line(&self, line: u32) -> bool {
        self.of.table.line_span(line).is_some()
    }

    /// Returns the places for the comment of a line, best first; none is beside the sign that joins a line to the next.
    pub fn places(&self, line: u32, rules: &[String]) -> Vec<CommentPlace> {
        let code = |line| self.of.table.line_span(line).map(|it| slice(self.of.text, it)).unwrap_or_default();
        let is_joined = |line: u32| code(line).trim_ascii_end().ends_with(b"\\");
        let mut places = Vec::new();
        if !self.comments.line.is_empty() && !is_joined(line) {
            places.push(CommentPlace::After);
        }
        let is_first = code(line).starts_with(b"#!") || code(line).starts_with(b"<?");
        if !is_first && !is_joined(line.saturating_sub(1)) {
            places.push(CommentPlace::Before);
            places.extend(self.has_markup.then_some(CommentPlace::InMarkup));
        }
        let comment = self.comment(Kind::Ignore, rules);
        let width = String::from_utf8_lossy(code(line)).chars().count() + 2 + comment.chars().count();
        if width > WIDTH && places.starts_with(&[CommentPlace::After, CommentPlace::Before]) {
            places.swap(0, 1);
        }
        places
    }

    /// Writes all of them. Rules for a line that a comment with a list is for already go into that list.
    pub fn with(&self, additions: &[Addition]) -> WithSuppressions {
        let mut edits: Vec<_> = additions.iter().map(|it| self.edit(it)).collect();
        edits.sort_by_key(|it| it.span);
        let text = self.edited(&edits);
        let comments = self.found_again(additions, &text);
        WithSuppressions { text, edits, comments }
    }

    /// Suppresses rules in the whole file: in the list of a comment that does so for others, if there is nothing to say of these, or
    /// by a new comment as far up as there may be one.
    pub fn with_file(&self, rules: &[String]) -> WithSuppressions {
        let is_for_file = |it: &&Suppression| it.directive.kind == Kind::IgnoreFile;
        let mut known = self.of.found.iter().filter(is_for_file).filter_map(|it| it.directive.list.as_ref());
        let edit = match known.next_back().filter(|_| self.reason.is_empty()) {
            Some(list) => into_list(list.span.end, &list.rules, rules),
            None => self.new_line(self.first_line(), &[], &self.comment(Kind::IgnoreFile, rules)),
        };
        let edits = vec![edit];
        let text = self.edited(&edits);
        let comment = self.comment_with(&text, rules, |it| it.directive.kind == Kind::IgnoreFile);
        WithSuppressions { text, edits, comments: vec![comment] }
    }

    fn edited(&self, edits: &[Edit]) -> Vec<u8> {
        let (mut text, mut done) = (Vec::with_capacity(self.of.text.len()), 0);
        for Edit { span, replacement } in edits {
            text.extend_from_slice(slice(self.of.text, Span::new(done, span.start)));
            text.extend_from_slice(replacement.as_bytes());
            done = span.end;
        }
        text.extend_from_slice(&self.of.text[done as usize..]);
        text
    }

    fn comment(&self, kind: Kind, rules: &[String]) -> String {
        let (begin, end) = match (self.comments.line.first(), self.comments.block.first()) {
            (Some(begin), _) => (*begin, ""),
            (None, Some((begin, end))) => (*begin, *end),
            (None, None) => ("", ""),
        };
        let text = self.directive(kind, rules);
        format!("{begin} {text} {end}").trim_end().to_owned()
    }

    fn directive(&self, kind: Kind, rules: &[String]) -> String {
        format!("broker: {}[{}] {}", kind.word(), rules.join(", "), self.reason).trim_end().to_owned()
    }

    fn edit(&self, it: &Addition) -> Edit {
        let is_for = |known: &&Suppression| known.target == Some(it.line);
        if let Some(list) = self.of.found.iter().filter(is_for).find_map(|it| it.directive.list.as_ref()) {
            return into_list(list.span.end, &list.rules, &it.rules);
        }
        let line = self.of.table.line_span(it.line).unwrap_or(Span::new(0, 0));
        let code = slice(self.of.text, line);
        let indent = &code[..code.len() - code.trim_ascii_start().len()];
        match it.place {
            CommentPlace::After => {
                let end = line.end - length(&code[code.trim_ascii_end().len()..]);
                insertion(end, format!("  {}", self.comment(Kind::Ignore, &it.rules)))
            }
            CommentPlace::Before => self.new_line(line.start, indent, &self.comment(Kind::Ignore, &it.rules)),
            CommentPlace::InMarkup => {
                let text = self.directive(Kind::IgnoreNextLine, &it.rules);
                self.new_line(line.start, indent, &format!("{{/* {text} */}}"))
            }
        }
    }

    /// A line before the one that begins at `at`.
    fn new_line(&self, at: u32, indent: &[u8], line: &str) -> Edit {
        let end = memchr::memchr(b'\n', self.of.text).unwrap_or_default();
        let newline = if self.of.text[..end].ends_with(b"\r") { "\r\n" } else { "\n" };
        let before = match self.of.text[..at as usize].last() {
            None | Some(b'\n' | b'\r') => "",
            // A mark of byte order, or a last line that does not end.
            Some(_) if self.of.table.line_span(1).is_some_and(|it| it.start == at) => "",
            Some(_) => newline,
        };
        insertion(at, format!("{before}{}{line}{newline}", String::from_utf8_lossy(indent)))
    }

    /// The comments in the new text that are for the lines.
    fn found_again(&self, additions: &[Addition], text: &[u8]) -> Vec<Option<Span>> {
        // A line moves down by each that is new before it.
        let mut new_lines = BTreeMap::new();
        for it in additions.iter().filter(|it| self.edit(it).replacement.ends_with('\n')) {
            *new_lines.entry(it.line).or_insert(0) += 1;
        }
        let mut by_line = BTreeMap::<u32, Vec<Suppression>>::new();
        for it in scan(self.comments, text).found {
            if let Some(line) = it.target {
                by_line.entry(line).or_default().push(it);
            }
        }
        let comment = |it: &Addition| {
            let line = it.line + new_lines.range(..=it.line).map(|(_, count)| count).sum::<u32>();
            by_line.get(&line)?.iter().find(|found| found.has(&it.rules)).map(|it| it.comment)
        };
        additions.iter().map(comment).collect()
    }

    fn comment_with(
        &self,
        text: &[u8],
        rules: &[String],
        is_it: impl Fn(&Suppression) -> bool,
    ) -> Option<Span> {
        scan(self.comments, text).found.iter().find(|it| is_it(it) && it.has(rules)).map(|it| it.comment)
    }

    /// Offset of the first line before which there may be a comment: after lines that count only at the top of a file.
    fn first_line(&self) -> u32 {
        let line = |line| self.of.table.line_span(line).map(|it| slice(self.of.text, it));
        let mut first = 1;
        while line(first).is_some_and(|it| is_bound_to_top(it, first)) {
            first += 1;
        }
        if let Some(fence) =
            line(1).map(<[u8]>::trim_ascii_end).filter(|it| [&b"---"[..], b"+++"].contains(it))
            && self.comments.line.is_empty()
            && let Some(end) = (2..=self.of.table.line_count())
                .find(|it| line(*it).map(<[u8]>::trim_ascii_end) == Some(fence))
        {
            first = end + 1;
        }
        let start = self.of.table.line_span(first).map(|it| it.start);
        start.unwrap_or_else(|| length(self.of.text))
    }
}

impl Suppression {
    fn has(&self, rules: &[String]) -> bool {
        let listed: Vec<_> = self.rules().unwrap_or_default().iter().map(ToString::to_string).collect();
        rules.iter().all(|it| listed.contains(it))
    }
}

/// Adds rules to a list that ends at `end`.
fn into_list(end: u32, known: &[RulePattern], rules: &[String]) -> Edit {
    let is_new = |it: &&String| !known.iter().any(|known| known.to_string() == **it);
    insertion(end, rules.iter().filter(is_new).map(|it| format!(", {it}")).collect())
}

fn insertion(at: u32, replacement: String) -> Edit {
    Edit { span: Span::new(at, at), replacement }
}

fn length(text: &[u8]) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Whether a line has a meaning only as one of the first of a file: an interpreter, an encoding, a declaration of XML,
/// a document type, a character set, or a directive of BuildKit's.
fn is_bound_to_top(line: &[u8], number: u32) -> bool {
    let line = line.trim_ascii().to_ascii_lowercase();
    let after = |mark: &[u8]| line.strip_prefix(mark).map(<[u8]>::trim_ascii_start);
    let is_directive = |it: &[u8]| {
        let key = it.split(|it| *it == b'=').next().unwrap_or_default().trim_ascii();
        it.contains(&b'=') && [&b"syntax"[..], b"escape", b"check"].contains(&key)
    };
    let has_encoding = |it: &[u8]| {
        let at = memchr::memmem::find(it, b"coding");
        at.is_some_and(|at| matches!(it.get(at + 6), Some(b':' | b'=')))
    };
    number == 1
        && (line.starts_with(b"#!") || line.starts_with(b"@charset") || line.starts_with(b"#cloud-config"))
        || line.starts_with(b"<?xml")
        || line.starts_with(b"<?php")
        || line.starts_with(b"<!doctype")
        || after(b"#").is_some_and(|it| is_directive(it) || number <= 2 && has_encoding(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(path: &str, text: &str, lines: &[(u32, &str)], place: Option<CommentPlace>) -> String {
        let path = WorkspacePath::new(path).unwrap();
        let suppressible = Suppressible::new(&path, text.as_bytes(), "as it was").unwrap().unwrap();
        let addition = |(line, rules): &(u32, &str)| {
            let rules: Vec<_> = rules.split(' ').map(str::to_owned).collect();
            let best = suppressible.places(*line, &rules)[0];
            Addition { line: *line, rules, place: place.unwrap_or(best) }
        };
        let with = suppressible.with(&lines.iter().map(addition).collect::<Vec<_>>());
        let text = String::from_utf8(with.text).unwrap();
        let missing = with.comments.iter().filter(|it| it.is_none()).count();
        if missing == 0 { text } else { format!("{text}({missing} missing)") }
    }

    #[test]
    fn a_comment_is_written_as_the_language_has_it() {
        let long = "x".repeat(60);
        for (path, text, lines, want) in [
            ("a.py", "a\nb\n", vec![(2, "p/B")], "a\nb  # broker: ignore[p/B] as it was\n".to_owned()),
            (
                "a.js",
                "a\r\n  b\r\n",
                vec![(1, "A B"), (2, "C")],
                "a  // broker: ignore[A, B] as it was\r\n  b  // broker: ignore[C] as it was\r\n".to_owned(),
            ),
            ("a.css", " a", vec![(1, "A")], " /* broker: ignore[A] as it was */\n a".to_owned()),
            ("a.html", "<b>\n", vec![(1, "A")], "<!-- broker: ignore[A] as it was -->\n<b>\n".to_owned()),
            (
                "a.rs",
                &*format!("\t{long}\n{long}"),
                vec![(1, "A"), (2, "B")],
                format!("\t// broker: ignore[A] as it was\n\t{long}\n// broker: ignore[B] as it was\n{long}"),
            ),
            ("a.sh", "a \\\n  b\n", vec![(2, "A")], "a \\\n  b  # broker: ignore[A] as it was\n".to_owned()),
        ] {
            assert_eq!(added(path, text, &lines, None), want, "{path}");
        }
    }

    #[test]
    fn rules_go_into_the_list_that_is_there() {
        let after = "a  # broker: ignore[A] so it is\n";
        assert_eq!(added("a.py", after, &[(1, "B C")], None), "a  # broker: ignore[A, B, C] so it is\n");
        let before = "# broker: ignore[A] so it is\na\nb\n";
        let want = "# broker: ignore[A, B] so it is\na\nb  # broker: ignore[B] as it was\n";
        assert_eq!(added("a.py", before, &[(2, "B"), (3, "B")], None), want);
    }

    #[test]
    fn what_is_not_for_its_line_is_told() {
        let place = Some(CommentPlace::Before);
        let want = "# broker: ignore[A] as it was\n# b\n(1 missing)";
        assert_eq!(added("a.py", "# b\n", &[(1, "A")], place), want, "a comment is no code");
    }

    #[test]
    fn a_reason_may_not_end_the_comment() {
        let bad = |path: &str, reason: &str| {
            let path = WorkspacePath::new(path).unwrap();
            Suppressible::new(&path, b"", reason).is_err()
        };
        assert!(bad("a.css", "a */ b") && bad("a.py", "a\nb"));
        assert!(!bad("a.py", "a */ b"));
    }
}
