//! Places where a script's output does not go to the script's own standard output.

use std::collections::HashSet;
use std::ops::Range;

use shuck_ast::{BinaryOp, Command, File, Redirect, RedirectKind, Stmt};

use crate::tree::{Node, command_name, range, walk};

/// The parts of a script whose output something else takes, or may.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    /// Apart from each other, in their order, once all are known.
    taken: Vec<Range<usize>>,
    functions: Vec<(String, Range<usize>)>,
    calls: Vec<(String, usize)>,
}

impl Outputs {
    pub(crate) fn of(file: &File, text: &str) -> Self {
        let mut outputs = Self::default();
        walk(&file.body, &mut |it| match it {
            Node::Statement(it) => outputs.statement(it, text),
            Node::Substitution(it) => outputs.taken.push(range(it.span)),
            Node::Sequence(_) => {}
        });
        outputs.follow_calls();
        outputs
    }

    pub(crate) fn is_taken(&self, at: usize) -> bool {
        let begun = self.taken.partition_point(|it| it.start <= at);
        begun.checked_sub(1).is_some_and(|it| self.taken[it].contains(&at))
    }

    fn statement(&mut self, statement: &Stmt, text: &str) {
        let leads_away = statement.redirects.iter().any(is_of_output);
        match &statement.command {
            Command::Binary(it) if matches!(it.op, BinaryOp::Pipe | BinaryOp::PipeAll) => {
                self.taken.push(range(it.left.span));
            }
            Command::Function(it) => {
                let names = it.static_names().map(|it| it.as_str().to_owned());
                self.functions.extend(names.map(|name| (name, range(it.span))));
            }
            Command::Simple(it) => {
                let Some(name) = command_name(statement, text) else { return };
                if name == "exec" && it.args.is_empty() && leads_away {
                    self.taken.push(statement.span.end.offset()..text.len());
                }
                self.calls.push((name.into_owned(), it.span.start.offset()));
            }
            Command::Compound(_) if leads_away => self.taken.push(range(statement.span)),
            _ => {}
        }
    }

    /// Functions that are called where the output is taken, and those that other scripts may call.
    fn follow_calls(&mut self) {
        let called: HashSet<String> = self.calls.iter().map(|it| it.0.clone()).collect();
        let mut left = std::mem::take(&mut self.functions);
        loop {
            self.taken = merged(std::mem::take(&mut self.taken));
            let calls = self.calls.iter().filter(|it| self.is_taken(it.1));
            let captured: HashSet<&str> = calls.map(|it| it.0.as_str()).collect();
            let is_captured = |name: &str| !called.contains(name) || captured.contains(name);
            let (captured, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|it| is_captured(&it.0));
            if captured.is_empty() {
                return;
            }
            self.taken.extend(captured.into_iter().map(|it| it.1));
            left = others;
        }
    }
}

/// Ranges in their order, those that touch as one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|it| it.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for it in ranges {
        match merged.last_mut().filter(|last| it.start <= last.end) {
            Some(last) => last.end = last.end.max(it.end),
            None => merged.push(it),
        }
    }
    merged
}

/// Whether a redirection is one of the standard output.
pub(crate) fn is_of_output(it: &Redirect) -> bool {
    let is_standard = it.fd.unwrap_or(1) == 1 && it.fd_var.is_none();
    let is_output = matches!(
        it.kind,
        RedirectKind::Output | RedirectKind::Clobber | RedirectKind::Append | RedirectKind::DupOutput
    );
    is_standard && is_output || it.kind == RedirectKind::OutputBoth
}
