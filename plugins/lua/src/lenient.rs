//! Rewrites Lua that full_moon cannot read to equivalents that it can, and keeps the positions of everything else.
//!
//! Leaves out names with letters of other alphabets, which LuaJIT has: in other words they would be other names.

use std::borrow::Cow;

use full_moon::LuaVersion;
use full_moon::tokenizer::{Lexer, LexerResult, Token, TokenType, TokenizerError, TokenizerErrorType};

/// Blanks for a byte order mark, and for a first line that starts with `#`: Lua passes over both.
pub(crate) fn start(text: &str) -> Cow<'_, str> {
    let code = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line = if code.starts_with('#') { code.find(['\r', '\n']).unwrap_or(code.len()) } else { 0 };
    match text.len() - code.len() + line {
        0 => Cow::Borrowed(text),
        len => Cow::Owned(format!("{:len$}{}", "", &text[len..])),
    }
}

/// Rewrites rare constructs that may occur anywhere in the same way. Returns `None` if there are none.
pub(crate) fn body(text: &str, version: LuaVersion) -> Option<String> {
    // Without Luau full_moon does not come back from a backtick.
    let (tokens, errors) = match Lexer::new(text, version.with_luau()).collect() {
        LexerResult::Ok(tokens) => (tokens, Vec::new()),
        LexerResult::Recovered(tokens, errors) => (tokens, errors),
        LexerResult::Fatal(errors) => (Vec::new(), errors),
    };
    let mut edits: Vec<_> = errors.iter().filter_map(page_break).collect();
    if version.has_lua52() {
        edits.extend(statements(&tokens));
    }
    let mut bytes = text.as_bytes().to_vec();
    for (at, new) in &edits {
        bytes.get_mut(*at..at + new.len())?.copy_from_slice(new.as_bytes());
    }
    String::from_utf8(bytes).ok().filter(|_| !edits.is_empty())
}

type Edit = (usize, &'static str);

fn page_break(error: &TokenizerError) -> Option<Edit> {
    let is_one = matches!(error.error(), TokenizerErrorType::UnexpectedToken('\u{b}' | '\u{c}'));
    is_one.then(|| (error.position().bytes(), " "))
}

/// Statements that are no more than a `;`, and `break` where more comes after it: a label can stand there, too.
fn statements(tokens: &[Token]) -> Vec<Edit> {
    let code: Vec<_> = tokens.iter().filter(|it| !it.token_type().is_trivia()).collect();
    let mut edits = Vec::new();
    // At the start of a statement, in a `return`, in the head of a function.
    let (mut starts, mut returns, mut is_head) = (true, false, false);
    for (number, token) in code.iter().enumerate() {
        let at = token.start_position().bytes();
        let word = word(token);
        match word.as_str() {
            ";" if starts && !returns => edits.push((at, " ")),
            "break" if !is_last(&code[number + 1..]) => edits.push((at, "::_::")),
            "return" => returns = true,
            "then" | "do" | "else" | "repeat" | "function" | "end" | "until" => returns = false,
            _ => {}
        }
        starts = matches!(word.as_str(), ";" | "then" | "do" | "else" | "repeat") || is_head && word == ")";
        is_head = word == "function" || is_head && word != ")";
    }
    edits
}

/// Returns the text of a word or sign of Lua; empty for any other token.
fn word(token: &Token) -> String {
    match token.token_type() {
        TokenType::Symbol { symbol } => symbol.to_string(),
        _ => String::new(),
    }
}

/// Whether a block ends here.
fn is_last(rest: &[&Token]) -> bool {
    let next = rest.iter().find(|it| word(it) != ";");
    next.is_none_or(|it| {
        matches!(word(it).as_str(), "end" | "else" | "elseif" | "until")
            || matches!(it.token_type(), TokenType::Eof)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts() {
        assert_eq!(start("x"), "x");
        assert_eq!(start("\u{feff}#!é\nx"), "       \nx");
        assert_eq!(start("#"), " ");
    }

    #[test]
    fn bodies() {
        let body = |text: &str| body(text, crate::defaults::plain());
        assert_eq!(body("f();\ng()"), None);
        assert_eq!(body("'\u{c}' -- \u{c}"), None, "no code");
        assert_eq!(body("\u{c}x = 1\u{b}").as_deref(), Some(" x = 1 "));
        assert_eq!(body(";x=1;;y=2;").as_deref(), Some(" x=1; y=2;"));
        assert_eq!(body("function a.b(c) ; end").as_deref(), Some("function a.b(c)   end"));
        assert_eq!(body("if a then return else ; end").as_deref(), Some("if a then return else   end"));
        assert_eq!(body("return x;;"), None, "Lua has no statement after it");
        assert_eq!(body("do break; end break"), None);
        assert_eq!(body("do break f() end").as_deref(), Some("do ::_:: f() end"));
    }
}
