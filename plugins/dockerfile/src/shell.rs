//! A script of a shell that reads as sh does: its commands, their words, and whether there is a pipe that hides a failure.
//!
//! Left out is what here-documents hold, arithmetic, and which branch is taken; what cannot be read has no commands.

mod substitution;
mod token;

use std::ops::Range;

use crate::input;
use crate::words::unquote;
use substitution::substitutions;
pub(crate) use token::closing;
use token::{Kind, token};

/// A command of a script: its words, without assignments and keywords before them, and without redirections.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) words: Vec<(String, Range<usize>)>,
    /// A variable is set to what another command prints.
    takes_output: bool,
    /// Status of the group, if the command is one or the like.
    group: Option<GroupStatus>,
    /// The pipe of the last `$(…)` in its assignments, whose status is its own where it has no words.
    pipe: Option<usize>,
}

/// Meaning of the exit status of a group or the like for the commands in it.
#[derive(Debug, Clone, Copy, Default)]
struct GroupStatus {
    /// Whether a command of the group may fail.
    may_fail: bool,
    /// Whether the group fails without input, as its last command does.
    needs_input: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
    /// Offset of the first `|` that hides the failure of the command before it, and does not lead to a command that fails without
    /// input.
    pub(crate) pipe: Option<usize>,
}

/// Words before a command that are not commands themselves.
const KEYWORDS: [&str; 13] =
    ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "env", "command"];

/// Limit on the nesting of commands in commands; no script that a person wrote is deeper.
const DEEPEST: usize = 30;

/// Kind of the part of a script that is being read.
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
    /// Groups that are open, the innermost last.
    groups: Vec<Group>,
    pipeline: Pipeline,
}

/// Commands of one level up to the one that is being read.
#[derive(Debug, Default, Clone, Copy)]
struct Pipeline {
    /// The first `|` behind a command that may fail.
    pipe: Option<usize>,
    joint: Joint,
    /// The list before the command that is being read fails without input.
    needs_input: bool,
}

/// Operator between a command and the one before it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// The start, or the end of a list.
    #[default]
    End,
    And,
    Or,
    Pipe,
}

/// Compound command that is open: `{`, `(`, a loop, `if` or `case`.
#[derive(Debug)]
struct Group {
    closer: &'static str,
    /// Whether the condition is being read, where a failure decides what runs, and does not make the group fail.
    is_condition: bool,
    may_fail: bool,
    /// `<(…)`, whose status is thrown away.
    is_substitution: bool,
    /// Pipeline that the group is a part of.
    around: Pipeline,
}

impl Script {
    pub(crate) fn of(text: &str) -> Self {
        let mut script = Self::default();
        script.pipe = script.read(text, 0, 0);
        script.commands.retain(|it| !it.words.is_empty());
        script
    }

    /// Reads a text that is at a place of the whole. Returns its first pipe that hides a failure.
    fn read(&mut self, text: &str, base: usize, depth: usize) -> Option<usize> {
        let mut reading = Reading::default();
        let (mut rest, mut pipe) = (0, None);
        while let Some((range, kind)) = token(text, rest) {
            let (word, at) = (&text[range.clone()], base + range.start);
            rest = range.end;
            let inner = if kind == Kind::Operator { None } else { self.inner(word, at, depth + 1) };
            match (reading.within, kind) {
                (Within::Command, Kind::Word) => self.word(&mut reading, word, at, inner),
                (Within::Command, Kind::Operator) => {
                    pipe = first(pipe, self.operator(&mut reading, word, at));
                }
                (Within::Command, Kind::Redirection) => {}
                (Within::Pattern | Within::Test, _) => reading.pass(word, kind),
            }
        }
        pipe = first(pipe, reading.hidden());
        self.commands.push(reading.command);
        pipe
    }

    /// Ends the command that is being read.
    fn end(&mut self, reading: &mut Reading) {
        self.commands.push(std::mem::take(&mut reading.command));
    }

    fn word(&mut self, reading: &mut Reading, word: &str, at: usize, inner: Option<Substitution>) {
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
        reading.command.add(word, at, inner);
    }

    /// Returns the pipe that hides a failure, where the operator ends a pipeline.
    fn operator(&mut self, reading: &mut Reading, operator: &str, at: usize) -> Option<usize> {
        let is_opened = matches!(operator, "(" | "<(" | ">(");
        let is_plain = operator == "(" && reading.command.is_empty();
        let pipe = if is_opened { None } else { reading.join(operator, at) };
        self.end(reading);
        match operator {
            "(" => reading.open_bracket(is_plain, false),
            "<(" | ">(" => reading.open_bracket(false, true),
            ")" => reading.close(")"),
            _ => {}
        }
        if reading.n_cases > 0 && matches!(operator, ";;" | ";&" | ";;&") {
            reading.within = Within::Pattern;
        }
        pipe
    }

