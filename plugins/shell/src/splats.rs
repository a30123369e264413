//! `"x $@"` as an argument: its elements stay words of their own, with the text before the first and behind the last. That
//! does no harm where the command shows its arguments as one text, and is meant where only a prefix is added: `run_"$@"`.

use std::collections::HashSet;
use std::ops::Range;

use shuck_ast::{
    Assignment, AssignmentValue, Command, CompoundCommand, DeclOperand, File, ForCommand, Stmt, StmtSeq, Word,
};

use crate::tree::{Node, command_name, range, walk};

/// Uses that the functions of a script make of their arguments.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    own: HashSet<String>,
    /// Functions that join their arguments (`$*`), or only print them.
    showing: HashSet<String>,
}

/// Use of `$@`: its taker, and the place of the argument.
struct Call {
    taker: Taker,
    argument: Range<usize>,
}

#[derive(Clone)]
enum Taker {
    Command(String),
    /// A single text: a variable (`a="$@"`), or what a loop prints part by part.
    Text,
    /// A test, which does nothing with it.
    Test,
}

/// A function, and what it gives all of its arguments to.
struct Passing {
    name: String,
    to: Vec<String>,
}

/// Commands that print their arguments with blanks between them, or `printf`.
const PRINTING: [&str; 4] = ["echo", "logger", "print", "printf"];

/// Parts of the names of functions that print a message.
const OF_MESSAGES: [&str; 22] = [
    "abort", "debug", "die", "echo", "err", "error", "fail", "fatal", "info", "log", "message", "messages",
    "msg", "msgs", "notice", "print", "say", "success", "trace", "verbose", "warn", "warning",
];

/// Commands that a loop may have beside those that print.
const ASKING: [&str; 5] = ["[", "test", ":", "true", "shift"];

impl Functions {
    pub(crate) fn of(file: &File, text: &str) -> Self {
        let (mut bodies, mut calls) = (Vec::new(), Vec::new());
        walk(&file.body, &mut |it| {
            let Node::Statement(it) = it else { return };
            if let Command::Function(it) = &it.command {
                let names = it.static_names().map(|it| it.as_str().to_owned());
                bodies.extend(names.map(|name| (name, range(it.span))));
            }
            calls.extend(calls_of(it, text));
        });
        calls.sort_by_key(|it| it.argument.start);
        let own = bodies.iter().map(|it| it.0.clone()).collect();
        let mut functions = Self { own, showing: HashSet::new() };
        let passing = bodies.into_iter().filter_map(|it| passing(it, &calls, text)).collect();
        functions.find_showing(passing);
        functions
    }

    /// Whether the command shows its argument at a place as a part of one text.
    pub(crate) fn shows(&self, statement: &Stmt, at: usize, text: &str) -> bool {
        if runs_itself(statement, text) {
            return !self.showing.is_empty();
        }
        let Some((name, arguments)) = command(statement, text) else { return false };
        let format = arguments.iter().find(|_| name == "printf").map(|_| format(arguments, text));
        let is_format = format.flatten().is_some_and(|it| range(it.span).contains(&at));
        !is_format && self.is_showing(&name)
    }

    /// Whether a function only shows its arguments: by the script, or else by the function's name.
    fn is_showing(&self, name: &str) -> bool {
        let is_of_messages = || {
            let name = with_gaps(name).to_ascii_lowercase();
            let mut parts = name.split(['_', '-', ':', '.']);
            !name.contains('/') && parts.any(|it| OF_MESSAGES.contains(&it))
        };
        if self.own.contains(name) {
            self.showing.contains(name)
        } else {
            PRINTING.contains(&name) || is_of_messages()
        }
    }

    fn find_showing(&mut self, mut left: Vec<Passing>) {
        loop {
            let shows = |it: &Passing| it.to.iter().all(|it| self.is_showing(it));
            let (showing, others): (Vec<_>, Vec<_>) = left.into_iter().partition(shows);
            if showing.is_empty() {
                return;
            }
            self.showing.extend(showing.into_iter().map(|it| it.name));
            left = others;
        }
    }
}

/// Functions that a function passes its arguments to, if it does nothing else with all of them; none if it joins them.
fn passing((name, body): (String, Range<usize>), calls: &[Call], text: &str) -> Option<Passing> {
    let inner = &text[body.clone()];
    if inner.contains("$*") {
        return Some(Passing { name, to: Vec::new() });
    }
    let takers: Vec<&Taker> = splats(inner).map(|it| taker(calls, body.start + it)).collect::<Option<_>>()?;
    let is_used = takers.iter().any(|it| !matches!(it, Taker::Test));
    let to = takers.into_iter().filter_map(|it| match it {
        Taker::Command(name) => Some(name.clone()),
        Taker::Text | Taker::Test => None,
    });
    is_used.then(|| Passing { name, to: to.collect() })
}

/// The innermost one in whose argument a place is.
fn taker(calls: &[Call], at: usize) -> Option<&Taker> {
    let begun = calls.partition_point(|it| it.argument.start <= at);
    calls[..begun].iter().rev().find(|it| it.argument.contains(&at)).map(|it| &it.taker)
}

