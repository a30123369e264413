//! The statements of a text, cut at its semicolons, and which of them a rule can find fault with.
//!
//! In no dialect is there a text in which each of the semicolons ends a statement: those in the body of a procedure end a
//! part of one, which is a statement of its own as often as not.

use std::ops::Range;

use crate::tables::Tables;

/// A word or a sign of a statement, outside of comments, strings and names in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Word(&'a str),
    /// A string or a name in quotes.
    Quoted(&'a str),
    Sign(char),
}

/// Ranges of a text's statements, without semicolons and the comments before them.
pub(crate) fn statements(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Tokens { text, at: 0 };
    let (mut found, mut start) = (Vec::new(), None);
    while let Some((token, at)) = tokens.next() {
        if token == Token::Sign(';') {
            found.extend(start.take().map(|start| start..at.start));
        } else {
            start.get_or_insert(at.start);
        }
    }
    found.extend(start.map(|start| start..text.len()));
    found
}

/// Whether one of the rules that are on without a configuration ([`crate::defaults::CERTAIN`]) can find something: two tables of
/// one name (AL04), a comparison with NULL (CV05), a query in WITH (ST03).
pub(crate) fn may_be_wrong(statement: &str) -> bool {
    let (mut seen, mut tables) = (Seen::default(), Tables::default());
    let mut tokens = Tokens { text: statement, at: 0 };
    while let Some((token, _)) = tokens.next() {
        if seen.takes(token) {
            return true;
        }
        tables.take(token);
    }
    tables.has_one_twice()
}

/// The last tokens of a statement, as far as it was read.
#[derive(Default)]
struct Seen<'a> {
    has_with: bool,
    has_condition: bool,
    before: [Option<Token<'a>>; 2],
}

impl<'a> Seen<'a> {
    /// Whether one more token makes a comparison with NULL in a condition, or begins a query in WITH.
    fn takes(&mut self, token: Token<'a>) -> bool {
        let [before, last] = self.before;
        self.before = [last, Some(token)];
        self.has_with |= token.is("WITH");
        self.has_condition |= ["WHERE", "HAVING", "ON", "WHEN"].iter().any(|it| token.is(it));
        let is_sign = |it: Option<Token<'_>>, sign| it == Some(Token::Sign(sign));
        let is_compared = is_sign(last, '=') || is_sign(before, '<') && is_sign(last, '>');
        let is_named = last.is_some_and(|it| it.is("AS") || it.is("MATERIALIZED"));
        self.has_condition && is_compared && token.is("NULL")
            || self.has_with && is_named && token == Token::Sign('(')
    }
}

impl Token<'_> {
    fn is(self, word: &str) -> bool {
        matches!(self, Token::Word(it) if it.eq_ignore_ascii_case(word))
    }
}

/// Goes through a text.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<(Token<'a>, Range<usize>)> {
        loop {
            let start = self.at;
            let rest = &self.text[start..];
            let first = rest.chars().next()?;
            let line = self.text[..start].rfind('\n').map_or(0, |it| it + 1);
            // `#` begins a comment in MySQL, and is an operator in PostgreSQL.
            let is_comment = first == '#' && self.text[line..start].trim().is_empty();
            let (token, len) = if is_comment { (None, after(rest, "\n")) } else { read(rest, first) };
            self.at += len;
            if let Some(token) = token {
                return Some((token, start..self.at));
            }
        }
    }
}

/// The token that a text begins with, if it is no comment and no blank, and its length.
fn read(rest: &str, first: char) -> (Option<Token<'_>>, usize) {
    match first {
        it if is_letter(it) => {
            let len = rest.find(|it| !is_letter(it)).unwrap_or(rest.len());
            (Some(Token::Word(&rest[..len])), len)
        }
        '\'' | '"' | '`' => {
            let len = if first == '\'' { string(rest) } else { 1 + after(&rest[1..], &rest[..1]) };
            (Some(Token::Quoted(&rest[..len])), len)
        }
        '$' => match dollar_quoted(rest) {
            Some(len) => (Some(Token::Quoted(&rest[..len])), len),
            None => (Some(Token::Sign('$')), 1),
        },
        _ if rest.starts_with("--") => (None, after(rest, "\n")),
        _ if rest.starts_with("/*") => (None, after(rest, "*/")),
        it if it.is_whitespace() => (None, it.len_utf8()),
        it => (Some(Token::Sign(it)), it.len_utf8()),
    }
}

