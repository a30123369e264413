//! Scripts that define functions for other scripts. A function's `local` variables are visible in all that it calls, and a
//! library may call functions of the scripts that read it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use shuck_ast::{BinaryOp, BuiltinCommand, Command, File, Stmt};

use crate::tree::{Node, command_name, range, walk};

/// Commands that change what the shell does, and do nothing else.
const SETTING: [&str; 6] = [":", "alias", "set", "shopt", "true", "umask"];

/// Commands that are no functions of other scripts.
const PROGRAMS: [&str; 60] = [
    "[", "awk", "basename", "bc", "break", "builtin", "cat", "cd", "chmod", "chown", "continue", "cp",
    "curl", "cut", "date", "declare", "diff", "dirname", "echo", "env", "exec", "exit", "export", "expr",
    "false", "find", "git", "grep", "head", "kill", "let", "ln", "local", "ls", "mapfile", "mkdir", "mktemp",
    "mv", "printf", "ps", "pwd", "read", "readonly", "return", "rm", "rmdir", "sed", "shift", "sleep",
    "sort", "tail", "tar", "tee", "test", "touch", "tr", "uniq", "unset", "wc", "xargs",
];

/// Whether a place is in a function of a library from where functions of other scripts may be called.
pub(crate) fn leads_to_others(at: usize, file: &File, text: &str) -> bool {
    is_library(file, text) && Calls::of(file, text).lead_out(at)
}

/// Whether a script defines functions and runs none of them.
fn is_library(file: &File, text: &str) -> bool {
    let is_function = |it: &Stmt| matches!(it.command, Command::Function(_));
    file.body.iter().all(|it| is_function(it) || only_sets(it, text))
}

/// Whether a statement sets variables or options, or has a script that was read before return at once.
fn only_sets(statement: &Stmt, text: &str) -> bool {
    match &statement.command {
        Command::Decl(_) => true,
        Command::Simple(it) => {
            let name = command_name(statement, text);
            it.name.render_syntax(text).is_empty() || name.is_some_and(|it| SETTING.contains(&&*it))
        }
        Command::Binary(it) if matches!(it.op, BinaryOp::And | BinaryOp::Or) => {
            matches!(it.right.command, Command::Builtin(BuiltinCommand::Return(_)))
        }
        _ => false,
    }
}

/// Calls that the functions of a script make.
#[derive(Default)]
struct Calls {
    functions: HashMap<String, Range<usize>>,
    /// With the places; a name that is not written out is empty.
    all: Vec<(String, usize)>,
}

impl Calls {
    fn of(file: &File, text: &str) -> Self {
        let mut calls = Self::default();
        walk(&file.body, &mut |it| {
            let Node::Statement(it) = it else { return };
            match &it.command {
                Command::Function(it) => {
                    let names = it.static_names().map(|it| it.as_str().to_owned());
                    calls.functions.extend(names.map(|name| (name, range(it.span))));
                }
                Command::Simple(simple) if !simple.name.render_syntax(text).is_empty() => {
                    let name = command_name(it, text).unwrap_or_default();
                    calls.all.push((name.into_owned(), range(it.span).start));
                }
                _ => {}
            }
        });
        calls
    }

    /// Whether a command in the function around a place may be a function of another script.
    fn lead_out(&self, at: usize) -> bool {
        let mut open: Vec<&Range<usize>> = self.functions.values().filter(|it| it.contains(&at)).collect();
        let mut seen = HashSet::new();
        while let Some(body) = open.pop() {
            for (name, _) in self.all.iter().filter(|it| body.contains(&it.1)) {
                match self.functions.get(name) {
                    Some(inner) if seen.insert(name) => open.push(inner),
                    None if !PROGRAMS.contains(&name.as_str()) => return true,
                    _ => {}
                }
            }
        }
        false
    }
}
