//! Guards of commands: places where a script asks for a command before it uses it, or lets it fail on purpose, so that its author
//! has allowed for shells that do not have it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use shuck_ast::{
    BinaryCommand, BinaryOp, BuiltinCommand, Command, CompoundCommand, File, Redirect, RedirectKind,
    SimpleCommand, Stmt, StmtSeq, Word,
};

use crate::tree::{Node, command_name, range, walk, walk_statement, walk_word};

/// Commands whose arguments are names of commands that may not be there.
const LOOKUPS: [&str; 6] = ["type", "hash", "which", "whence", "help", "enable"];

/// Part of a script that runs where the commands it asked for are there.
#[derive(Debug)]
struct Guard {
    range: Range<usize>,
    /// All, where the part lets commands fail.
    names: Option<HashSet<String>>,
}

/// The guards of a script.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    all: Vec<Guard>,
}

/// Search for the guards of a script.
struct Search<'a> {
    text: &'a str,
    /// A function of the script may look for what it is given: `has shopt`.
    functions: HashSet<String>,
    found: Guards,
}

impl Guards {
    pub(crate) fn of(file: &File, text: &str) -> Self {
        let mut search = Search { text, functions: functions(file), found: Self::default() };
        walk(&file.body, &mut |it| match it {
            Node::Sequence(it) => search.sequence(it),
            Node::Statement(it) => search.statement(it),
            Node::Substitution(_) => {}
        });
        search.found
    }

    /// Whether a place is guarded for the command `name`.
    pub(crate) fn ask_for(&self, name: &str, at: usize) -> bool {
        let here = || self.all.iter().filter(|it| it.range.contains(&at));
        here().any(|it| it.names.as_ref().is_none_or(|it| it.contains(name)))
    }

    /// Whether the script lets the command at a place fail.
    pub(crate) fn let_fail(&self, at: usize) -> bool {
        self.all.iter().any(|it| it.names.is_none() && it.range.contains(&at))
    }
}

impl Search<'_> {
    /// After `type shopt || return`, or `if ! type shopt; then exit; fi`.
    fn sequence(&mut self, sequence: &StmtSeq) {
        let end = sequence.span.end.offset();
        for it in sequence.iter() {
            let names = match &it.command {
                Command::Binary(it) if it.op == BinaryOp::Or && self.may_leave(&it.right) => {
                    self.asked_by(&it.left)
                }
                Command::Compound(CompoundCommand::If(it)) if leaves(&it.then_branch) => {
                    self.asked(&it.condition)
                }
                _ => continue,
            };
            self.guard(it.span.end.offset()..end, names);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.command {
            Command::Binary(it) => self.binary(it),
            Command::Compound(CompoundCommand::If(it)) => {
                let conditions = it.elif_branches.iter().map(|it| &it.0).chain([&it.condition]);
                let names = conditions.clone().flat_map(|it| self.asked(it)).collect();
                conditions.for_each(|it| self.attempts(it));
                self.guard(it.then_branch.span.start.offset()..it.span.end.offset(), names);
            }
            Command::Compound(CompoundCommand::While(it)) => {
                self.guard(range(it.body.span), self.asked(&it.condition));
                self.attempts(&it.condition);
            }
            Command::Compound(CompoundCommand::Case(it)) => {
                self.guard(it.word.span.end.offset()..it.span.end.offset(), self.asked_in(&it.word));
            }
            _ => {}
        }
    }

    fn binary(&mut self, it: &BinaryCommand) {
        let is_used = match it.op {
            BinaryOp::And => true,
            BinaryOp::Or => !is_failure(&it.right, self.text),
            BinaryOp::Pipe | BinaryOp::PipeAll => return,
        };
        self.guard(range(it.right.span), self.asked_by(&it.left));
        if is_used {
            self.attempt(&it.left);
        }
    }

    fn guard(&mut self, range: Range<usize>, names: HashSet<String>) {
        if !names.is_empty() {
            self.found.all.push(Guard { range, names: Some(names) });
        }
    }

    fn attempts(&mut self, condition: &StmtSeq) {
        condition.iter().for_each(|it| self.attempt(it));
    }

    /// Lets all fail in a statement whose error messages are thrown away.
    fn attempt(&mut self, statement: &Stmt) {
        if is_hidden(statement, self.text) {
            self.found.all.push(Guard { range: range(statement.span), names: None });
        }
        if let Command::Binary(it) = &statement.command {
            [&it.left, &it.right].into_iter().for_each(|it| self.attempt(it));
        }
    }

    /// The commands that a condition asks for.
    fn asked(&self, condition: &StmtSeq) -> HashSet<String> {
        condition.iter().flat_map(|it| self.asked_by(it)).collect()
    }

    fn asked_by(&self, statement: &Stmt) -> HashSet<String> {
        let mut names = HashSet::new();
        let mut hidden = 0;
        walk_statement(statement, &mut |it| {
            let Node::Statement(it) = it else { return };
            if is_hidden(it, self.text) {
                hidden = hidden.max(it.span.end.offset());
            }
            match &it.command {
                Command::Simple(it) if self.is_lookup(it) => names.extend(arguments(it, self.text)),
                _ if it.span.start.offset() < hidden => {
                    names.extend(command_name(it, self.text).map(Cow::into_owned))
                }
                _ => {}
            }
        });
        names
    }

    /// Whether the code after a statement may not be reached: `exit`, or a function that may do that.
    fn may_leave(&self, statement: &Stmt) -> bool {
        match &statement.command {
            Command::Builtin(BuiltinCommand::Exit(_) | BuiltinCommand::Return(_)) => true,
            Command::Compound(CompoundCommand::BraceGroup(it)) => leaves(it),
            _ => command_name(statement, self.text).is_some_and(|it| self.functions.contains(&*it)),
        }
    }

    /// Commands that are asked for within a word: `$(type shopt)`.
    fn asked_in(&self, word: &Word) -> HashSet<String> {
        let mut names = HashSet::new();
        walk_word(word, &mut |it| {
            if let Node::Substitution(it) = it {
                names.extend(self.asked(it));
            }
        });
        names
    }

    fn is_lookup(&self, it: &SimpleCommand) -> bool {
        let Some(name) = it.name.try_static_text(self.text) else { return false };
        let first = it.args.first().and_then(|it| it.try_static_text(self.text));
        let is_option = |it: &str| it.starts_with('-') && it.contains(['v', 'V']);
        match &*name {
            "command" => first.is_some_and(|it| is_option(&it)),
            name => LOOKUPS.contains(&name) || self.functions.contains(name),
        }
    }
}

