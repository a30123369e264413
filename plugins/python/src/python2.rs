//! Detection of Python 2 in a text that does not parse: it is Python 2 if it parses once the statements of Python 2 are written
//! as Python 3 has them.
//!
//! Each is replaced by as many bytes of the same kind of syntax, and what it means is lost: only whether it parses counts. Leaves out
//! indentation by both tabs and spaces.

use ruff_linter::linter::parse_unchecked_source;
use ruff_linter::source_kind::SourceKind;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::{PySourceType, PythonVersion};
use ruff_text_size::{Ranged, TextRange};
use serde_json::Value;

/// The interpreter of Python 2 in the first line of a script.
const INTERPRETER: &str = "python2";

/// Limit on the tokens between `def` and a parameter.
const PARAMETERS: usize = 100;

/// Whether a file declares that it is for Python 2: in the first line of a script, or in the metadata of a notebook.
pub(crate) fn is_declared(content: &[u8], source_type: PySourceType) -> bool {
    if source_type.is_ipynb() {
        let notebook: Value = serde_json::from_slice(content).unwrap_or_default();
        let version = notebook["metadata"]["language_info"]["version"].as_str();
        return version.is_some_and(|it| it.starts_with("2."));
    }
    let first = content.split(|it| *it == b'\n').next().and_then(|it| std::str::from_utf8(it).ok());
    first.is_some_and(|it| it.starts_with("#!") && it.contains(INTERPRETER))
}

/// Whether a text that is not valid Python 3 is Python 2.
pub(crate) fn is_written_in(source: &SourceKind, source_type: PySourceType) -> bool {
    let latest = PythonVersion::latest();
    let parsed = parse_unchecked_source(source, source_type, latest);
    let is_token = |it: &&Token| !matches!(it.kind(), TokenKind::Comment | TokenKind::NonLogicalNewline);
    let tokens: Vec<_> = parsed.tokens().iter().filter(is_token).copied().collect();
    let mut text = Text {
        tokens: &tokens,
        source: source.source_code(),
        code: source.source_code().to_owned().into(),
        is_changed: false,
    };
    text.rewrite();
    let Some(code) = String::from_utf8(text.code).ok().filter(|_| text.is_changed) else { return false };
    let rewritten = SourceKind::Python { code, is_stub: source_type.is_stub() };
    parse_unchecked_source(&rewritten, source_type, latest).errors().is_empty()
}

/// A text that is rewritten in place.
struct Text<'a> {
    tokens: &'a [Token],
    source: &'a str,
    code: Vec<u8>,
    is_changed: bool,
}