    /// Reads the commands in `$(…)` and backquotes of a word. Returns the last of these substitutions.
    fn inner(&mut self, word: &str, base: usize, depth: usize) -> Option<Substitution> {
        let scripts = if depth > DEEPEST { Vec::new() } else { substitutions(word) };
        let mut last = None;
        for it in scripts {
            last = Some(Substitution { pipe: self.read(&word[it.clone()], base + it.start, depth) });
        }
        last
    }
}

/// A `$(…)`, with the pipe in it that hides a failure.
#[derive(Debug, Clone, Copy)]
struct Substitution {
    pipe: Option<usize>,
}

/// The first of two places.
fn first(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    one.into_iter().chain(other).min()
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
        let around = std::mem::take(&mut self.pipeline);
        self.groups.push(Group { closer, is_condition, may_fail: false, is_substitution: false, around });
    }

    /// Opens a subshell, or what only looks like one: `f()`, `<(…)`.
    fn open_bracket(&mut self, is_subshell: bool, is_substitution: bool) {
        let around = std::mem::take(&mut self.pipeline);
        let may_fail = !is_subshell;
        self.groups.push(Group { closer: ")", is_condition: false, may_fail, is_substitution, around });
    }

    fn close(&mut self, closer: &str) {
        let Some(group) = self.groups.pop_if(|it| it.closer == closer) else { return };
        let is_list = matches!(closer, "}" | ")") && !group.is_substitution;
        let needs_input = is_list && self.pipeline.needs_input;
        self.command.group = Some(GroupStatus { may_fail: group.may_fail, needs_input });
        self.pipeline = group.around;
    }

    /// Ends a command by an operator. Returns the pipe that hides a failure, where a pipeline ends with it.
    fn join(&mut self, operator: &str, at: usize) -> Option<usize> {
        if operator == "\n" && self.command.is_empty() {
            return None;
        }
        self.count(operator);
        let is_pipe = matches!(operator, "|" | "|&");
        if is_pipe && !self.command.never_fails() {
            self.pipeline.pipe.get_or_insert(at);
        }
        let hidden = if is_pipe { None } else { self.hidden() };
        if !self.command.is_empty() {
            self.pipeline.needs_input = operator != "&" && self.list_needs_input();
        }
        self.pipeline.joint = match operator {
            "|" | "|&" => Joint::Pipe,
            "||" => Joint::Or,
            "&&" => Joint::And,
            _ => Joint::End,
        };
        hidden
    }

    /// The pipe that hides a failure of the pipeline that ends with the command that is being read, or of its assignments.
    fn hidden(&mut self) -> Option<usize> {
        let pipe = self.pipeline.pipe.take().filter(|_| !self.command.needs_input());
        let assigned = self.command.pipe.filter(|_| self.command.words.is_empty());
        first(pipe, assigned).filter(|_| !self.groups.iter().any(|it| it.is_substitution))
    }

    /// Whether the list up to the command that is being read fails without input.
    fn list_needs_input(&self) -> bool {
        let command = self.command.needs_input();
        match self.pipeline.joint {
            Joint::End => command,
            Joint::And => command || self.pipeline.needs_input,
            Joint::Or | Joint::Pipe => false,
        }
    }

    /// Notes whether the command that an operator ends can make the group fail. One before `||` cannot: where it fails, the
    /// command after `||` decides.
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
    fn add(&mut self, word: &str, at: usize, inner: Option<Substitution>) {
        let plain = unquote(word, '\\');
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        });
        if self.words.is_empty() && is_assignment {
            self.takes_output |= inner.is_some();
            self.pipe = inner.map_or(self.pipe, |it| it.pipe);
            return;
        }
        if !self.words.is_empty() || !KEYWORDS.contains(&&*plain) {
            self.words.push((plain, at..at + word.len()));
        }
    }

    /// Whether the command has no failure of its own that `pipefail` could report; `yes` ends only when the pipe does, and counts
    /// as failed then.
    fn never_fails(&self) -> bool {
        if let Some(group) = self.group {
            return !group.may_fail;
        }
        let name = self.words.first().map(|it| &*it.0);
        matches!(name, Some("echo" | "printf" | "true" | ":" | "yes"))
    }

    /// Whether the command fails if its input is empty or cut.
    fn needs_input(&self) -> bool {
        let words = || self.words.iter().map(|it| &*it.0).collect::<Vec<_>>();
        self.group.map_or_else(|| input::is_needed_by(&words()), |it| it.needs_input)
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.group.is_none() && !self.takes_output
    }

    /// Whether the command so far is `case word`, to which `in` belongs.
    fn is_case(&self) -> bool {
        self.words.len() == 2 && self.words[0].0 == "case"
    }
}
