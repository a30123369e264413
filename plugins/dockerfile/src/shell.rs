//! A script of a shell that reads as sh does: its commands, their words, and whether there is a pipe.
//!
//! Left out is what here-documents hold, arithmetic, and which branch is taken; what cannot be read has no commands.

use std::ops::Range;

use crate::words::unquote;

/// A command of a script: its words, without assignments and keywords before them, and without redirections.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) words: Vec<(String, Range<usize>)>,
    /// A variable is set to what another command prints.
    takes_output: bool,
    /// Where it is a group or the like: whether one of the commands in it may fail.
    may_fail: Option<bool>,
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
    /// Those that are open, the innermost last.
    groups: Vec<Group>,
}

/// Compound command that is open: `{`, `(`, a loop, `if` or `case`.
#[derive(Debug)]
struct Group {
    closer: &'static str,
    /// What is read decides which commands run, and its failure is none of the group's.
    is_condition: bool,
    may_fail: bool,
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

    /// Ends the command that is being read.
    fn end(&mut self, reading: &mut Reading) {
        self.commands.push(std::mem::take(&mut reading.command));
    }

    fn word(&mut self, reading: &mut Reading, word: &str, at: usize) {
        let is_first = reading.command.words.is_empty();
        if reading.command.is_case() && word == "in" {
            self.end(reading);
            reading.open("esac", false);
            reading.n_cases += 1;
            reading.within = Within::Pattern;
            return;
        }
        match word {
            "[[" if is_first => reading.within = Within::Test,
            "esac" if is_first => reading.n_cases = reading.n_cases.saturating_sub(1),
            _ => {}
        }
        if is_first {
            reading.keyword(word);
        }
        reading.command.add(word, at);
    }

    fn operator(&mut self, reading: &mut Reading, operator: &str, at: usize) {
        if matches!(operator, "|" | "|&") && !reading.command.never_fails() {
            self.pipe.get_or_insert(at);
        }
        reading.count(operator);
        let is_plain = operator == "(" && reading.command.is_empty();
        self.end(reading);
        match operator {
            "(" => reading.open_bracket(is_plain),
            "<(" | ">(" => reading.open_bracket(false),
            ")" => reading.close(")"),
            _ => {}
        }
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
    /// Opens or closes what a keyword does.
    fn keyword(&mut self, word: &str) {
        match word {
            "{" => self.open("}", false),
            "if" => self.open("fi", true),
            "for" | "select" | "while" | "until" => self.open("done", true),
            "then" | "else" | "do" | "elif" => {
                if let Some(group) = self.groups.last_mut() {
                    group.is_condition = word == "elif";
                }
            }
            "}" | "fi" | "done" | "esac" => self.close(word),
            _ => {}
        }
    }

    fn open(&mut self, closer: &'static str, is_condition: bool) {
        self.groups.push(Group { closer, is_condition, may_fail: false });
    }

    /// Opens a subshell, or what only looks like one: `f()`, `<(…)`.
    fn open_bracket(&mut self, is_subshell: bool) {
        self.groups.push(Group { closer: ")", is_condition: false, may_fail: !is_subshell });
    }

    fn close(&mut self, closer: &str) {
        if self.groups.last().is_some_and(|it| it.closer == closer) {
            self.command.may_fail = self.groups.pop().map(|it| it.may_fail);
        }
    }

    /// Counts the command that an operator ends; what is after `||` runs where it fails.
    fn count(&mut self, operator: &str) {
        let is_counted = !self.command.is_empty() && operator != "||";
        if let Some(group) = self.groups.last_mut().filter(|it| is_counted && !it.is_condition) {
            group.may_fail |= !self.command.never_fails();
        }
    }

    /// Passes over a part of a pattern or a test.
    fn pass(&mut self, word: &str, kind: Kind) {
        match (self.within, kind, word) {
            (Within::Pattern, Kind::Operator, ")") | (Within::Test, Kind::Word, "]]") => {}
            (Within::Pattern, Kind::Word, "esac") => {
                self.n_cases = self.n_cases.saturating_sub(1);
                self.close("esac");
            }
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
        self.takes_output |= self.words.is_empty() && is_assignment && word.contains(['`', '(']);
        if self.words.is_empty() && (is_assignment || KEYWORDS.contains(&&*plain)) {
            return;
        }
        self.words.push((plain, at..at + word.len()));
    }

    /// Whether it has no failure of its own that `pipefail` could report; `yes` ends only when the pipe does, and counts as
    /// failed then.
    fn never_fails(&self) -> bool {
        if let Some(may_fail) = self.may_fail {
            return !may_fail;
        }
        let name = self.words.first().map(|it| &*it.0);
        matches!(name, Some("echo" | "printf" | "true" | ":" | "yes"))
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.may_fail.is_none() && !self.takes_output
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
