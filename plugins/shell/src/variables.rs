//! Which variables a script sets, and how often it expands each.

use std::collections::{HashMap, HashSet};

use shuck_ast::{Assignment, AssignmentValue, Command, CompoundCommand, DeclOperand, File, Stmt};

use crate::closed::is_closed;
use crate::false_positives::words;
use crate::tree::{Node, range, walk};

/// The variables of a script.
#[derive(Default)]
pub(crate) struct Uses {
    set: HashSet<String>,
    expansions: HashMap<String, usize>,
    /// Other scripts, or names that are made while it runs, may set any.
    may_set_any: bool,
}

impl Uses {
    pub(crate) fn of(file: &File, text: &str) -> Self {
        let mut uses = Self { may_set_any: !is_closed(text), ..Self::default() };
        for (at, name) in words(text) {
            uses.word(at, name, text);
        }
        walk(&file.body, &mut |it| {
            if let Node::Statement(it) = it {
                uses.statement(it, text);
            }
        });
        uses
    }

    /// Whether a variable is never set to something, and expanded more than once.
    pub(crate) fn is_only_read(&self, name: &str) -> bool {
        let count = self.expansions.get(name).copied().unwrap_or_default();
        !self.may_set_any && !self.set.contains(name) && count > 1
    }

    fn word(&mut self, at: usize, name: &str, text: &str) {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        if !before.ends_with('$') && !before.ends_with("${") {
            return;
        }
        *self.expansions.entry(name.to_owned()).or_default() += 1;
        if before.ends_with('{') && (behind.starts_with(":=") || behind.starts_with('=')) {
            self.set.insert(name.to_owned());
        }
    }

    /// Adds the variables that a statement sets to something, or is given the names of.
    fn statement(&mut self, it: &Stmt, text: &str) {
        match &it.command {
            Command::Simple(it) => {
                it.assignments.iter().for_each(|it| self.assignment(it, text));
                let words = it.args.iter().filter_map(|it| it.try_static_text(text));
                self.set.extend(words.map(|it| it.trim_start_matches("-v").to_owned()));
            }
            Command::Decl(it) => it.operands.iter().for_each(|it| match it {
                DeclOperand::Assignment(it) => self.assignment(it, text),
                DeclOperand::Name(_) | DeclOperand::Flag(_) => {}
                DeclOperand::Dynamic(_) => self.may_set_any = true,
            }),
            Command::Compound(CompoundCommand::For(it)) => {
                let names = it.targets.iter().filter_map(|it| it.name.as_ref());
                self.set.extend(names.map(|it| it.as_str().to_owned()));
            }
            Command::Compound(CompoundCommand::Select(_) | CompoundCommand::Arithmetic(_)) => {
                self.set.extend(words(&text[range(it.span)]).map(|it| it.1.to_owned()));
            }
            _ => {}
        }
    }

    fn assignment(&mut self, it: &Assignment, text: &str) {
        let is_empty = match &it.value {
            AssignmentValue::Scalar(word) => word.try_static_text(text).is_some_and(|it| it.is_empty()),
            AssignmentValue::Compound(_) => false,
        };
        if !is_empty {
            self.set.insert(it.target.name.as_str().to_owned());
        }
    }
}
