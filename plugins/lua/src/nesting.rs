//! Limit of nesting, at which selene would run out of stack, since it is recursive, or out of time, since it visits some
//! expressions again for each level.
//!
//! First counts words and signs without knowing code from strings, which is fast; only where that looks deep, it looks
//! at tokens.

use full_moon::LuaVersion;
use full_moon::tokenizer::{InterpolatedStringKind, Lexer, LexerResult, Token, TokenType};

/// The deepest that is parsed. The stack is good for more than that, but not for three times as much.
const DEEPEST: usize = 300;

/// `a[b[c]]`: each level takes selene seven times as long.
const INDEXES: usize = 6;

/// `if a then b else if c then d else e` as an expression: each takes twice as long.
const CHOICES: usize = 12;

/// `a .. b .. c`: the deepest that the tree of such an expression may be. Those in brackets come on top.
const OPERATORS: usize = 3_000;

/// Returns the reason not to look at the file, if there is one.
pub(crate) fn objection(text: &str) -> Option<String> {
    if !looks_deep(text) {
        return None;
    }
    let version = LuaVersion::lua54().with_luajit().with_luau();
    let tokens = match Lexer::new(text, version).collect() {
        LexerResult::Ok(tokens) | LexerResult::Recovered(tokens, _) => tokens,
        LexerResult::Fatal(_) => return None, // the parser stops there, too
    };
    let mut depth = Depth::default();
    tokens.iter().filter(|it| !it.token_type().is_trivia()).for_each(|it| depth.add(it));
    depth.objection()
}