/// Length of a string at the start of a text. A quote behind a backslash ends it in some dialects, and is a letter of it in
/// others: it ends the string if what follows may follow one.
fn string(rest: &str) -> usize {
    let mut from = 1;
    while let Some(at) = rest[from..].find('\'').map(|it| from + it) {
        let n_backslashes = rest[..at].bytes().rev().take_while(|it| *it == b'\\').count();
        let next = rest[at + 1..].chars().next();
        let ends = next.is_none_or(|it| it.is_whitespace() || ",;)|:".contains(it));
        if n_backslashes % 2 == 0 || ends {
            return at + 1;
        }
        from = at + 1;
    }
    rest.len()
}

/// Length of `$$…$$` or `$tag$…$tag$` at the start of a text.
pub(crate) fn dollar_quoted(rest: &str) -> Option<usize> {
    let tag = 1 + rest[1..].find(|it| !is_letter(it))?;
    let tag = rest.get(..=tag).filter(|it| it.ends_with('$'))?;
    Some(tag.len() + after(&rest[tag.len()..], tag))
}

pub(crate) fn is_letter(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// Length of a text up to and including `end`, or of all of it.
pub(crate) fn after(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |it| it + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_cut() {
        let cut = |text: &str| statements(text).into_iter().map(|it| text[it].to_owned()).collect::<Vec<_>>();
        assert_eq!(cut("-- a;\na ; b /* b */;;"), ["a ", "b /* b */"]);
        assert_eq!(
            cut("'a;''b;' \"c;\" `d;` -- e;\n/* f; */ $$ g; $$ $h$ i; $$ $h$;j"),
            ["'a;''b;' \"c;\" `d;` -- e;\n/* f; */ $$ g; $$ $h$ i; $$ $h$", "j"]
        );
        assert_eq!(cut("# it's; \na # b;c"), ["a # b", "c"]);
        assert_eq!(cut("'it\\'s;', '\\', ';', 'a\\\\';b"), ["'it\\'s;', '\\', ';', 'a\\\\'", "b"]);
        assert_eq!(cut("$1; 'open;"), ["$1", "'open;"]);
    }

    #[test]
    fn what_a_rule_can_find_fault_with() {
        for text in [
            "SELECT 1 FROM a JOIN a ON a.c = b.c",
            "select 1 from a x, b as X",
            "SELECT 1 FROM s.a, t.a",
            "SELECT 1 FROM (a JOIN b USING (c)) LEFT JOIN \"a\" ON true",
            "SELECT 1 FROM (SELECT 2 FROM a) b CROSS JOIN f(c, d) AS `b`",
            "SELECT 1 FROM a WHERE b = null",
            "WHERE b != /* c */ NULL",
            "CASE WHEN b <> NULL",
            "WITH a AS (SELECT 1) SELECT 2",
            "with a as materialized (SELECT 1) SELECT 2",
        ] {
            assert!(may_be_wrong(text), "{text}");
        }
        for text in [
            "",
            "SELECT a, b FROM c",
            "SELECT a, a FROM s.b x LEFT OUTER JOIN s.c AS y ON x.d = y.d WHERE x.e = x.f ORDER BY x.a, y.a",
            "SELECT a FROM b, c WHERE d IN (d, d) GROUP BY d",
            "INSERT INTO a (b, c) VALUES (1, NULL), (2, 'FROM a, b = NULL')",
            "CREATE TABLE a (b int NOT NULL, c int DEFAULT NULL)",
            "SELECT a FROM b WHERE c IS NULL",
            "SELECT a > NULL -- = NULL",
            "UPDATE a SET b = NULL",
            "CREATE FUNCTION f(a int = NULL)",
            "CREATE TABLE a AS (SELECT 1)",
        ] {
            assert!(!may_be_wrong(text), "{text}");
        }
    }
}
