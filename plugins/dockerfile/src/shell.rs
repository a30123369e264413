//! A script of a shell that reads as sh does: its commands, their words, and whether there is a pipe.
//!
//! Left out is what here-documents hold, arithmetic, and which branch is taken; what cannot be read has no commands.

use std::ops::Range;

use crate::words::unquote;

/// A command of a script: its words, without assignments and keywords before them, and without redirections.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) words: Vec<(String, Range<usize>)>,
}

#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
    /// Where the first `|` is behind a command that may fail.
    pub(crate) pipe: Option<usize>,
}

/// What comes before a command, and is none.
const KEYWORDS: [&str; 13] =
    ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "env", "command"];

/// Of commands in commands; no script that a person wrote is deeper.
const DEEPEST: usize = 30;

/// What the part of a script that is being read is made of.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Within {
    #[default]
    Command,
    /// `a|b)` of a `case`.
    Pattern,
    /// `[[ … ]]`, where `|` and brackets are those of an expression.
    Test,
}

/// A script half read.
#[derive(Debug, Default)]
struct Reading {
    command: Command,
    within: Within,
    n_cases: usize,
}

impl Script {
    pub(crate) fn of(text: &str) -> Self {
        let mut script = Self::default();
        script.read(text, 0, 0);
        script.commands.retain(|it| !it.words.is_empty());
        script
    }

    /// Reads a text that is at a place of the whole.
    fn read(&mut self, text: &str, base: usize, depth: usize) {
        let mut reading = Reading::default();
        let mut rest = 0;
        while let Some((range, kind)) = token(text, rest) {
            let (word, at) = (&text[range.clone()], base + range.start);
            rest = range.end;
            if kind != Kind::Operator {
                self.inner(word, at, depth + 1);
            }
            match (reading.within, kind) {
                (Within::Command, Kind::Word) => self.word(&mut reading, word, at),
                (Within::Command, Kind::Operator) => self.operator(&mut reading, word, at),
                (Within::Command, Kind::Redirection) => {}
                (Within::Pattern | Within::Test, _) => reading.pass(word, kind),
            }
        }
        self.commands.push(reading.command);
    }

    fn word(&mut self, reading: &mut Reading, word: &str, at: usize) {
        let is_first = reading.command.words.is_empty();
        if reading.command.is_case() && word == "in" {
            self.commands.push(std::mem::take(&mut reading.command));
            reading.n_cases += 1;
            reading.within = Within::Pattern;
            return;
        }
        match word {
            "[[" if is_first => reading.within = Within::Test,
            "esac" if is_first => reading.n_cases = reading.n_cases.saturating_sub(1),
            _ => {}
        }
        reading.command.add(word, at);
    }

    fn operator(&mut self, reading: &mut Reading, operator: &str, at: usize) {
        if matches!(operator, "|" | "|&") && !reading.command.never_fails() {
            self.pipe.get_or_insert(at);
        }
        self.commands.push(std::mem::take(&mut reading.command));
        if reading.n_cases > 0 && matches!(operator, ";;" | ";&" | ";;&") {
            reading.within = Within::Pattern;
        }
    }

    /// The commands in `$(…)` and backquotes of a word.
    fn inner(&mut self, word: &str, base: usize, depth: usize) {
        if word.starts_with('\'') || depth > DEEPEST {
            return;
        }
        let mut at = 0;
        while let Some(start) = word[at..].find("$(").map(|it| at + it + 2) {
            let end = closing(word, start).unwrap_or(word.len());
            if !word[start..].starts_with('(') {
                self.read(&word[start..end], base + start, depth);
            }
            at = end.max(start);
        }
        let mut ticks = word.match_indices('`').map(|it| it.0);
        while let (Some(start), Some(end)) = (ticks.next(), ticks.next()) {
            self.read(&word[start + 1..end], base + start + 1, depth);
        }
    }
}

impl Reading {
    /// Passes over a part of a pattern or a test.
    fn pass(&mut self, word: &str, kind: Kind) {
        match (self.within, kind, word) {
            (Within::Pattern, Kind::Operator, ")") | (Within::Test, Kind::Word, "]]") => {}
            (Within::Pattern, Kind::Word, "esac") => self.n_cases = self.n_cases.saturating_sub(1),
            _ => return,
        }
        self.within = Within::Command;
    }
}

