//! Walks what a script is made of: its sequences and statements, those in words and in other statements included.
//!
//! Left out is what here-documents and the operands of expansions hold.

use std::borrow::Cow;
use std::ops::Range;

use shuck_ast::{
    Assignment, AssignmentValue, Command, CompoundCommand, DeclOperand, Redirect, Span, Stmt, StmtSeq, Word,
    WordPart, WordPartNode,
};

/// Part of a script.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Sequence(&'a StmtSeq),
    Statement(&'a Stmt),
    /// Statements in `$(…)` or `<(…)`, whose output the shell takes.
    Substitution(&'a StmtSeq),
}

/// Called for each part, the outer ones first.
pub(crate) type Visit<'v, 'a> = &'v mut dyn FnMut(Node<'a>);

pub(crate) fn walk<'a>(sequence: &'a StmtSeq, visit: Visit<'_, 'a>) {
    visit(Node::Sequence(sequence));
    sequence.iter().for_each(|it| walk_statement(it, visit));
}

pub(crate) fn walk_statement<'a>(statement: &'a Stmt, visit: Visit<'_, 'a>) {
    visit(Node::Statement(statement));
    statement.redirects.iter().filter_map(Redirect::word_target).for_each(|it| walk_word(it, visit));
    match &statement.command {
        Command::Simple(it) => {
            assignments(&it.assignments, visit);
            walk_word(&it.name, visit);
            it.args.iter().for_each(|it| walk_word(it, visit));
        }
        Command::Decl(it) => {
            assignments(&it.assignments, visit);
            it.operands.iter().for_each(|it| operand(it, visit));
        }
        Command::Binary(it) => [&it.left, &it.right].into_iter().for_each(|it| walk_statement(it, visit)),
        Command::Compound(it) => compound(it, visit),
        Command::Function(it) => walk_statement(&it.body, visit),
        Command::AnonymousFunction(it) => walk_statement(&it.body, visit),
        Command::Builtin(_) => {}
    }
}

fn compound<'a>(command: &'a CompoundCommand, visit: Visit<'_, 'a>) {
    match command {
        CompoundCommand::If(it) => {
            [&it.condition, &it.then_branch].into_iter().for_each(|it| walk(it, visit));
            let others = it.elif_branches.iter().flat_map(|it| [&it.0, &it.1]);
            others.chain(&it.else_branch).for_each(|it| walk(it, visit));
        }
        CompoundCommand::While(it) => [&it.condition, &it.body].into_iter().for_each(|it| walk(it, visit)),
        CompoundCommand::Until(it) => [&it.condition, &it.body].into_iter().for_each(|it| walk(it, visit)),
        CompoundCommand::For(it) => {
            it.words.iter().flatten().for_each(|it| walk_word(it, visit));
            walk(&it.body, visit);
        }
        CompoundCommand::Case(it) => {
            walk_word(&it.word, visit);
            it.cases.iter().for_each(|it| walk(&it.body, visit));
        }
        CompoundCommand::Subshell(body) | CompoundCommand::BraceGroup(body) => walk(body, visit),
        CompoundCommand::Repeat(it) => walk(&it.body, visit),
        CompoundCommand::Foreach(it) => walk(&it.body, visit),
        CompoundCommand::Select(it) => walk(&it.body, visit),
        CompoundCommand::ArithmeticFor(it) => walk(&it.body, visit),
        CompoundCommand::Always(it) => {
            [&it.body, &it.always_body].into_iter().for_each(|it| walk(it, visit));
        }
        CompoundCommand::Coproc(it) => walk_statement(&it.body, visit),
        CompoundCommand::Time(it) => it.command.iter().for_each(|it| walk_statement(it, visit)),
        CompoundCommand::Arithmetic(_) | CompoundCommand::Conditional(_) => {}
    }
}

fn operand<'a>(operand: &'a DeclOperand, visit: Visit<'_, 'a>) {
    match operand {
        DeclOperand::Flag(it) | DeclOperand::Dynamic(it) => walk_word(it, visit),
        DeclOperand::Assignment(it) => assignments(std::slice::from_ref(it), visit),
        DeclOperand::Name(_) => {}
    }
}

fn assignments<'a>(all: &'a [Assignment], visit: Visit<'_, 'a>) {
    for it in all {
        match &it.value {
            AssignmentValue::Scalar(it) => walk_word(it, visit),
            AssignmentValue::Compound(it) => {
                it.elements.iter().for_each(|it| parts(&it.value().word.parts, visit));
            }
        }
    }
}

/// Values of assignments, those of an array's elements left out.
pub(crate) fn assigned_words(all: &[Assignment]) -> impl Iterator<Item = &Word> {
    all.iter().filter_map(|it| match &it.value {
        AssignmentValue::Scalar(it) => Some(it),
        AssignmentValue::Compound(_) => None,
    })
}

pub(crate) fn walk_word<'a>(word: &'a Word, visit: Visit<'_, 'a>) {
    parts(&word.parts, visit);
}

fn parts<'a>(all: &'a [WordPartNode], visit: Visit<'_, 'a>) {
    for it in all {
        match &it.kind {
            WordPart::DoubleQuoted { parts: inner, .. } => parts(inner, visit),
            WordPart::CommandSubstitution { body, .. } | WordPart::ProcessSubstitution { body, .. } => {
                visit(Node::Substitution(body));
                walk(body, visit);
            }
            _ => {}
        }
    }
}

/// The statements of a script by the places where they begin, the outer ones first.
pub(crate) struct Statements<'a>(Vec<&'a Stmt>);

impl<'a> Statements<'a> {
    pub(crate) fn of(sequence: &'a StmtSeq) -> Self {
        let mut all = Vec::new();
        walk(sequence, &mut |it| {
            if let Node::Statement(it) = it {
                all.push(it);
            }
        });
        all.sort_by_key(|it| it.span.start.offset());
        Self(all)
    }

    /// Offset of the first statement.
    pub(crate) fn first(&self) -> Option<usize> {
        self.0.first().map(|it| it.span.start.offset())
    }

    /// The outermost one that begins at a place.
    pub(crate) fn beginning(&self, at: usize) -> Option<&'a Stmt> {
        let before = self.0.partition_point(|it| it.span.start.offset() < at);
        self.0.get(before).copied().filter(|it| it.span.start.offset() == at)
    }

    /// The innermost statement around a place.
    pub(crate) fn at(&self, at: usize) -> Option<&'a Stmt> {
        let begun = self.0.partition_point(|it| it.span.start.offset() <= at);
        self.0[..begun].iter().rev().copied().find(|it| range(it.span).contains(&at))
    }
}

/// Name of the command that a statement runs, if it is written out.
pub(crate) fn command_name<'a>(statement: &'a Stmt, text: &'a str) -> Option<Cow<'a, str>> {
    match &statement.command {
        Command::Simple(it) => it.name.try_static_text(text),
        Command::Decl(it) => Some(Cow::Borrowed(it.variant.as_str())),
        _ => None,
    }
}

pub(crate) fn range(span: Span) -> Range<usize> {
    span.start.offset()..span.end.offset()
}
