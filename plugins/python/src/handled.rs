//! Names whose absence is handled: after `try: name` whose `except NameError` leaves the block, and where a `NameError` is
//! expected or suppressed.

use ruff_python_ast::helpers::map_callable;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, ExprCall, Stmt, StmtTry};
use ruff_text_size::{Ranged, TextRange};

/// Functions that are given exceptions which do not matter, or must come.
const EXPECTING: [&str; 4] = ["raises", "assertRaises", "assertRaisesRegex", "suppress"];

/// Functions that do not return.
const EXITS: [&str; 4] = ["exit", "_exit", "quit", "abort"];

/// Whether the absence of `name` is handled where it is read at `place`.
pub(crate) fn is_handled(body: &[Stmt], name: &str, place: TextRange) -> bool {
    let mut search = Search { name, place, is_handled: false };
    search.visit_body(body);
    search.is_handled
}

/// Way down to the place where the name is read.
struct Search<'a> {
    name: &'a str,
    place: TextRange,
    is_handled: bool,
}

impl Visitor<'_> for Search<'_> {
    fn visit_body(&mut self, body: &[Stmt]) {
        let Some(at) = body.iter().position(|it| it.range().contains_range(self.place)) else { return };
        self.is_handled |= body[..at].iter().any(|it| proves(it, self.name));
        self.visit_stmt(&body[at]);
    }

    fn visit_stmt(&mut self, stmt: &Stmt) {
        if !stmt.range().contains_range(self.place) {
            return;
        }
        self.is_handled |= match stmt {
            Stmt::Try(it) => {
                it.orelse.iter().any(|it| it.range().contains_range(self.place))
                    && evaluates(&it.body, self.name)
                    && catcher(it).is_some()
            }
            Stmt::With(it) => it.items.iter().any(|it| is_expecting(&it.context_expr)),
            _ => false,
        };
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if expr.range().contains_range(self.place) {
            self.is_handled |= is_expecting(expr);
            visitor::walk_expr(self, expr);
        }
    }
}

/// Whether the name exists after the statement.
fn proves(stmt: &Stmt, name: &str) -> bool {
    let Stmt::Try(it) = stmt else { return false };
    evaluates(&it.body, name) && catcher(it).is_some_and(leaves)
}

/// The body of the handler that a `NameError` gets to.
fn catcher(stmt: &StmtTry) -> Option<&[Stmt]> {
    stmt.handlers.iter().find_map(|ExceptHandler::ExceptHandler(it)| {
        it.type_.as_deref().is_none_or(takes_name_error).then_some(&*it.body)
    })
}

fn takes_name_error(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(it) => it.elts.iter().any(takes_name_error),
        _ => ["NameError", "Exception", "BaseException"].contains(&last_name(expr)),
    }
}

/// Whether the block never gets to its end.
fn leaves(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_) => true,
        Stmt::Expr(it) => it.value.is_call_expr() && EXITS.contains(&last_name(map_callable(&it.value))),
        Stmt::If(it) => {
            let has_else = it.elif_else_clauses.last().is_some_and(|it| it.test.is_none());
            has_else && leaves(&it.body) && it.elif_else_clauses.iter().all(|it| leaves(&it.body))
        }
        _ => false,
    })
}

/// Whether the block reads the name wherever it gets to its end.
fn evaluates(body: &[Stmt], name: &str) -> bool {
    let mut reads = Reads { name, found: false };
    for stmt in body {
        match stmt {
            Stmt::Expr(_) | Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::Delete(_) => reads.visit_stmt(stmt),
            Stmt::AnnAssign(it) => it.value.iter().for_each(|it| reads.visit_expr(it)),
            Stmt::If(it) => reads.visit_expr(&it.test),
            Stmt::While(it) => reads.visit_expr(&it.test),
            Stmt::For(it) => reads.visit_expr(&it.iter),
            Stmt::With(it) => it.items.iter().for_each(|it| reads.visit_expr(&it.context_expr)),
            _ => {}
        }
    }
    reads.found
}

/// Search for a name in what is evaluated in any case.
struct Reads<'a> {
    name: &'a str,
    found: bool,
}

impl Visitor<'_> for Reads<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Name(it) => self.found |= it.ctx.is_load() && it.id == self.name,
            Expr::If(it) => self.visit_expr(&it.test),
            Expr::BoolOp(it) => it.values.iter().take(1).for_each(|it| self.visit_expr(it)),
            Expr::Lambda(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// `raises(NameError)`, `suppress(NameError)` and the like.
fn is_expecting(expr: &Expr) -> bool {
    let Expr::Call(ExprCall { func, arguments, .. }) = expr else { return false };
    EXPECTING.contains(&last_name(func)) && arguments.args.iter().any(takes_name_error)
}

/// The last part of a dotted name.
fn last_name(expr: &Expr) -> &str {
    match expr {
        Expr::Name(it) => &it.id,
        Expr::Attribute(it) => &it.attr,
        _ => "",
    }
}