impl Command {
    fn add(&mut self, word: &str, at: usize) {
        let plain = unquote(word, '\\');
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        });
        if self.words.is_empty() && (is_assignment || KEYWORDS.contains(&&*plain)) {
            return;
        }
        self.words.push((plain, at..at + word.len()));
    }

    /// Whether it has no failure of its own that `pipefail` could report; `yes` ends only when the pipe does, and counts as
    /// failed then.
    fn never_fails(&self) -> bool {
        let name = self.words.first().map(|it| &*it.0);
        matches!(name, Some("echo" | "printf" | "true" | ":" | "yes"))
    }

    /// Whether it is `case word`, to which `in` belongs.
    fn is_case(&self) -> bool {
        self.words.len() == 2 && self.words[0].0 == "case"
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Operator,
    /// With what it leads to or from.
    Redirection,
}

/// Longer ones first.
const OPERATORS: [&str; 14] =
    [";;&", "&&", "||", "|&", ";;", ";&", "<(", ">(", "|", "&", ";", "(", ")", "\n"];
const REDIRECTIONS: [&str; 12] = ["&>>", "<<<", "<<-", "&>", ">>", ">&", ">|", "<<", "<&", "<>", ">", "<"];

/// The next part of a script.
fn token(text: &str, from: usize) -> Option<(Range<usize>, Kind)> {
    let start = skip_blank(text, from);
    let rest = text.get(start..).filter(|it| !it.is_empty())?;
    if rest.starts_with('#') {
        let end = rest.find('\n').map_or(text.len(), |it| start + it);
        return token(text, end);
    }
    if let Some(end) = redirection(text, start) {
        return Some((start..end, Kind::Redirection));
    }
    if let Some(operator) = OPERATORS.iter().find(|it| rest.starts_with(**it)) {
        return Some((start..start + operator.len(), Kind::Operator));
    }
    Some((start..word_end(text, start), Kind::Word))
}

fn skip_blank(text: &str, from: usize) -> usize {
    text[from..].find(|it: char| !matches!(it, ' ' | '\t' | '\r')).map_or(text.len(), |it| from + it)
}

/// Where `2>file` ends, if that is what is at a place. `<(…)` and `>(…)` are commands.
fn redirection(text: &str, start: usize) -> Option<usize> {
    let sign = start + text[start..].find(|it: char| !it.is_ascii_digit())?;
    let found = REDIRECTIONS.iter().find(|it| text[sign..].starts_with(**it))?;
    let end = sign + found.len();
    let is_command = text[end..].starts_with('(');
    (!is_command && (sign == start || !found.starts_with('&')))
        .then(|| target_end(text, skip_blank(text, end)))
}

/// Where the word that follows a redirection ends, if there is one.
fn target_end(text: &str, start: usize) -> usize {
    let is_word = !OPERATORS.iter().any(|it| text[start..].starts_with(*it));
    if is_word && start < text.len() { word_end(text, start) } else { start }
}

fn word_end(text: &str, start: usize) -> usize {
    let mut at = start;
    let mut quote = None;
    while let Some(it) = text[at..].chars().next() {
        let next = at + it.len_utf8();
        at = match (quote, it) {
            (Some('\''), '\'') => {
                quote = None;
                next
            }
            (Some('\''), _) => next,
            (_, '\\') => next + text[next..].chars().next().map_or(0, char::len_utf8),
            (_, '$') if text[next..].starts_with('(') => {
                closing(text, next + 1).map_or(text.len(), |it| it + 1)
            }
            (_, '$') if text[next..].starts_with('{') => {
                text[next..].find('}').map_or(text.len(), |it| next + it + 1)
            }
            (_, '`') => text[next..].find('`').map_or(text.len(), |it| next + it + 1),
            (Some(open), it) if it == open => {
                quote = None;
                next
            }
            (Some(_), _) => next,
            (None, '"' | '\'') => {
                quote = Some(it);
                next
            }
            (None, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>') => {
                return at.max(start + usize::from(at == start));
            }
            (None, _) => next,
        };
    }
    text.len()
}

/// The bracket that closes what is open before a place.
fn closing(text: &str, from: usize) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for (at, it) in text[from..].char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match (quote, it) {
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => is_escaped = true,
            (Some(open), it) if it == open => quote = None,
            (None, '"' | '\'') => quote = Some(it),
            (_, '(') => depth += 1,
            (_, ')') if depth == 0 => return Some(from + at),
            (_, ')') => depth -= 1,
            _ => {}
        }
    }
    None
}
