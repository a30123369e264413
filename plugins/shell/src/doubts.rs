//! What is let pass of the rules that are on by default, where a script may be right: what another script, a caller or
//! another shell decides is not known here.

use std::collections::BTreeSet;

use shuck_linter::{Diagnostic, Rule, ShellDialect};

use crate::defaults;

/// What there is to doubt in one script.
pub(crate) struct Doubts<'a> {
    text: &'a str,
    shell: ShellDialect,
    /// It is run by itself, and runs no text but its own.
    is_closed: bool,
    /// It asks which shell it runs in.
    asks_shell: bool,
}

/// Part of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Condition,
    Body,
}

impl<'a> Doubts<'a> {
    pub(crate) fn of(text: &'a str, shell: ShellDialect) -> Self {
        let is_closed = text.starts_with("#!") && !text.lines().any(runs_other_text);
        let asks_shell = ["$BASH", "${BASH", "KSH_VERSION", "ZSH_"].iter().any(|it| text.contains(it));
        Self { text, shell, is_closed, asks_shell }
    }

    pub(crate) fn cover(&self, found: &Diagnostic) -> bool {
        if self.shell == ShellDialect::Zsh && !defaults::holds_in_zsh(found.rule) {
            return true;
        }
        match found.rule {
            Rule::NonAbsoluteShebang => self.has_placeholder(),
            Rule::UnusedAssignment => !self.is_closed || !self.is_unused(found),
            Rule::UndefinedVariable => !self.is_closed || !self.is_misspelled(found),
            Rule::LoopControlOutsideLoop => self.is_in_condition(found),
            Rule::IfsSetToLiteralBackslashN => self.quotes_a_sign(found),
            rule => self.asks_shell && rule.code().starts_with('X'),
        }
    }

    /// Whether it is in the condition of a loop, of which shuck does not know that it belongs to the loop:
    /// `while case $# in 0) break ;; esac do`.
    fn is_in_condition(&self, found: &Diagnostic) -> bool {
        let lines = self.text[..found.span.start.offset()].lines();
        let code = lines
            .map(|it| it.split_once(" #").map_or(it, |(code, _)| code))
            .filter(|it| !it.starts_with('#'));
        let mut loops = Vec::new();
        for (_, word) in code.flat_map(words) {
            match word {
                "while" | "until" | "for" | "select" => loops.push(Part::Condition),
                "do" => drop(loops.last_mut().map(|it| *it = Part::Body)),
                "done" => drop(loops.pop()),
                _ => {}
            }
        }
        loops.last() == Some(&Part::Condition)
    }

    /// `IFS=\;`: outside of quotes, the backslash before a sign is removed. One before a letter is a mistake.
    fn quotes_a_sign(&self, found: &Diagnostic) -> bool {
        let mut value = self.text[found.span.start.offset()..].trim_start_matches("IFS=").chars();
        value.next() == Some('\\') && value.next().is_some_and(|it| !it.is_alphanumeric())
    }

    /// Whether something is put in place of the interpreter's path before the script is run: `#!@PREFIX@/bin/sh`.
    fn has_placeholder(&self) -> bool {
        let path = self.text.trim_start_matches("#!").trim_start();
        path.starts_with(['@', '%', '{', '$', '<', '[', '_'])
    }

    /// Whether the name is a function's own, and nowhere but where it is assigned, quotes and comments included. What is not
    /// `local` is there for scripts that source this one, and capitals may be the environment's.
    fn is_unused(&self, found: &Diagnostic) -> bool {
        let start = found.span.start.offset();
        let line = &self.text[self.text[..start].rfind('\n').map_or(0, |it| it + 1)..start];
        let Some(name) = name(found).filter(|it| is_own(it) && is_local(line)) else { return false };
        words(self.text).filter(|it| it.1 == name).all(|(at, _)| {
            let after = &self.text[at + name.len()..];
            after.starts_with(['=', '[']) || after.starts_with("+=")
        })
    }

