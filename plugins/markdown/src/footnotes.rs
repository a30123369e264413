//! Footnotes that rumdl does not see: all that Python-Markdown has (the pages of MkDocs), and such as stand in other blocks.
//!
//! Python-Markdown reads them in the indented blocks of admonitions and tabs, which are code to rumdl, and takes all lines
//! up to the next blank one for a footnote's text, however they are indented. Code between fences counts as code; indented
//! code does not, since it may be such a block.

use pulldown_cmark::{Event, Options, Parser, Tag};
use rumdl_lib::rule::LintWarning;
use rustc_hash::FxHashSet;

/// Subject of a finding about footnotes; names are in small letters.
enum Subject {
    Unused(String),
    Undefined(String),
    Empty,
}

/// Drops findings that are wrong, given whether the file may be one that Python-Markdown reads.
pub(crate) fn drop_known(warnings: &mut Vec<LintWarning>, text: &str, is_python_markdown: bool) {
    if !warnings.iter().any(|it| subject(it).is_some()) {
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    let notes = if is_python_markdown { Footnotes::of(&lines) } else { Footnotes::nested(text) };
    warnings.retain(|it| match subject(it) {
        Some(Subject::Unused(name)) => !notes.used.contains(&name),
        Some(Subject::Undefined(name)) => !notes.defined.contains(&name),
        Some(Subject::Empty) => !(is_python_markdown && continues(&lines, it.line)),
        None => true,
    });
}

fn subject(warning: &LintWarning) -> Option<Subject> {
    let message = &warning.message;
    match warning.rule_name.as_deref() {
        Some("MD068") => Some(Subject::Empty),
        Some("MD066") => {
            let (start, end) = message.split_once("'[^")?.1.split_once("]'")?;
            let name = start.to_lowercase();
            match end {
                " is never referenced" => Some(Subject::Unused(name)),
                " has no corresponding definition" => Some(Subject::Undefined(name)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the line after a definition, which is counted from 1, is a part of it.
fn continues(lines: &[&str], number: usize) -> bool {
    lines.get(number).is_some_and(|it| !it.trim().is_empty() && definition(it).is_none())
}

/// Names of footnotes, in small letters.
#[derive(Default)]
struct Footnotes {
    used: FxHashSet<String>,
    defined: FxHashSet<String>,
}

impl Footnotes {
    /// Reads the footnotes as Python-Markdown does.
    fn of(lines: &[&str]) -> Self {
        let mut notes = Self::default();
        let mut fence: Option<&str> = None;
        for line in lines {
            let mark = mark(line);
            match fence {
                Some(open) if closes(line, open) => fence = None,
                Some(_) => {}
                None if mark.is_some() => fence = mark,
                None => notes.line(line),
            }
        }
        notes
    }

    fn line(&mut self, line: &str) {
        let (name, rest) = definition(line).map_or((None, line), |it| (Some(it.0), it.1));
        self.defined.extend(name.map(str::to_lowercase));
        // Between backticks is code.
        for part in rest.split('`').step_by(2) {
            let names = part.split("[^").skip(1).filter_map(|it| it.split_once(']'));
            self.used.extend(names.map(|it| it.0.to_lowercase()));
        }
    }

    /// Reads the footnotes as others do: those in lists' items and other blocks count, too.
    fn nested(text: &str) -> Self {
        let name = |it: Event<'_>| match it {
            Event::Start(Tag::FootnoteDefinition(name)) => Some(name.to_lowercase()),
            _ => None,
        };
        let defined = Parser::new_ext(text, Options::ENABLE_FOOTNOTES).filter_map(name).collect();
        Self { used: FxHashSet::default(), defined }
    }
}

/// The name of a footnote whose text begins in a line, and the rest of the line.
fn definition(line: &str) -> Option<(&str, &str)> {
    line.trim_start_matches([' ', '\t', '>']).strip_prefix("[^")?.split_once("]:")
}

/// The mark that opens a block of code, at any indentation.
fn mark(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let sign = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let len = line.len() - line.trim_start_matches(sign).len();
    (len >= 3 && !line[len..].contains('`')).then_some(&line[..len])
}

fn closes(line: &str, open: &str) -> bool {
    mark(line).is_some_and(|it| it.starts_with(open)) && line.trim_end().ends_with(&open[..1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_text() {
        let text = "??? note\n\n    A [link][^One] and `[^two]`.\n\n    ```` md\n    [^three]\n    ```\n    ````\n\n    \
                    [^one]: x\n\n[^four]:\n  y[^Five]\n";
        let notes = Footnotes::of(&text.lines().collect::<Vec<_>>());
        let sorted = |names: FxHashSet<String>| {
            let mut names: Vec<_> = names.into_iter().collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!((sorted(notes.used), sorted(notes.defined)), ("five one".into(), "four one".into()));
        assert_eq!(sorted(Footnotes::nested("1.  a[^x]\n\n    [^x]: b\n").defined), "x");
    }

    #[test]
    fn lines_that_continue() {
        let continues = |text: &str| continues(&text.lines().collect::<Vec<_>>(), 1);
        assert!(continues("[^a]:\n  b\n") && continues("[^a]:\nb\n"));
        assert!(!continues("[^a]:\n\nb\n") && !continues("[^a]:\n[^b]: c\n") && !continues("[^a]:\n"));
    }
}
