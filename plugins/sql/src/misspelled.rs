//! The first word of a statement, where it is almost that of a statement of SQL.
//!
//! A text that no dialect here can parse may be right in another, so that nothing is reported in it where no configuration names
//! the dialect.
//! But no dialect has a statement that begins with `SELEC` and has a `FROM`.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Report, Severity};

use crate::rules::{self, Selection, UNPARSABLE};
use crate::statements::{after, is_letter};

/// A word that begins no statement, and the one that is meant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misspelled {
    pub(crate) at: Range<usize>,
    pub(crate) meant: &'static str,
}

/// First words of statements, and the words that have to follow: as the next word, or anywhere.
const STATEMENTS: [(&str, Follows); 5] = [
    (
        "CREATE",
        Follows::Next(&[
            "DATABASE",
            "FUNCTION",
            "INDEX",
            "OR",
            "SCHEMA",
            "TABLE",
            "TEMPORARY",
            "TRIGGER",
            "UNIQUE",
            "VIEW",
        ]),
    ),
    ("DELETE", Follows::Next(&["FROM"])),
    ("INSERT", Follows::Next(&["INTO"])),
    ("SELECT", Follows::Somewhere("FROM")),
    ("UPDATE", Follows::Somewhere("SET")),
];

#[derive(Clone, Copy)]
enum Follows {
    Next(&'static [&'static str]),
    Somewhere(&'static str),
}

/// For a text in no dialect here: what is wrong in any.
pub(crate) fn report(text: &str, selection: &Selection) -> Option<Report> {
    let Misspelled { at, meant } = find(text).filter(|_| !selection.ignores(UNPARSABLE))?;
    Some(Report::new(vec![finding(text, at, meant)]))
}

pub(crate) fn finding(text: &str, at: Range<usize>, meant: &str) -> Diagnostic {
    let message = format!("`{}` begins no statement: `{meant}` is meant", &text[at.clone()]);
    let found = Diagnostic::new(UNPARSABLE, message, at);
    let name = Some(rules::name_of(UNPARSABLE).to_owned());
    Diagnostic { severity: Severity::Error, name, ..found }
}

/// The first of such words in the text.
pub(crate) fn find(text: &str) -> Option<Misspelled> {
    let mut words = Words { text, at: 0 };
    let mut statement: Vec<Range<usize>> = Vec::new();
    loop {
        match words.next() {
            Some(Token::Word(at)) => statement.push(at),
            Some(Token::End) => {
                if let Some(found) = misspelled(text, &statement) {
                    return Some(found);
                }
                statement.clear();
            }
            None => return misspelled(text, &statement),
        }
    }
}

fn misspelled(text: &str, statement: &[Range<usize>]) -> Option<Misspelled> {
    let word = |at: &Range<usize>| text[at.clone()].to_ascii_uppercase();
    let (first, rest) = statement.split_first()?;
    let line = text[..first.start].rfind('\n').map_or(0, |it| it + 1);
    let begins_line = text[line..first.start].trim_start_matches('\u{feff}').trim().is_empty();
    let fits = |it: &Follows| match it {
        Follows::Next(words) => rest.first().is_some_and(|it| words.contains(&word(it).as_str())),
        Follows::Somewhere(wanted) => rest.iter().any(|it| word(it) == *wanted),
    };
    let written = word(first);
    let mut meant = STATEMENTS.iter().filter(|it| is_slip(&written, it.0) && fits(&it.1));
    meant.next().filter(|_| begins_line).map(|it| Misspelled { at: first.clone(), meant: it.0 })
}

/// Whether a letter is missing, another or one too many, or two have changed places. (`CREATES` is a word of prose.)
fn is_slip(written: &str, meant: &str) -> bool {
    if written.starts_with(meant) {
        return false;
    }
    let (a, b) = (written.as_bytes(), meant.as_bytes());
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&a[..a.len() - end], &b[..b.len() - end]) {
        ([_], []) | ([], [_]) | ([_], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

enum Token {
    Word(Range<usize>),
    /// A semicolon.
    End,
}

/// The words of a text outside of comments, strings and names in quotes.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Words<'_> {
    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            let len = match first {
                ';' => {
                    self.at += 1;
                    return Some(Token::End);
                }
                it if is_letter(it) => {
                    let start = self.at;
                    self.at += rest.find(|it| !is_letter(it)).unwrap_or(rest.len());
                    return Some(Token::Word(start..self.at));
                }
                '\'' | '"' | '`' => 1 + after(&rest[1..], &rest[..1]),
                '$' if rest.starts_with("$$") => 2 + after(&rest[2..], "$$"),
                '#' => after(rest, "\n"),
                _ if rest.starts_with("--") => after(rest, "\n"),
                _ if rest.starts_with("/*") => after(rest, "*/"),
                it => it.len_utf8(),
            };
            self.at += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words() {
        let told =
            |text: &str| find(text).map(|it| format!("{} {}", &text[it.at], it.meant)).unwrap_or_default();
        assert_eq!(told("SELEC a FROM b\n"), "SELEC SELECT");
        assert_eq!(told("selct a\n  from b;\n"), "selct SELECT");
        assert_eq!(told("\u{feff}-- a; b\nINSRET INTO a VALUES (';');\n"), "INSRET INSERT");
        assert_eq!(told("SELECT 1;\n/* c */\nDELEET FROM a;\n"), "DELEET DELETE");
        assert_eq!(told("CRAETE TABLE a (b int);"), "CRAETE CREATE");
        for right in [
            "",
            "SELECT a FROM b;",
            "SELEC a;",
            "'SELEC a FROM b'",
            "-- SELEC a FROM b",
            "x; SELEC a FROM b",
            "$$\nSELEC a FROM b\n$$",
            "Creates table a from b",
            "select_a from b",
            "MERGE INTO a",
            "$é$ \"",
        ] {
            assert_eq!(told(right), "", "{right}");
        }
    }
}
