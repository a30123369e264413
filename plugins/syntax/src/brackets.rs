//! Brackets that do not match, and which of them is to blame. Words that open and close count as brackets, too.
//!
//! A bracket that is never closed is noticed at the end of the file only. The indentation says where its author
//! thinks that it is closed, so it is asked which of the open ones was forgotten. It is asked about files whose
//! brackets do not match, never to find fault with one.

use std::ops::Range;

use broker_plugin_sdk::syntax::Tree;

use crate::lexer;

/// A bracket without a partner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lone {
    pub(crate) bracket: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Never closed; by its indentation it should have been before `end`.
    Open { end: Option<usize> },
    /// A closing bracket without an opening one.
    Close,
    /// A closing bracket for the one at `open`, which is of another kind.
    Crossed { open: Range<usize> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Round,
    Square,
    Curly,
    /// `end` and what it ends.
    Block,
}

/// Token that matters for matching brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Open(Sort),
    Close(Sort),
    /// Conditions of the preprocessor: of the ways through the text, one is taken.
    If,
    Else,
    EndIf,
}

/// A bracket in the text.
#[derive(Debug, Clone)]
struct Bracket {
    sort: Sort,
    range: Range<usize>,
    /// Start of the bracket's line.
    line: usize,
    /// Columns before the first sign of its line.
    indent: usize,
    /// Whether the bracket is that first sign.
    is_first: bool,
}

/// The brackets of a text, in order.
pub(crate) fn tokens(tree: &Tree, text: &[u8], language: &str) -> Vec<(Token, Range<usize>)> {
    lexer::tokens_of(language, text).unwrap_or_else(|| of_tree(tree, text, language))
}

fn of_tree(tree: &Tree, text: &[u8], language: &str) -> Vec<(Token, Range<usize>)> {
    let mut found = Vec::new();
    let leaves = tree.nodes().filter(|it| it.children().next().is_none());
    for node in leaves.filter(|it| !it.is_named() && !it.is_missing()) {
        let range = node.range();
        match node.kind() {
            word if is_block(word, language, text, range.start) => {
                found.push((Token::Open(Sort::Block), range))
            }
            "end" if has_blocks(language) => found.push((Token::Close(Sort::Block), range)),
            // Tokens such as `#{` and `]]` hold brackets, too.
            _ if range.len() <= LONGEST => {
                found.extend(range.filter_map(|at| Some((Token::of_sign(text[at])?, at..at + 1))));
            }
            _ => {}
        }
    }
    found
}

/// The first bracket that has no partner. `None`: all have.
pub(crate) fn lone(tokens: &[(Token, Range<usize>)], text: &[u8]) -> Option<Lone> {
    let mut scan = Scan {
        text,
        line: 0,
        looked_at: 0,
        open: Vec::new(),
        forgotten: None,
        extra: None,
        forks: Vec::new(),
    };
    let found = tokens.iter().find_map(|(token, range)| scan.token(*token, range.clone()));
    found.or_else(|| scan.end())
}

impl Token {
    pub(crate) fn of_sign(sign: u8) -> Option<Self> {
        Some(match sign {
            b'(' => Self::Open(Sort::Round),
            b'[' => Self::Open(Sort::Square),
            b'{' => Self::Open(Sort::Curly),
            b')' => Self::Close(Sort::Round),
            b']' => Self::Close(Sort::Square),
            b'}' => Self::Close(Sort::Curly),
            _ => return None,
        })
    }
}

struct Scan<'a> {
    text: &'a [u8],
    /// Start of the line that was looked at last, and the position up to which it was.
    line: usize,
    looked_at: usize,
    open: Vec<Bracket>,
    /// The first that seems to be closed by what is meant for another, and that other's end.
    forgotten: Option<(Bracket, usize)>,
    /// The first that seems to close what it is not meant for.
    extra: Option<Bracket>,
    /// Brackets that were open where each condition of the preprocessor began.
    forks: Vec<Vec<Bracket>>,
}

