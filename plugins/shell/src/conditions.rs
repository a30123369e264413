//! Conditions of a script: the places of its loops' conditions, and whether one depends on which shell runs the script.
//!
//! Left out are here-documents, and variables that take over what another one says of the shell.

use std::ops::Range;

use shuck_ast::{
    BinaryCommand, BinaryOp, BourneParameterExpansion, Command, CompoundCommand, ConditionalExpr,
    DeclOperand, File, ParameterOp, Stmt, StmtSeq, VarRef, Word, WordPart, WordPartNode,
};

use crate::false_positives::words;
use crate::tree::{Node, assigned_words, command_name, range, walk};

/// Variables that one shell sets and others do not.
const OF_ONE_SHELL: [&str; 7] =
    ["BASH", "BASH_VERSINFO", "BASH_VERSION", "KSH_VERSION", "YASH_VERSION", "ZSH_NAME", "ZSH_VERSION"];

/// Beginnings of their names. That such a variable is set says which shell it is.
const PREFIXES: [&str; 3] = ["BASH_", "KSH_", "ZSH_"];

/// Returns the ranges of the conditions of loops.
pub(crate) fn loop_conditions(file: &File) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(&file.body, &mut |it| {
        let Node::Statement(Stmt { command: Command::Compound(it), .. }) = it else { return };
        found.extend(loop_condition(it).map(|it| range(it.span)));
    });
    found
}

fn loop_condition(command: &CompoundCommand) -> Option<&StmtSeq> {
    match command {
        CompoundCommand::While(it) => Some(&it.condition),
        CompoundCommand::Until(it) => Some(&it.condition),
        _ => None,
    }
}

/// Whether a condition of the script depends on the shell that runs it: `[ -n "$BASH_VERSION" ]`.
pub(crate) fn ask_shell(file: &File, text: &str) -> bool {
    let mut search = Search { text, places: Vec::new(), is_asked: false };
    walk(&file.body, &mut |it| {
        if let Node::Statement(it) = it {
            search.statement(it);
        }
    });
    search.is_asked || search.is_in_condition(file)
}

/// The expansions that say which shell it is.
struct Search<'a> {
    text: &'a str,
    places: Vec<usize>,
    /// Whether an expression depends on the shell wherever it is: `${BASH_VERSION:+yes}`, `(( BASH_VERSINFO > 3 ))`.
    is_asked: bool,
}

