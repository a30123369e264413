//! Whether a file is nested so deeply that selene would run out of stack, since it calls itself, or out of time, since it
//! looks again at what is in some expressions for each level.
//!
//! First counts words and signs without knowing code from strings, which is fast; only where that looks deep, it looks
//! at tokens.

use full_moon::LuaVersion;
use full_moon::tokenizer::{Lexer, LexerResult, Token, TokenType};

/// The deepest that is parsed. The stack is good for more than that, but not for three times as much.
const DEEPEST: usize = 300;

/// `a[b[c]]`: each level takes selene seven times as long.
const INDEXES: usize = 6;

/// `if a then b else if c then d else e` as an expression: each takes twice as long.
const CHOICES: usize = 12;

/// `a .. b .. c`: the deepest that the tree of such an expression may be.
const OPERATORS: usize = 3_000;

/// Why not to look at the file, if so.
pub(crate) fn objection(text: &str) -> Option<String> {
    let mut rough = Depth::default();
    words(text).for_each(|it| rough.add(it));
    if !rough.is_too_deep() {
        return None;
    }
    let version = LuaVersion::lua54().with_luajit().with_luau();
    let tokens = match Lexer::new(text, version).collect() {
        LexerResult::Ok(tokens) | LexerResult::Recovered(tokens, _) => tokens,
        LexerResult::Fatal(_) => return None, // the parser stops there, too
    };
    let mut exact = Depth { knows_statements: true, ..Depth::default() };
    tokens.iter().filter(|it| is_code(it)).for_each(|it| exact.add(it.to_string().trim()));
    exact.objection()
}

fn is_code(token: &Token) -> bool {
    let kind = token.token_type();
    matches!(
        kind,
        TokenType::Symbol { .. } | TokenType::Identifier { .. } | TokenType::InterpolatedString { .. }
    )
}

/// Words, and each sign by itself.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = *rest.as_bytes().first()?;
        let len = if is_word(first) {
            rest.bytes().position(|it| !is_word(it)).unwrap_or(rest.len())
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        let word = &rest[..len];
        rest = &rest[len..];
        Some(word)
    })
}

/// What an operator starts with, or a string that has expressions in it.
const OPERATOR: [char; 14] = ['+', '-', '*', '/', '%', '^', '.', '<', '>', '~', '&', '|', '#', '`'];

/// How deep it is, and where it was deepest.
#[derive(Default)]
struct Depth {
    all: usize,
    index: usize,
    choices: usize,
    operators: usize,
    is_after_else: bool,
    is_after_name: bool,
    /// Whether two names in a row tell where a statement begins.
    knows_statements: bool,
    /// All, indexes, choices, operators.
    deepest: [usize; 4],
}

impl Depth {
    fn add(&mut self, word: &str) {
        match word {
            "(" | "{" | "function" | "do" | "then" | "repeat" => self.all += 1,
            ")" | "}" | "end" | "until" | "elseif" => self.all = self.all.saturating_sub(1),
            "[" => (self.all, self.index) = (self.all + 1, self.index + 1),
            "]" => (self.all, self.index) = (self.all.saturating_sub(1), self.index.saturating_sub(1)),
            "if" if self.is_after_else => self.choices += 1,
            _ => {}
        }
        let is_name = word.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
        let is_operator = matches!(word, "and" | "or" | "not") || word.starts_with(OPERATOR);
        if is_operator {
            self.operators += 1;
        } else if self.knows_statements && (word == "=" || is_name && self.is_after_name) {
            self.operators = 0;
        }
        self.is_after_name = !is_operator && (is_name || matches!(word, ")" | "]" | "}"));
        if matches!(word, "end" | "," | ";" | "=" | "local" | "return") {
            self.choices = 0;
        }
        self.is_after_else = word == "else";
        let now = [self.all, self.index, self.choices, self.operators];
        self.deepest = std::array::from_fn(|it| self.deepest[it].max(now[it]));
    }

    fn is_too_deep(&self) -> bool {
        let [all, index, choices, operators] = self.deepest;
        all > DEEPEST || index > INDEXES || choices > CHOICES || operators > OPERATORS
    }

    fn objection(&self) -> Option<String> {
        let [all, index, choices, _] = self.deepest;
        let what = match () {
            () if !self.is_too_deep() => return None,
            () if all > DEEPEST => format!("it is nested more than {DEEPEST} levels deep"),
            () if index > INDEXES => format!("indexes stand in each other more than {INDEXES} levels deep"),
            () if choices > CHOICES => format!("more than {CHOICES} choices stand in each other"),
            () => format!("an expression has more than {OPERATORS} operators"),
        };
        Some(format!("not checked, as {what}, which selene is not made for"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths() {
        let nested = |open: &str, close: &str, n: usize| {
            objection(&format!("x = {}1{}", open.repeat(n), close.repeat(n)))
        };
        assert_eq!(nested("(", ")", DEEPEST), None);
        assert!(nested("(", ")", 10_000).unwrap().contains("300 levels"));
        assert!(nested("function() return ", " end", 10_000).is_some());
        assert_eq!(nested("a[", "]", INDEXES), None);
        assert!(nested("a[", "]", INDEXES + 1).unwrap().contains("indexes"));
        assert!(nested("if a then b else ", "", CHOICES + 2).unwrap().contains("choices"));
        let comments = "-- then do if function ( [\n".repeat(1_000);
        assert_eq!(objection(&comments), None, "no code");
        assert_eq!(objection(&"if a then b() elseif c then d() end\n".repeat(1_000)), None);
        for chain in ["x = a", "x = f(a)", "x = 'a'"] {
            assert!(
                objection(&format!("{chain}{}", " .. b".repeat(OPERATORS + 1)))
                    .unwrap()
                    .contains("operators")
            );
        }
        assert_eq!(objection(&"print('a' .. b + 1)\n".repeat(OPERATORS)), None);
    }
}