impl Scan<'_> {
    fn token(&mut self, token: Token, range: Range<usize>) -> Option<Lone> {
        match token {
            Token::Open(sort) => self.open(sort, range),
            Token::Close(sort) => return self.close(sort, range),
            Token::If => self.forks.push(self.open.clone()),
            // The other way through the text starts where this one did.
            Token::Else => {
                if let Some(before) = self.forks.last() {
                    self.open.clone_from(before);
                }
            }
            Token::EndIf => drop(self.forks.pop()),
        }
        None
    }

    fn open(&mut self, sort: Sort, range: Range<usize>) {
        let bracket = self.bracket(sort, range);
        // Code that encloses a line is indented less than it.
        if let Some(top) = self.open.last()
            && bracket.line > top.line
            && bracket.indent <= top.indent
            && bracket.sort == top.sort
            && !is_flat(&self.text[top.line..top.range.start])
        {
            self.forgotten.get_or_insert((top.clone(), bracket.line + bracket.indent));
        }
        self.open.push(bracket);
    }

    fn bracket(&mut self, sort: Sort, range: Range<usize>) -> Bracket {
        let more = memchr::memrchr(b'\n', &self.text[self.looked_at..range.start]);
        self.line = more.map_or(self.line, |it| self.looked_at + it + 1);
        self.looked_at = range.start;
        let line = self.line;
        let before = &self.text[line..range.start];
        let indent = before.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
        Bracket { sort, range, line, indent, is_first: indent == before.len() }
    }

    fn close(&mut self, sort: Sort, range: Range<usize>) -> Option<Lone> {
        let closing = self.bracket(sort, range);
        let Some(top) = self.open.last() else {
            let extra = self.extra.take().unwrap_or(closing);
            return Some(Lone { bracket: extra.range, kind: Kind::Close });
        };
        if top.sort != sort {
            return Some(self.crossed(top, closing));
        }
        if closing.is_first {
            let is_meant = |it: &Bracket| it.indent == closing.indent;
            if top.indent > closing.indent && self.open.iter().any(is_meant) {
                self.forgotten.get_or_insert((top.clone(), closing.range.start));
            } else if top.indent < closing.indent {
                self.extra.get_or_insert(closing);
            }
        }
        self.open.pop();
        None
    }

    /// Either what is open was forgotten to be closed, or what closes has no beginning.
    fn crossed(&self, top: &Bracket, closing: Bracket) -> Lone {
        let is_open = self.open.iter().any(|it| it.sort == closing.sort);
        let is_within_line = |it: Sort| matches!(it, Sort::Round | Sort::Square);
        let end = || {
            let end = end_by_indent(self.text, top.range.start).unwrap_or(closing.range.start);
            Some(end.min(closing.range.start))
        };
        match is_open {
            // A block ends whatever is open in it.
            true if is_within_line(top.sort) && !is_within_line(closing.sort) => {
                Lone { bracket: top.range.clone(), kind: Kind::Open { end: end() } }
            }
            true => Lone { bracket: closing.range, kind: Kind::Crossed { open: top.range.clone() } },
            false => Lone { bracket: closing.range, kind: Kind::Close },
        }
    }

    fn end(self) -> Option<Lone> {
        let last = self.open.last()?.clone();
        let (bracket, end) = self.forgotten.map_or((last, None), |(it, end)| (it, Some(end)));
        let end = end.map(|end| end_by_indent(self.text, bracket.range.start).map_or(end, |it| it.min(end)));
        Some(Lone { bracket: bracket.range, kind: Kind::Open { end } })
    }
}

/// Limit on a token that is made of signs only, in bytes.
const LONGEST: usize = 4;

fn has_blocks(language: &str) -> bool {
    matches!(language, "ruby" | "elixir")
}

/// Whether the content of the bracket is not indented, by the text before it.
fn is_flat(before: &[u8]) -> bool {
    let before = before.trim_ascii_start();
    before.starts_with(b"namespace") || before.starts_with(b"extern") || before.starts_with(b"switch")
}

/// Whether `end` closes the block that this word begins.
fn is_block(word: &str, language: &str, text: &[u8], at: usize) -> bool {
    match (language, word) {
        ("elixir", "do" | "fn") => true,
        ("ruby", "def") => !is_endless(text, at),
        ("ruby", "class" | "module" | "begin" | "case") => true,
        // Behind a statement it is a condition of that statement alone.
        ("ruby", "if" | "unless" | "while" | "until" | "for") => begins(text, at),
        ("ruby", "do") => !is_loop(text, at),
        _ => false,
    }
}

/// Whether only the left side of an assignment or an opening bracket precedes the position on its line.
fn begins(text: &[u8], at: usize) -> bool {
    let before = line_before(text, at).trim_ascii_end();
    before.is_empty()
        || matches!(before.last(), Some(b'=' | b'(' | b'[' | b'{' | b'|' | b'&' | b'>' | b',' | b';'))
}

/// `while x do` has one end for both words.
fn is_loop(text: &[u8], at: usize) -> bool {
    let before = line_before(text, at).trim_ascii_start();
    [&b"while "[..], b"until ", b"for "].iter().any(|it| before.starts_with(it))
}

/// `def f(x) = …` has no end.
fn is_endless(text: &[u8], at: usize) -> bool {
    let rest = text[at..].split(|it| *it == b'\n').next().unwrap_or_default();
    let name = rest[b"def".len()..].trim_ascii_start();
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b'?' | b'!');
    let mut after = &name[name.iter().take_while(|it| is_name(it)).count()..];
    if after.starts_with(b"(") {
        after = &after[after.iter().position(|it| *it == b')').map_or(after.len(), |it| it + 1)..];
    }
    matches!(after.trim_ascii_start(), [b'=', b' ', ..])
}

/// Returns the text before a position on its line; on a very long line, the end of that text.
fn line_before(text: &[u8], at: usize) -> &[u8] {
    let before = &text[at.saturating_sub(LONG)..at];
    &before[memchr::memrchr(b'\n', before).map_or(0, |it| it + 1)..]
}

/// Limit on a line, in bytes; what begins earlier is no statement that a person wrote.
const LONG: usize = 4_096;

/// Whether a line that is indented as little as the one with the bracket may be inside the bracket all the same.
fn goes_on(line: &[u8]) -> bool {
    let words: [&[u8]; 14] = [
        b"else",
        b"elsif",
        b"elseif",
        b"rescue",
        b"ensure",
        b"when",
        b"in ",
        b"catch",
        b"after",
        b"case",
        b"default",
        b"public",
        b"private",
        b"protected",
    ];
    matches!(line.first(), Some(b')' | b']' | b'}' | b'#' | b'/' | b'*' | b'{'))
        || words.iter().any(|it| line.starts_with(it))
}

/// Returns the start of the first line that is indented no more than the one with the bracket at `open` and closes nothing.
pub(crate) fn end_by_indent(text: &[u8], open: usize) -> Option<usize> {
    let indent = |line: &[u8]| line.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
    let own = indent(&text[open - line_before(text, open).len()..]);
    let mut at = open + text[open..].iter().position(|it| *it == b'\n')? + 1;
    for line in text[at..].split_inclusive(|it| *it == b'\n') {
        let first = line.trim_ascii_start();
        if !first.is_empty() && indent(line) <= own && !goes_on(first) {
            return Some(at);
        }
        at += line.len();
    }
    None
}