fn arguments(it: &SimpleCommand, text: &str) -> Vec<String> {
    let words = it.args.iter().filter_map(|it| it.try_static_text(text));
    words.map(Into::into).collect()
}

fn functions(file: &File) -> HashSet<String> {
    let mut names = HashSet::new();
    walk(&file.body, &mut |it| {
        if let Node::Statement(Stmt { command: Command::Function(it), .. }) = it {
            names.extend(it.static_names().map(|it| it.as_str().to_owned()));
        }
    });
    names
}

fn leaves(sequence: &StmtSeq) -> bool {
    let is_end = |it: &Stmt| {
        matches!(it.command, Command::Builtin(BuiltinCommand::Exit(_) | BuiltinCommand::Return(_)))
    };
    sequence.iter().any(is_end)
}

/// Whether a statement ends the script, or a function, with a failure: `exit 1`.
fn is_failure(statement: &Stmt, text: &str) -> bool {
    let code = match &statement.command {
        Command::Builtin(BuiltinCommand::Exit(it)) => &it.code,
        Command::Builtin(BuiltinCommand::Return(it)) => &it.code,
        Command::Compound(CompoundCommand::BraceGroup(it)) => {
            return it.last().is_some_and(|it| is_failure(it, text));
        }
        _ => return false,
    };
    code.as_ref().and_then(|it| it.try_static_text(text)).as_deref() != Some("0")
}

/// Whether the error messages of a statement are thrown away: `2>/dev/null`, `>/dev/null 2>&1`.
fn is_hidden(statement: &Stmt, text: &str) -> bool {
    let is = |it: &Redirect, target: &str| {
        it.word_target().and_then(|it| it.try_static_text(text)).is_some_and(|it| it == target)
    };
    let mut is_output_null = false;
    statement.redirects.iter().any(|it| {
        is_output_null |= it.fd.unwrap_or(1) == 1 && is(it, "/dev/null");
        match it.kind {
            RedirectKind::OutputBoth => is(it, "/dev/null"),
            RedirectKind::DupOutput => it.fd == Some(2) && (is(it, "-") || is_output_null && is(it, "1")),
            _ => it.fd == Some(2) && is(it, "/dev/null"),
        }
    })
}
