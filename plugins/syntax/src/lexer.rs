//! Brackets of C, C++ and Kotlin, read from the text alone.
//!
//! Tokens of the grammar cannot be relied on in a text that does not match it: the text after a `#define` is taken for code, or
//! the end of a string for the start of one. So this looks for comments, strings and lines of the preprocessor, and for nothing
//! else. A string ends with its line whatever happens, so that a quote that was forgotten does no more harm than that.

use std::ops::Range;

use crate::brackets::{Sort, Token};

/// Syntax of strings, comments and directives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Syntax with a preprocessor and raw strings.
    C,
    /// Syntax with nested comments, code in strings, and strings of several lines.
    Kotlin,
}

/// The brackets of a text and the conditions of its preprocessor, in order. `None`: its language is none of these.
pub(crate) fn tokens_of(language: &str, text: &[u8]) -> Option<Vec<(Token, Range<usize>)>> {
    let dialect = match language {
        "c" | "cpp" => Dialect::C,
        "kotlin" => Dialect::Kotlin,
        _ => return None,
    };
    Some(tokens(text, dialect))
}

fn tokens(text: &[u8], dialect: Dialect) -> Vec<(Token, Range<usize>)> {
    let mut lexer = Lexer { text, dialect, at: 0, found: Vec::new(), strings: Vec::new() };
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.found
}

struct Lexer<'a> {
    text: &'a [u8],
    dialect: Dialect,
    at: usize,
    found: Vec<(Token, Range<usize>)>,
    /// Strings that hold the code that is being read: whether they have three quotes, and how many curly brackets
    /// are open in that code.
    strings: Vec<(bool, usize)>,
}

