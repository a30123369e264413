//! Reads a script, past what shuck's parser finds fault with though no shell does: a `}` in a word (`\{}`, `a}`), which to a
//! shell is a letter like others, and which closes something to the parser.
//!
//! Left out: what such a `}` closed without an error of the parser, but for the `\{}` of `find`: `f() { echo a}; }`.

use std::borrow::Cow;

use shuck_linter::ShellDialect;
use shuck_parser::parser::{ParseResult, Parser};

/// Limit on the searches for braces: the parser may report one at a time.
const MAX_ROUNDS: usize = 16;

/// In place of a `}`: it ends the name of a variable as that does, and is nothing to the shell.
const LETTER: &str = "%";

/// A script as it was read.
pub(crate) struct Script<'a> {
    /// Text that was parsed, as long as the file's.
    pub(crate) text: Cow<'a, str>,
    pub(crate) parsed: ParseResult,
    /// Offsets at which another letter was parsed than the file has.
    pub(crate) altered: Vec<usize>,
}

impl<'a> Script<'a> {
    pub(crate) fn parse(text: &'a str, shell: ShellDialect) -> Self {
        let parse = |text: &str| Parser::with_dialect(text, shell.parser_dialect()).parse();
        let mut script = Self { text: Cow::Borrowed(text), parsed: parse(text), altered: Vec::new() };
        for round in 0..MAX_ROUNDS {
            let mut braces = script.braces_in_words();
            if round == 0 && script.parsed.is_err() {
                braces.extend(escaped_pairs(text));
            }
            if braces.is_empty() {
                break;
            }
            for at in &braces {
                script.text.to_mut().replace_range(*at..*at + 1, LETTER);
            }
            script.altered.extend(braces);
            script.parsed = parse(&script.text);
        }
        script
    }

    /// Offsets of the braces in words that the parser reports.
    fn braces_in_words(&self) -> Vec<usize> {
        let places = self.parsed.diagnostics.iter().map(|it| it.span.start.offset());
        places.filter(|it| is_brace_in_word(self.text.as_bytes(), *it)).collect()
    }
}

fn is_brace_in_word(text: &[u8], at: usize) -> bool {
    let ends_word = |it: &u8| it.is_ascii_whitespace() || b";&|()<>".contains(it);
    let word = text.get(..at).and_then(|it| it.rsplit(ends_word).next()).unwrap_or_default();
    text.get(at) == Some(&b'}') && word.iter().any(|it| !b"{}".contains(it))
}

/// The `}` of each `\{}`: where it closed a function, the parser complains of the one that was to.
fn escaped_pairs(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("\\{}").filter(|it| is_escaped_pair(text, it.0)).map(|it| it.0 + 2)
}

fn is_escaped_pair(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let is_in_expansion = line.rfind("${").is_some_and(|it| !line[it..].contains('}'));
    let is_escape = line.bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 0;
    is_escape && !is_in_expansion
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, bool) {
        let script = Script::parse(text, ShellDialect::Bash);
        (script.text.into_owned(), script.parsed.is_ok())
    }

    #[test]
    fn braces_in_words_are_letters() {
        assert_eq!(read("echo \\{} a} \\$\\{b} ${c}}\n"), ("echo \\{% a% \\$\\{b% ${c}%\n".to_owned(), true));
        assert_eq!(read("f() { echo \\{}; }\n"), ("f() { echo \\{%; }\n".to_owned(), true));
        let many = "echo \\{}\n".repeat(100);
        assert_eq!(read(&many), (many.replace('}', LETTER), true));
    }

    #[test]
    fn others_close_something() {
        assert_eq!(read("}\n"), ("}\n".to_owned(), false));
        assert_eq!(read("a; }\n"), ("a; }\n".to_owned(), false));
        assert!(!read("{ a; }}\n").1);
        let right = "echo {} {a,b} ${a%\\{}\n{ { a; } }\n";
        assert_eq!(read(right), (right.to_owned(), true));
        assert_eq!(read("}\necho ${a%\\{}\n").0, "}\necho ${a%\\{}\n");
    }
}
