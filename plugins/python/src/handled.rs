//! Names whose absence is handled: after `try: name` whose `except NameError` leaves the block, and where a `NameError` is
//! expected or suppressed.
//!
//! Only handlers that name `NameError` count, as for ruff and pyflakes: `except:`, `except Exception` and `raises(Exception)`
//! take it as well, and with it each misspelled name.

use ruff_python_ast::helpers::map_callable;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, ExprCall, ModModule, Stmt, StmtTry, StmtWith};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ranges::Ranges;

/// The exception of a name that is missing.
const ERROR: &str = "NameError";

/// Exceptions whose handlers catch a `NameError`. The first such handler catches it, and later ones do not get it.
const CATCHING: [&str; 3] = [ERROR, "Exception", "BaseException"];

/// Keyword of functions that expect an exception.
const EXPECTED: &str = "expected_exception";

/// Functions that do not return.
const EXITS: [&str; 4] = ["exit", "_exit", "quit", "abort"];

/// Places of a module where names may be missing.
pub(crate) struct Handled<'a> {
    /// Blocks and functions in which a `NameError` is expected or suppressed.
    expecting: Ranges,
    /// Places where a name exists, since the code before has read it.
    proved: FxHashMap<&'a str, Ranges>,
}

impl<'a> Handled<'a> {
    pub(crate) fn of(module: &'a ModModule) -> Self {
        let mut search = Search::default();
        search.visit_body(&module.body);
        Self {
            expecting: search.expecting.into_iter().collect(),
            proved: search.proved.into_iter().map(|(name, it)| (name, it.into_iter().collect())).collect(),
        }
    }

    /// Whether the code handles that `name` may be missing where it is read at `place`.
    pub(crate) fn has(&self, name: &str, place: TextRange) -> bool {
        self.expecting.contain(place) || self.proved.get(name).is_some_and(|it| it.contain(place))
    }
}

/// Walk over a module that notes each such place once.
#[derive(Default)]
struct Search<'a> {
    expecting: Vec<TextRange>,
    proved: FxHashMap<&'a str, Vec<TextRange>>,
}

impl<'a> Search<'a> {
    /// Notes where the names exist that a `try` reads, in a block with this end.
    fn prove(&mut self, stmt: &'a StmtTry, end: TextSize) {
        let Some(handler) = catcher(stmt) else { return };
        let after = leaves(handler).then(|| TextRange::new(stmt.end(), end));
        let orelse = range(&stmt.orelse);
        for name in names_read(&stmt.body) {
            self.proved.entry(name).or_default().extend(after.into_iter().chain(orelse));
        }
    }

    /// Notes what comes after `raises(NameError)` or its like in a `with`.
    fn expect(&mut self, with: &StmtWith) {
        let call = |it: &Expr| it.as_call_expr().is_some_and(is_expecting);
        let item = with.items.iter().find(|it| call(&it.context_expr));
        self.expecting.extend(item.map(|it| TextRange::new(it.end(), with.end())));
    }
}

impl<'a> Visitor<'a> for Search<'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        let end = range(body).map_or_else(TextSize::default, TextRange::end);
        for stmt in body {
            match stmt {
                Stmt::Try(it) => self.prove(it, end),
                Stmt::With(it) => self.expect(it),
                _ => {}
            }
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        // Other arguments are evaluated before the call.
        if let Some(call) = expr.as_call_expr().filter(|it| is_expecting(it)) {
            let functions = call.arguments.args.iter().filter_map(Expr::as_lambda_expr);
            self.expecting.extend(functions.map(|it| it.body.range()));
        }
        visitor::walk_expr(self, expr);
    }
}

pub(crate) fn range(body: &[Stmt]) -> Option<TextRange> {
    Some(TextRange::new(body.first()?.start(), body.last()?.end()))
}

/// The body of the handler that a `NameError` gets to, if it names it.
fn catcher(stmt: &StmtTry) -> Option<&[Stmt]> {
    let mut handlers = stmt.handlers.iter().map(|ExceptHandler::ExceptHandler(it)| it);
    let first = handlers.find(|it| it.type_.as_deref().is_none_or(|it| names(it, &CATCHING)))?;
    first.type_.as_deref().is_some_and(|it| names(it, &[ERROR])).then_some(&*first.body)
}

/// Whether an exception, or one of a tuple, is one of `exceptions`.
pub(crate) fn names(expr: &Expr, exceptions: &[&str]) -> bool {
    match expr {
        Expr::Tuple(it) => it.elts.iter().any(|it| names(it, exceptions)),
        _ => exceptions.contains(&last_name(expr)),
    }
}

/// Whether the end of the block is never reached.
pub(crate) fn leaves(body: &[Stmt]) -> bool {
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

/// The names that the block reads wherever it gets to its end.
fn names_read(body: &[Stmt]) -> FxHashSet<&str> {
    let mut reads = Reads::default();
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
    reads.names
}

/// Search for names in what is evaluated in any case.
#[derive(Default)]
struct Reads<'a> {
    names: FxHashSet<&'a str>,
}

impl<'a> Visitor<'a> for Reads<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) if it.ctx.is_load() => _ = self.names.insert(it.id.as_str()),
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
fn is_expecting(call: &ExprCall) -> bool {
    let arguments = &call.arguments;
    let count = match last_name(&call.func) {
        // Arguments after the exception are for the function that is called.
        "raises" | "assertRaises" | "assertRaisesRegex" => 1,
        "suppress" => arguments.args.len(),
        _ => return false,
    };
    let keyword = arguments.find_keyword(EXPECTED).map(|it| &it.value);
    arguments.args.iter().take(count).chain(keyword).any(|it| names(it, &[ERROR]))
}

/// The last part of a dotted name.
pub(crate) fn last_name(expr: &Expr) -> &str {
    match expr {
        Expr::Name(it) => &it.id,
        Expr::Attribute(it) => &it.attr,
        _ => "",
    }
}