impl Lexer<'_> {
    fn step(&mut self) {
        let is_c = self.dialect == Dialect::C;
        match self.rest() {
            [b'/', b'/', ..] => self.skip_line(),
            [b'/', b'*', ..] => self.skip_comment(),
            [b'#', ..] if is_c && self.begins_line() => self.directive(),
            [b'R', b'"', ..] if is_c => self.skip_raw_string(),
            [b'"', b'"', b'"', ..] if !is_c => self.string(true),
            [b'"', ..] => self.string(false),
            [b'\'', ..] if is_c && self.is_in_number() => self.at += 1,
            [b'\'', ..] => self.skip_character(),
            [b'`', ..] if !is_c => self.skip_name(),
            [sign, ..] => self.sign(*sign),
            [] => {}
        }
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    fn sign(&mut self, sign: u8) {
        let token = Token::of_sign(sign);
        self.found.extend(token.map(|it| (it, self.at..self.at + 1)));
        self.at += 1;
        let Some((has_three, open)) = self.strings.last_mut() else { return };
        match token {
            Some(Token::Open(Sort::Curly)) => *open += 1,
            Some(Token::Close(Sort::Curly)) if *open > 1 => *open -= 1,
            Some(Token::Close(Sort::Curly)) => {
                let has_three = *has_three;
                self.strings.pop();
                self.in_string(has_three);
            }
            _ => {}
        }
    }

    fn string(&mut self, has_three: bool) {
        self.at += if has_three { 3 } else { 1 };
        self.in_string(has_three);
    }

    /// Skips to the end of the string, or to code in it.
    fn in_string(&mut self, has_three: bool) {
        let has_code = self.dialect == Dialect::Kotlin;
        loop {
            match self.rest() {
                [] => return,
                [b'$', b'{', ..] if has_code => {
                    self.strings.push((has_three, 0));
                    self.at += 1;
                    return self.sign(b'{');
                }
                [b'"', b'"', b'"', more @ ..] if has_three => {
                    // All but the last three belong to the string.
                    self.at += 3 + more.iter().take_while(|it| **it == b'"').count();
                    return;
                }
                [b'"' | b'\n', ..] if !has_three => {
                    self.at += 1;
                    return;
                }
                [b'\\', ..] if !has_three => self.skip_escape(),
                _ => self.at += 1,
            }
        }
    }

    /// A line break after a backslash is part of what it is in.
    fn skip_escape(&mut self) {
        self.at += if self.rest().get(1..3) == Some(b"\r\n") { 3 } else { 2 };
    }

    fn skip_character(&mut self) {
        self.at += 1;
        loop {
            match self.rest() {
                [] => return,
                [b'\\', ..] => self.skip_escape(),
                [b'\'' | b'\n', ..] => return self.at += 1,
                _ => self.at += 1,
            }
        }
    }

    /// `R"x(…)x"`.
    fn skip_raw_string(&mut self) {
        let start = self.at + 2;
        let Some(length) = self.text[start..].iter().take(17).position(|it| *it == b'(') else {
            self.at += 1;
            return;
        };
        let end = [b")", &self.text[start..start + length], b"\""].concat();
        let rest = &self.text[start + length..];
        self.at = rest
            .windows(end.len())
            .position(|it| *it == *end)
            .map_or(self.text.len(), |it| start + length + it + end.len());
    }

    fn skip_name(&mut self) {
        let length = self.rest()[1..].iter().position(|it| matches!(it, b'`' | b'\n'));
        self.at += length.map_or(1, |it| it + 2);
    }

    fn skip_line(&mut self) {
        while !matches!(self.rest(), [] | [b'\n', ..]) {
            if self.dialect == Dialect::C && self.rest()[0] == b'\\' {
                self.skip_escape()
            } else {
                self.at += 1
            }
        }
    }

    fn skip_comment(&mut self) {
        let mut depth = 0;
        loop {
            match self.rest() {
                [] => return,
                [b'/', b'*', ..] if depth == 0 || self.dialect == Dialect::Kotlin => {
                    depth += 1;
                    self.at += 2;
                }
                [b'*', b'/', ..] => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// A line of the preprocessor, with the lines that continue it.
    fn directive(&mut self) {
        let start = self.at;
        while !matches!(self.rest(), [] | [b'\n', ..]) {
            match self.rest() {
                [b'\\', ..] => self.skip_escape(),
                [b'/', b'*', ..] => self.skip_comment(),
                [b'/', b'/', ..] => self.skip_line(),
                _ => self.at += 1,
            }
        }
        let text = self.text[start + 1..self.at.min(self.text.len())].trim_ascii_start();
        let length = text.iter().take_while(|it| it.is_ascii_alphabetic()).count();
        let token = match &text[..length] {
            b"if" | b"ifdef" | b"ifndef" => Token::If,
            b"else" | b"elif" | b"elifdef" | b"elifndef" => Token::Else,
            b"endif" => Token::EndIf,
            _ => return,
        };
        self.found.push((token, start..start + 1));
        if token == Token::If && text[length..].trim_ascii_start().starts_with(b"0") {
            self.skip_dead();
        }
    }

    /// Skips the text under `#if 0`, which may be anything, up to the line that ends it.
    fn skip_dead(&mut self) {
        let mut depth = 0;
        while self.at < self.text.len() {
            let line = self.rest().trim_ascii_start();
            let word = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start).unwrap_or_default();
            match word {
                _ if word.starts_with(b"if") => depth += 1,
                _ if depth == 0 && (word.starts_with(b"e")) && !word.starts_with(b"error") => return,
                _ if word.starts_with(b"endif") => depth -= 1,
                _ => {}
            }
            let blank = self.rest().len() - line.len();
            let length = line.iter().position(|it| *it == b'\n').unwrap_or(line.len());
            self.at += blank + length;
        }
    }

    fn begins_line(&self) -> bool {
        let before = self.text[..self.at].iter().rev().find(|it| !matches!(it, b' ' | b'\t'));
        before.is_none_or(|it| *it == b'\n')
    }

    /// `1'000`, not `u'x'`.
    fn is_in_number(&self) -> bool {
        let word = self.text[..self.at].iter().rev().take_while(|it| it.is_ascii_alphanumeric()).last();
        word.is_some_and(u8::is_ascii_digit)
    }
}