impl Search<'_> {
    fn statement(&mut self, statement: &Stmt) {
        match &statement.command {
            Command::Simple(it) => {
                assigned_words(&it.assignments)
                    .chain([&it.name])
                    .chain(&it.args)
                    .for_each(|it| self.word(it));
            }
            Command::Decl(it) => it.operands.iter().for_each(|it| match it {
                DeclOperand::Flag(it) | DeclOperand::Dynamic(it) => self.word(it),
                DeclOperand::Assignment(it) => {
                    assigned_words(std::slice::from_ref(it)).for_each(|it| self.word(it));
                }
                DeclOperand::Name(_) => {}
            }),
            Command::Compound(CompoundCommand::Case(it)) => self.word(&it.word),
            Command::Compound(CompoundCommand::Conditional(it)) => self.expression(&it.expression),
            Command::Compound(CompoundCommand::Arithmetic(it)) => {
                let mut names = words(&self.text[range(it.span)]).map(|it| it.1);
                self.is_asked |= names.any(|it| OF_ONE_SHELL.contains(&it));
            }
            _ => {}
        }
    }

    /// Part of a `[[ … ]]`.
    fn expression(&mut self, expression: &ConditionalExpr) {
        match expression {
            ConditionalExpr::Binary(it) => {
                [&it.left, &it.right].into_iter().for_each(|it| self.expression(it));
            }
            ConditionalExpr::Unary(it) => self.expression(&it.expr),
            ConditionalExpr::Parenthesized(it) => self.expression(&it.expr),
            ConditionalExpr::Word(it) | ConditionalExpr::Regex(it) => self.word(it),
            ConditionalExpr::VarRef(it) => self.reference(it, it.span.start.offset()),
            ConditionalExpr::Pattern(_) => {}
        }
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPartNode]) {
        for it in parts {
            let at = it.span.start.offset();
            match &it.kind {
                WordPart::DoubleQuoted { parts, .. } => self.parts(parts),
                WordPart::Variable(name) => self.name(name.as_str(), false, at),
                WordPart::Parameter(it) => it.bourne().into_iter().for_each(|it| self.expansion(it, at)),
                _ => {}
            }
        }
    }

    fn expansion(&mut self, expansion: &BourneParameterExpansion, at: usize) {
        use BourneParameterExpansion::{Access, Length, Operation, Slice, Transformation};
        match expansion {
            Operation { reference, operator, .. } => {
                let is_of_shell = is_of_one_shell(reference.name.as_str()) && reference.subscript.is_none();
                self.is_asked |= is_of_shell && matches!(**operator, ParameterOp::UseReplacement);
                self.reference(reference, at);
            }
            Access { reference }
            | Length { reference }
            | Slice { reference, .. }
            | Transformation { reference, .. } => self.reference(reference, at),
            _ => {}
        }
        expansion.operand_word_ast().into_iter().for_each(|it| self.word(it));
    }

    fn reference(&mut self, it: &VarRef, at: usize) {
        self.name(it.name.as_str(), it.subscript.is_some(), at);
    }

    fn name(&mut self, name: &str, is_element: bool, at: usize) {
        let before = self.text[..at].trim_end_matches('"').trim_end();
        let is_test_of_text = before.ends_with("-n") || before.ends_with("-z");
        if OF_ONE_SHELL.contains(&name) || is_test_of_text && !is_element && is_of_one_shell(name) {
            self.places.push(at);
        }
    }

    /// Whether one of the places is in a condition or a test.
    fn is_in_condition(&self, file: &File) -> bool {
        let mut is_found = false;
        walk(&file.body, &mut |it| {
            if let Node::Statement(it) = it
                && !self.places.is_empty()
                && !is_found
            {
                let conditions = conditions(it, self.text);
                is_found = self.places.iter().any(|at| conditions.iter().any(|it| it.contains(at)));
            }
        });
        is_found
    }
}

fn is_of_one_shell(name: &str) -> bool {
    OF_ONE_SHELL.contains(&name) || PREFIXES.iter().any(|it| name.starts_with(it))
}

/// The parts of a statement that decide what runs: its condition, or all of a test.
fn conditions(statement: &Stmt, text: &str) -> Vec<Range<usize>> {
    match &statement.command {
        Command::Binary(it) => decider(it, text).map(|it| range(it.span)).into_iter().collect(),
        Command::Compound(CompoundCommand::Conditional(it)) => vec![range(it.span)],
        Command::Compound(CompoundCommand::Case(it)) => vec![range(it.word.span)],
        Command::Compound(CompoundCommand::If(it)) => {
            let others = it.elif_branches.iter().map(|it| &it.0);
            others.chain([&it.condition]).map(|it| range(it.span)).collect()
        }
        Command::Compound(it) => loop_condition(it).map(|it| range(it.span)).into_iter().collect(),
        _ => match command_name(statement, text).as_deref() {
            Some("[" | "test" | "expr") => vec![range(statement.span)],
            _ => Vec::new(),
        },
    }
}

/// The command before `&&` or `||`; one that prints decides nothing.
fn decider<'a>(it: &'a BinaryCommand, text: &str) -> Option<&'a Stmt> {
    let mut left = matches!(it.op, BinaryOp::And | BinaryOp::Or).then_some(&*it.left)?;
    while let Command::Binary(it) = &left.command
        && matches!(it.op, BinaryOp::And | BinaryOp::Or)
    {
        left = &it.right;
    }
    (!matches!(command_name(left, text).as_deref(), Some("echo" | "printf"))).then_some(left)
}
