//! End of a script before the end of its text: the rest after an `exec` of another program may be Tcl, Perl or an archive.

use shuck_ast::{
    BinaryOp, BuiltinCommand, Command, CompoundCommand, File, IfCommand, Stmt, StmtSeq, StmtTerminator,
};

/// Whether no shell reads as far as a place of the text, which the parser read until there.
pub(crate) fn ends_before(file: &File, text: &str, at: usize) -> bool {
    let before = file.body.iter().take_while(|it| it.span.end.offset() <= at);
    before.into_iter().any(|it| leaves(it, text))
}

fn leaves(stmt: &Stmt, text: &str) -> bool {
    if stmt.negated || matches!(stmt.terminator, Some(StmtTerminator::Background(_))) {
        return false;
    }
    match &stmt.command {
        Command::Builtin(BuiltinCommand::Exit(_)) => true,
        Command::Simple(it) => {
            let name = it.name.try_static_text(text);
            let first = it.args.first().map(|it| it.try_static_text(text));
            match name.as_deref() {
                // `exec` without a command only redirects.
                Some("exec") => first.is_some(),
                Some("eval") => first.flatten().is_some_and(|it| it.starts_with("exec ")),
                _ => false,
            }
        }
        Command::Binary(it) => matches!(it.op, BinaryOp::And | BinaryOp::Or) && leaves(&it.left, text),
        Command::Compound(CompoundCommand::BraceGroup(body)) => one_leaves(body, text),
        Command::Compound(CompoundCommand::If(it)) => all_branches_leave(it, text),
        _ => false,
    }
}

fn one_leaves(body: &StmtSeq, text: &str) -> bool {
    body.iter().any(|it| leaves(it, text))
}

fn all_branches_leave(it: &IfCommand, text: &str) -> bool {
    let branches = it.elif_branches.iter().map(|it| &it.1).chain([&it.then_branch]);
    it.else_branch.iter().chain(branches).all(|it| one_leaves(it, text)) && it.else_branch.is_some()
}