    /// Whether a name that is assigned is almost the same.
    fn is_misspelled(&self, found: &Diagnostic) -> bool {
        let is_expansion = self.text[found.span.start.offset()..].starts_with('$');
        let Some(name) = name(found).filter(|it| is_own(it) && it.len() >= SHORTEST) else { return false };
        is_expansion && assigned(self.text).iter().any(|it| is_like(it, name))
    }
}

/// Length of the shortest names in which a letter more or less is an accident.
const SHORTEST: usize = 4;

/// What is between the backticks of shuck's message.
fn name(found: &Diagnostic) -> Option<&str> {
    found.message.split('`').nth(1)
}

/// By convention, variables of the environment are in capitals.
fn is_own(name: &str) -> bool {
    // What zsh's completion asks for.
    name != "reply" && name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
}

/// Whether the last command of a line is `local`, and not for the environment.
fn is_local(line: &str) -> bool {
    let command = line.rsplit([';', '&', '|', '{', '}', '(', ')']).next().unwrap_or_default();
    let mut words = command.split_whitespace();
    words.next() == Some("local") && !words.any(|it| it.starts_with('-') && it.contains('x'))
}

/// `eval`, files that are sourced, and names of variables that are made.
fn runs_other_text(line: &str) -> bool {
    const BEFORE: [&str; 9] = ["then", "do", "else", "if", "!", "while", "command", "builtin", "elif"];
    let indirect = ["${!", "declare -n", "local -n", "typeset -n", "printf -v"];
    let mut commands = line.split([';', '&', '|', '(', '{', '`']);
    let runs = |command: &str| {
        let first = command.split_whitespace().find(|it| !BEFORE.contains(it));
        matches!(first, Some("." | "source" | "eval"))
    };
    indirect.iter().any(|it| line.contains(it)) || commands.any(runs)
}

/// Names, and what looks like one, with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let words = text.split(move |it| !is_part(it)).filter(|it| !it.is_empty());
    words.map(move |it| (it.as_ptr() as usize - text.as_ptr() as usize, it))
}

fn assigned(text: &str) -> BTreeSet<&str> {
    let is_assigned = |at: usize, word: &str| {
        let after = &text[at + word.len()..];
        after.starts_with('=') || after.starts_with("+=") || text[..at].ends_with("for ")
    };
    words(text).filter(|(at, word)| is_assigned(*at, word)).map(|it| it.1).collect()
}

/// Whether a letter is missing, there twice, another, or two have changed places. Numbers are no letters: `file1`, `file2`.
fn is_like(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let is_letter = |it: &u8| it.is_ascii_lowercase();
    match (a, b) {
        ([one], []) | ([], [one]) => is_letter(one),
        ([one], [other]) => is_letter(one) && is_letter(other),
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_almost_the_same() {
        for (a, b) in [("names", "nmaes"), ("name", "names"), ("color", "colour"), ("target", "tarket")] {
            assert!(is_like(a, b) && is_like(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("names", "names"),
            ("file1", "file2"),
            ("file", "file1"),
            ("source", "target"),
            ("abcd", "badc"),
        ] {
            assert!(!is_like(a, b), "{a} {b}");
        }
    }

    #[test]
    fn what_is_local() {
        for line in ["local ", "f() { local -r ", "  :; local a=1 ", "x && local "] {
            assert!(is_local(line), "{line}");
        }
        for line in ["", "declare -r ", "local a; ", "local a=$(b) ", "local -x ", "locals "] {
            assert!(!is_local(line), "{line}");
        }
    }

    #[test]
    fn what_runs_other_text() {
        for line in
            [". ./a.sh", "  source a", "if ! . a; then", "[ -f a ] && . a", "x=$(eval b)", "echo ${!a}"]
        {
            assert!(runs_other_text(line), "{line}");
        }
        for line in ["find . -name a", "./a.sh", "cp a .", "echo source", "evaluate"] {
            assert!(!runs_other_text(line), "{line}");
        }
    }
}
