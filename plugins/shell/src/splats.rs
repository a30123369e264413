//! `"x $@"` as an argument: its elements stay words of their own, with the text before the first and behind the last. That
//! does no harm where the command shows its arguments as one text, and is meant where only a prefix is added: `run_"$@"`.

use std::collections::HashSet;
use std::ops::Range;

use shuck_ast::{Command, File, Stmt, Word};

use crate::tree::{Node, command_name, range, walk};

/// What the functions of a script do with their arguments.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    own: HashSet<String>,
    /// Those that join their arguments (`$*`), or only print them.
    showing: HashSet<String>,
}

/// A command and the argument in which it is given `$@`.
struct Call {
    name: String,
    argument: Range<usize>,
}

/// A function, and what it gives all of its arguments to.
struct Passing {
    name: String,
    to: Vec<String>,
}

/// Commands that print their arguments with blanks between them, or `printf`.
const PRINTING: [&str; 4] = ["echo", "logger", "print", "printf"];

/// Parts of the names of functions that print a message.
const OF_MESSAGES: [&str; 20] = [
    "abort", "debug", "die", "echo", "err", "error", "fail", "fatal", "info", "log", "message", "msg",
    "notice", "print", "say", "success", "trace", "verbose", "warn", "warning",
];

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

    /// Whether the command shows what it is given at a place as a part of one text.
    pub(crate) fn shows(&self, statement: &Stmt, at: usize, text: &str) -> bool {
        let Some((name, arguments)) = command(statement, text) else { return false };
        let format = arguments.iter().find(|_| name == "printf").map(|_| format(arguments, text));
        let is_format = format.flatten().is_some_and(|it| range(it.span).contains(&at));
        !is_format && self.is_showing(&name)
    }

    /// Where the script does not say what a function does, its name does.
    fn is_showing(&self, name: &str) -> bool {
        let is_of_messages = || {
            let mut parts = name.split(['_', '-', ':', '.']);
            !name.contains('/') && parts.any(|it| OF_MESSAGES.contains(&it.to_ascii_lowercase().as_str()))
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

/// What a function gives its arguments to, if it does nothing else with all of them; nothing where it joins them.
fn passing((name, body): (String, Range<usize>), calls: &[Call], text: &str) -> Option<Passing> {
    let inner = &text[body.clone()];
    if inner.contains("$*") {
        return Some(Passing { name, to: Vec::new() });
    }
    let to: Vec<String> = splats(inner).map(|it| called(calls, body.start + it)).collect::<Option<_>>()?;
    (!to.is_empty()).then_some(Passing { name, to })
}

/// The innermost command in whose argument a place is.
fn called(calls: &[Call], at: usize) -> Option<String> {
    let begun = calls.partition_point(|it| it.argument.start <= at);
    let call = calls[..begun].iter().rev().find(|it| it.argument.contains(&at))?;
    Some(call.name.clone())
}

/// The places of `$@` and `${@`.
fn splats(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("$@").chain(text.match_indices("${@")).map(|it| it.0)
}

fn calls_of(statement: &Stmt, text: &str) -> Vec<Call> {
    let Some((name, arguments)) = command(statement, text) else { return Vec::new() };
    let format = format(arguments, text).filter(|_| name == "printf").map(|it| range(it.span));
    let spans = arguments.iter().map(|it| range(it.span));
    spans
        .filter(|it| Some(it) != format.as_ref() && splats(&text[it.clone()]).next().is_some())
        .map(|argument| Call { name: name.clone(), argument })
        .collect()
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