/// Counts what may be nested. Nothing sets the operators and choices back: what looks like a comma may be in a string.
fn looks_deep(text: &str) -> bool {
    let (mut all, mut index, mut choices, mut operators) = (0_usize, 0_usize, 0, 0);
    let mut before = "";
    words(text).any(|word| {
        match word {
            "(" | "{" | "function" | "do" | "then" | "repeat" => all += 1,
            ")" | "}" | "end" | "until" | "elseif" => all = all.saturating_sub(1),
            "[" => (all, index) = (all + 1, index + 1),
            "]" => (all, index) = (all.saturating_sub(1), index.saturating_sub(1)),
            "if" if matches!(before, "else" | "{") => choices += 1,
            _ => operators += usize::from(is_operator(word) || word == "." && before == "."),
        }
        before = word;
        all > DEEPEST || index > INDEXES || choices > CHOICES || operators > OPERATORS
    })
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

fn is_operator(word: &str) -> bool {
    matches!(word, "and" | "or" | "not" | "..")
        || word.starts_with(|it| "+-*/%^<>~&|#".contains(it))
        || word == "=="
}

/// Indexes of the counts, other than of brackets and blocks themselves.
const INDEX: usize = 0;
const CHOICE: usize = 1;
const OPERATOR: usize = 2;

/// Content between two brackets, or between the words that open and close a block.
#[derive(Default)]
struct Level {
    /// Choices and operators of one expression, or of statements in which there is no other one.
    counts: [usize; 3],
    /// Choices that have no `else` so far.
    open: usize,
}

/// Depth of the code so far, and the greatest depth.
#[derive(Default)]
struct Depth {
    outer: Vec<Level>,
    here: Level,
    /// The counts of all levels together.
    sums: [usize; 3],
    /// Whether an expression must follow, and whether one may have ended.
    wants_expression: bool,
    is_after_value: bool,
    /// All, indexes, choices, operators.
    deepest: [usize; 4],
}

impl Depth {
    fn add(&mut self, token: &Token) {
        match token.token_type() {
            TokenType::Symbol { symbol } => self.add_word(&symbol.to_string()),
            TokenType::InterpolatedString { kind, .. } => self.add_string(*kind),
            TokenType::Identifier { .. } => self.add_value(true),
            _ => self.add_value(false),
        }
        let [indexes, choices, operators] = self.sums;
        let now = [self.outer.len(), indexes, choices, operators];
        self.deepest = std::array::from_fn(|it| self.deepest[it].max(now[it]));
    }

    fn add_word(&mut self, word: &str) {
        let is_choice = word == "if" && self.wants_expression;
        let is_part = self.here.open > 0 && matches!(word, "then" | "else" | "elseif");
        match word {
            _ if is_choice => {
                self.here.open += 1;
                self.count(CHOICE);
            }
            _ if is_part => self.here.open -= usize::from(word == "else"),
            "(" | "{" | "[" | "function" | "do" | "then" | "repeat" => self.open(word == "["),
            ")" | "}" | "]" | "end" => self.close(),
            "elseif" | "until" => {
                self.close();
                self.begin();
            }
            "true" | "false" | "nil" | "..." => return self.add_value(false),
            "," | ";" | "local" | "return" | "if" | "else" | "for" | "while" | "break" | "goto" => {
                self.begin()
            }
            _ if is_operator(word) && !is_assignment(word) => self.count(OPERATOR),
            _ if is_assignment(word) => self.begin(),
            _ => {}
        }
        self.is_after_value = matches!(word, ")" | "}" | "]" | "end");
        self.wants_expression =
            is_choice || is_part || is_operator(word) || is_assignment(word) || wants_expression(word);
    }

    /// Two values in a row: there a statement begins.
    fn add_value(&mut self, is_name: bool) {
        if is_name && self.is_after_value {
            self.begin();
        }
        (self.is_after_value, self.wants_expression) = (true, false);
    }

    /// A string with expressions in it, or the rest of one.
    fn add_string(&mut self, kind: InterpolatedStringKind) {
        use InterpolatedStringKind::{Begin, End, Middle};
        if matches!(kind, Middle | End) {
            self.close();
        }
        if matches!(kind, Begin | Middle) {
            self.open(false);
        }
        self.is_after_value = !matches!(kind, Begin | Middle);
        self.wants_expression = !self.is_after_value;
    }

    fn count(&mut self, what: usize) {
        self.here.counts[what] += 1;
        self.sums[what] += 1;
    }

    fn open(&mut self, is_index: bool) {
        self.outer.push(std::mem::take(&mut self.here));
        if is_index {
            self.count(INDEX);
        }
    }

    fn close(&mut self) {
        let outer = self.outer.pop().unwrap_or_default();
        let inner = std::mem::replace(&mut self.here, outer);
        self.sums = std::array::from_fn(|it| self.sums[it] - inner.counts[it]);
    }

    /// Begins a new expression: the next token is no part of the one before.
    fn begin(&mut self) {
        let before = std::mem::take(&mut self.here);
        self.here.counts[INDEX] = before.counts[INDEX];
        for it in [CHOICE, OPERATOR] {
            self.sums[it] -= before.counts[it];
        }
    }

    fn objection(&self) -> Option<String> {
        let [all, index, choices, operators] = self.deepest;
        let what = match () {
            () if all > DEEPEST => format!("it is nested more than {DEEPEST} levels deep"),
            () if index > INDEXES => format!("indexes stand in each other more than {INDEXES} levels deep"),
            () if choices > CHOICES => format!("more than {CHOICES} choices stand in each other"),
            () if operators > OPERATORS => format!("an expression has more than {OPERATORS} operators"),
            () => return None,
        };
        Some(format!("not checked, as {what}, which selene is not made for"))
    }
}

/// `=`, and Luau's `+=` and its like.
fn is_assignment(word: &str) -> bool {
    word.ends_with('=') && !matches!(word, "==" | "~=" | "<=" | ">=")
}

fn wants_expression(word: &str) -> bool {
    matches!(word, "(" | "{" | "[" | "," | "return" | "if" | "elseif" | "while" | "until" | "in")
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

    #[test]
    fn operators_count_by_expression() {
        let many = |text: &str| objection(&format!("x = {{{}}}", text.repeat(OPERATORS + 1)));
        for item in
            ["-1, ", "a.b; ", "a - 1, ", "{ 1, 'x' .. y }, ", "k = 'a' .. b, ", "f(a, b == c), ", "not a, "]
        {
            assert_eq!(many(item), None, "{item}");
        }
        assert!(many("a .. f(b, c) .. ").unwrap().contains("operators"), "a comma in brackets ends nothing");
        let nested = format!("x = {}", format!("{}(", "a .. ".repeat(OPERATORS / 10)).repeat(11));
        assert!(objection(&nested).unwrap().contains("operators"), "a tree in a tree");
        assert!(many("a .. function() return b end .. ").unwrap().contains("operators"));
        assert_eq!(objection(&"x = -1 f(#y) if not a then b.c = d end\n".repeat(OPERATORS)), None);
        assert_eq!(objection(&"a.b".repeat(OPERATORS + 1)), None);
    }

    #[test]
    fn choices_are_no_blocks() {
        let times = |text: &str| objection(&text.repeat(DEEPEST + 1));
        assert_eq!(times("local x = if a then 1 elseif b then 2 else -1\n"), None);
        assert_eq!(times("f(if a then b else c, `{if a then b else c} {d}`)\n"), None);
        assert_eq!(times("if if a then b else c then d() else e() end\n"), None);
        assert_eq!(times("x = 'a'\nif b then c() else if d then e() end end\n"), None);
        let strings = |n: usize| format!("x = {}c{}", "`{if a then b else ".repeat(n), "}`".repeat(n));
        assert!(objection(&strings(CHOICES + 2)).unwrap().contains("choices"));
        let nested = |n: usize| format!("{}{}", "if a then f() else ".repeat(n), "end ".repeat(n));
        assert_eq!(objection(&nested(CHOICES + 5)), None, "statements");
        assert!(objection(&nested(DEEPEST + 1)).unwrap().contains("300 levels"));
    }
}