/// A name with `_` where an upper-case letter begins a word: `print_All` of `printAll`.
fn with_gaps(name: &str) -> String {
    let mut gapped = String::new();
    for it in name.chars() {
        if it.is_ascii_uppercase() && gapped.ends_with(|it: char| it.is_ascii_lowercase()) {
            gapped.push('_');
        }
        gapped.push(it);
    }
    gapped
}

/// The places of `$@` and `${@`.
fn splats(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("$@").chain(text.match_indices("${@")).map(|it| it.0)
}

fn calls_of(statement: &Stmt, text: &str) -> Vec<Call> {
    let mut takers = match &statement.command {
        Command::Simple(it) => assigned(&it.assignments),
        Command::Decl(it) => it.operands.iter().flat_map(declared).collect(),
        Command::Compound(CompoundCommand::For(it)) if only_prints(&it.body, text) => looped_over(it),
        Command::Compound(CompoundCommand::Case(it)) => vec![(Taker::Test, range(it.word.span))],
        Command::Compound(CompoundCommand::Conditional(it)) => vec![(Taker::Test, range(it.span))],
        _ => Vec::new(),
    };
    takers.extend(command(statement, text).into_iter().flat_map(|(name, arguments)| {
        let format = format(arguments, text).filter(|_| name == "printf").map(|it| range(it.span));
        let taker = if matches!(&*name, "[" | "test") { Taker::Test } else { Taker::Command(name) };
        let places = arguments.iter().map(|it| range(it.span)).filter(move |it| Some(it) != format.as_ref());
        places.map(move |it| (taker.clone(), it))
    }));
    takers.retain(|it| splats(&text[it.1.clone()]).next().is_some());
    takers.into_iter().map(|(taker, argument)| Call { taker, argument }).collect()
}

/// The texts that are put into variables; an array keeps them apart.
fn assigned(assignments: &[Assignment]) -> Vec<(Taker, Range<usize>)> {
    let texts = assignments.iter().filter(|it| matches!(it.value, AssignmentValue::Scalar(_)));
    texts.map(|it| (Taker::Text, range(it.span))).collect()
}

fn declared(operand: &DeclOperand) -> Vec<(Taker, Range<usize>)> {
    match operand {
        DeclOperand::Assignment(it) => assigned(std::slice::from_ref(it)),
        _ => Vec::new(),
    }
}

fn looped_over(it: &ForCommand) -> Vec<(Taker, Range<usize>)> {
    it.words.iter().flatten().map(|it| (Taker::Text, range(it.span))).collect()
}

/// Whether a loop's body does nothing but print.
fn only_prints(body: &StmtSeq, text: &str) -> bool {
    let (mut prints, mut is_more) = (false, false);
    walk(body, &mut |it| match it {
        Node::Statement(it) if matches!(it.command, Command::Simple(_)) => {
            let name = command_name(it, text);
            let is_print = name.as_deref().is_some_and(|it| PRINTING.contains(&it));
            prints |= is_print;
            is_more |= !is_print && !name.is_some_and(|it| ASKING.contains(&&*it));
        }
        Node::Substitution(_) => is_more = true,
        _ => {}
    });
    prints && !is_more
}

/// Whether a command is the script itself.
fn runs_itself(statement: &Stmt, text: &str) -> bool {
    let Command::Simple(it) = &statement.command else { return false };
    matches!(
        text[range(it.name.span)].trim_matches('"'),
        "$0" | "${0}" | "$BASH_SOURCE" | "${BASH_SOURCE[0]}"
    )
}

/// The name of a simple command and its arguments, without `command` and `builtin`.
fn command<'s>(statement: &'s Stmt, text: &str) -> Option<(String, &'s [Word])> {
    let Command::Simple(it) = &statement.command else { return None };
    let name = command_name(statement, text)?.into_owned();
    match (&*name, &it.args[..]) {
        ("command" | "builtin", [inner, arguments @ ..]) => {
            Some((inner.try_static_text(text)?.into_owned(), arguments))
        }
        (_, arguments) => Some((name, arguments)),
    }
}

/// The format among the arguments of `printf`.
fn format<'w>(arguments: &'w [Word], text: &str) -> Option<&'w Word> {
    let is = |word: &Word, option: &str| word.try_static_text(text).as_deref() == Some(option);
    match arguments {
        [option, _, format, ..] if is(option, "-v") => Some(format),
        [end, format, ..] if is(end, "--") => Some(format),
        [format, ..] => Some(format),
        [] => None,
    }
}

/// Whether an expansion is alone in its quotes, and what is before them is no `--option=`, which has one value.
pub(crate) fn is_affixed(expansion: &Range<usize>, text: &str) -> bool {
    let before = text[..expansion.start].strip_suffix('"');
    before.is_some_and(|it| !it.ends_with('=')) && text[expansion.end..].starts_with('"')
}