impl Text<'_> {
    fn rewrite(&mut self) {
        let mut is_quoted = false;
        for at in 0..self.tokens.len() {
            let range = self.tokens[at].range();
            match (self.tokens[at].kind(), self.text(at)) {
                (TokenKind::Name, "print") if self.is_statement(at) => self.print(at, "p   ="),
                (TokenKind::Name, "exec") if self.is_statement(at) => self.print(at, "e  ="),
                (TokenKind::Name, "L" | "l") if self.follows(at, TokenKind::Int) => self.replace(range, " "),
                (TokenKind::Raise, _) if self.comma_after(at).is_some() => self.replace(range, "yield"),
                (TokenKind::Except, _) => self.caught(at),
                (TokenKind::Async, _) if !self.is_keyword(at) => self.replace(range, "name_"),
                (TokenKind::Greater, _) if self.follows(at, TokenKind::Less) => {
                    self.replace(TextRange::new(self.tokens[at - 1].start(), range.end()), "!=");
                }
                (TokenKind::Lpar, _) if self.is_parameter(at) => self.unpacked(at),
                (TokenKind::String, _) if self.follows(at, TokenKind::Name) => self.raw(at - 1),
                (TokenKind::Unknown, "`") => {
                    self.replace(range, if is_quoted { ")" } else { "(" });
                    is_quoted = !is_quoted;
                }
                (TokenKind::Unknown, text) if is_octal(text) => {
                    self.replace(range, &format!("{}{}", "1", &text[1..]));
                }
                _ => {}
            }
        }
    }

    fn replace(&mut self, range: TextRange, text: &str) {
        self.code[range.to_std_range()].copy_from_slice(text.as_bytes());
        self.is_changed = true;
    }

    fn text(&self, at: usize) -> &str {
        &self.source[self.tokens[at].range()]
    }

    fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::EndOfFile, Token::kind)
    }

    /// Whether a token of this kind ends where the one at `at` starts.
    fn follows(&self, at: usize, kind: TokenKind) -> bool {
        let before = at.checked_sub(1).map(|it| &self.tokens[it]);
        before.is_some_and(|it| it.kind() == kind && it.end() == self.tokens[at].start())
    }

    /// Whether a statement starts with the name, and is followed by an expression that no call can have there.
    fn is_statement(&self, at: usize) -> bool {
        use TokenKind::{
            Colon, Complex, Dedent, False, Float, Indent, Int, Lambda, Lbrace, Lsqb, Name, Newline, None,
            Not, RightShift, Semi, String, Tilde, True, Unknown,
        };
        let before = at.checked_sub(1).map(|it| self.kind(it));
        let starts = before.is_none_or(|it| matches!(it, Newline | Indent | Dedent | Colon | Semi));
        let next = self.kind(at + 1);
        starts
            && (next == RightShift && self.text(at) == "print"
                || matches!(next, Name | Int | Float | Complex | String | Lambda | Not | None | True | False)
                || matches!(next, Lbrace | Lsqb | Tilde | Unknown))
    }

    /// `print >>file, text` as an assignment of `file, text`.
    fn print(&mut self, at: usize, name: &str) {
        self.replace(self.tokens[at].range(), name);
        if self.kind(at + 1) == TokenKind::RightShift {
            self.replace(self.tokens[at + 1].range(), "  ");
        }
    }

    /// The first comma of the statement after `at` that is in no brackets.
    fn comma_after(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, it) in self.tokens.iter().enumerate().skip(at + 1) {
            match it.kind() {
                TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => depth += 1,
                TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => depth = depth.checked_sub(1)?,
                TokenKind::Comma if depth == 0 => return Some(at),
                TokenKind::Newline | TokenKind::Semi | TokenKind::Colon if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// `except Error, error:`, which later versions read as two exceptions.
    fn caught(&mut self, at: usize) {
        let Some(comma) = self.comma_after(at) else { return };
        let is_variable = self.kind(comma + 1) == TokenKind::Name && self.kind(comma + 2) == TokenKind::Colon;
        self.is_changed |=
            is_variable && self.text(comma + 1).starts_with(|it: char| it.is_lowercase() || it == '_');
    }

    fn is_keyword(&self, at: usize) -> bool {
        matches!(self.kind(at + 1), TokenKind::Def | TokenKind::With | TokenKind::For)
    }

    /// `lambda (a, b): a` and `def f(self, (a, b)):`.
    fn is_parameter(&self, at: usize) -> bool {
        match at.checked_sub(1).map(|it| self.kind(it)) {
            Some(TokenKind::Lambda) => true,
            Some(TokenKind::Lpar | TokenKind::Comma) => self.is_after_def(at),
            _ => false,
        }
    }

    /// Whether there are only names and brackets between `def` and the token.
    fn is_after_def(&self, at: usize) -> bool {
        let mut before = self.tokens[..at].iter().rev().take(PARAMETERS).map(Token::kind);
        let is_name = |it: &TokenKind| {
            matches!(it, TokenKind::Name | TokenKind::Comma | TokenKind::Lpar | TokenKind::Rpar)
        };
        before.find(|it| !is_name(it)) == Some(TokenKind::Def)
    }

    fn unpacked(&mut self, at: usize) {
        let mut depth = 0_usize;
        let end = self.tokens[at..].iter().position(|it| {
            depth += usize::from(it.kind() == TokenKind::Lpar);
            depth -= usize::from(it.kind() == TokenKind::Rpar);
            depth == 0
        });
        if let Some(end) = end {
            self.replace(self.tokens[at].range(), " ");
            self.replace(self.tokens[at + end].range(), " ");
        }
    }

    /// `ur"text"`.
    fn raw(&mut self, at: usize) {
        if self.text(at).eq_ignore_ascii_case("ur") {
            self.replace(self.tokens[at].range(), " r");
        }
    }
}

/// `0755`.
fn is_octal(text: &str) -> bool {
    text.starts_with('0') && text.bytes().all(|it| it.is_ascii_digit())
}
