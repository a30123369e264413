//! Keeps full_moon 2.2.0 from breaking off in Luau: at a type that something follows which is no part of Luau, and at `&`
//! and `|` in expressions, which Luau has in types alone, as it takes them for operators and then finds none.
//!
//! If there are any, the text is first read as if Luau had the operators of Lua 5.3. Errors of that are reported; if there are
//! none, all of the operators are in types, and full_moon reads the text as Luau.

use broker_plugin_sdk::Diagnostic;
use full_moon::ast::{BinOp, Expression, Stmt};
use full_moon::tokenizer::{Lexer, LexerResult, Symbol, Token, TokenReference, TokenType};
use full_moon::visitors::Visitor;
use full_moon::{Error, LuaVersion};

use crate::syntax::{error, wrong};

/// Returns the errors that keep a text from being Luau and at which full_moon would not return.
pub(crate) fn objections(text: &str, version: LuaVersion) -> Vec<Diagnostic> {
    let tokens = match Lexer::new(text, version).collect() {
        LexerResult::Ok(tokens) => tokens,
        LexerResult::Recovered(_, errors) | LexerResult::Fatal(errors) => {
            return errors.into_iter().map(|it| error(&Error::TokenizerError(it), text)).collect();
        }
    };
    let is_sign = |it: &Token| matches!(symbol(it), Some(Symbol::Ampersand | Symbol::Pipe));
    if version.has_lua53() || !tokens.iter().any(is_sign) {
        return Vec::new();
    }
    Probe::new(text, &tokens).objections(version)
}

/// A text that Luau with the operators of Lua 5.3 reads as Luau reads the original.
struct Probe {
    text: String,
    /// Positions where blanks were inserted.
    blanks: Vec<usize>,
}

impl Probe {
    /// Lua 5.3 has `>>` and `goto`, which are two signs and a name in Luau.
    fn new(original: &str, tokens: &[Token]) -> Self {
        let (mut text, mut blanks, mut copied) = (String::with_capacity(original.len()), Vec::new(), 0);
        for [before, token] in tokens.array_windows() {
            let at = token.start_position().bytes();
            let is_name = |it: &str| matches!(token.token_type(), TokenType::Identifier { identifier } if identifier.as_str() == it);
            if splits(before, token) {
                text.push_str(&original[copied..at]);
                blanks.push(text.len());
                text.push(' ');
                copied = at;
            } else if is_name("goto") {
                text.push_str(&original[copied..at]);
                text.push_str("Goto");
                copied = at + "goto".len();
            }
        }
        text.push_str(&original[copied..]);
        Self { text, blanks }
    }

    fn objections(&self, version: LuaVersion) -> Vec<Diagnostic> {
        let parsed = full_moon::parse_fallible(&self.text, version.with_lua53());
        let mut found: Vec<_> = parsed.errors().iter().map(|it| error(it, &self.text)).collect();
        let mut foreign = Foreign { text: &self.text, has_labels: version.has_luajit(), found: Vec::new() };
        foreign.visit_ast(parsed.ast());
        found.append(&mut foreign.found);
        if found.is_empty() {
            found.extend(self.lost(&parsed.ast().to_string()));
        }
        for it in &mut found {
            it.span = (self.original(it.span.start)..self.original(it.span.end)).into();
            it.related.iter_mut().for_each(|it| {
                it.span = (self.original(it.span.start)..self.original(it.span.end)).into();
            });
        }
        found
    }

    /// full_moon gives up some unfinished choices without a word.
    fn lost(&self, read: &str) -> Option<Diagnostic> {
        let same = self.text.bytes().zip(read.bytes()).take_while(|(a, b)| a == b).count();
        let message = "this does not parse".to_owned();
        (read != self.text).then(|| wrong(message, same..same, &self.text))
    }

    fn original(&self, at: u32) -> usize {
        let at = at as usize;
        at - self.blanks.partition_point(|it| *it < at)
    }
}

fn symbol(token: &Token) -> Option<Symbol> {
    match token.token_type() {
        TokenType::Symbol { symbol } => Some(*symbol),
        _ => None,
    }
}

/// Whether two signs would be one token in Lua 5.3.
fn splits(before: &Token, token: &Token) -> bool {
    let is_apart = token.start_position().bytes() > before.start_position().bytes() + 1;
    match (symbol(before), symbol(token)) {
        _ if is_apart => false,
        (Some(Symbol::LessThan), Some(Symbol::LessThan | Symbol::LessThanEqual)) => true,
        (Some(Symbol::GreaterThan), Some(Symbol::GreaterThan | Symbol::GreaterThanEqual)) => true,
        _ => false,
    }
}

/// Search for constructs that Lua 5.3 has and Luau lacks.
struct Foreign<'a> {
    text: &'a str,
    has_labels: bool,
    found: Vec<Diagnostic>,
}

impl Foreign<'_> {
    fn tell(&mut self, token: &TokenReference, why: &str) {
        let at = token.token().start_position().bytes()..token.token().end_position().bytes();
        let message = format!("unexpected token `{}`: {why}", token.token());
        self.found.push(wrong(message, at, self.text));
    }
}

impl Visitor for Foreign<'_> {
    fn visit_expression(&mut self, node: &Expression) {
        if let Expression::BinaryOperator { binop: BinOp::Ampersand(token) | BinOp::Pipe(token), .. } = node {
            self.tell(token, "Luau has it in types alone");
        }
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        if let Stmt::Label(label) = node
            && !self.has_labels
        {
            self.tell(label.left_colons(), "Luau has no labels");
        }
    }
}
