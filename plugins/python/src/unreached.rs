//! Code that no supported version of Python gets to: under a condition on the version that does not hold in any of them
//! (`if sys.version_info[0] < 3:`), or behind one that always leaves the block.
//!
//! Names of Python 2 (`reload`, `unicode`) are no mistake there.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprBoolOp, ExprIf, ModModule, PythonVersion, Stmt, StmtIf};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::handled::{leaves, range};
use crate::ranges::Ranges;
use crate::version::Conditions;

/// The places that are not reached from `oldest` on.
pub(crate) fn find(module: &ModModule, oldest: PythonVersion) -> Ranges {
    let mut search = Search { conditions: Conditions::new(module, oldest), unreached: Vec::new() };
    search.visit_body(&module.body);
    search.unreached.into_iter().collect()
}

struct Search<'a> {
    conditions: Conditions<'a>,
    unreached: Vec<TextRange>,
}

impl<'a> Search<'a> {
    /// Notes the branches that are never taken. The result is whether the version decides that what follows is not reached.
    fn branches(&mut self, stmt: &'a StmtIf) -> bool {
        let (mut is_known, mut is_decided, mut leaves_all) = (false, false, true);
        for (test, body, whole) in branches(stmt) {
            if is_decided {
                self.unreached.push(whole);
                continue;
            }
            let holds = test.and_then(|it| self.conditions.holds(it));
            is_known |= holds.is_some();
            if holds == Some(false) {
                self.unreached.extend(range(body));
            } else {
                is_decided = test.is_none() || holds == Some(true);
                leaves_all &= leaves(body);
            }
        }
        is_known && is_decided && leaves_all
    }

    /// `PY2 and isinstance(text, unicode)`.
    fn operands(&mut self, expr: &'a ExprBoolOp) {
        let decisive = expr.op.is_or();
        let is_decisive = |it: &Expr| self.conditions.holds(it) == Some(decisive);
        if let Some(last) = expr.values.iter().position(is_decisive) {
            self.unreached.extend(expr.values[last + 1..].iter().map(Ranged::range));
        }
    }

    /// `unicode(text) if PY2 else text`.
    fn choice(&mut self, expr: &'a ExprIf) {
        match self.conditions.holds(&expr.test) {
            Some(true) => self.unreached.push(expr.orelse.range()),
            Some(false) => self.unreached.push(expr.body.range()),
            None => {}
        }
    }
}

impl<'a> Visitor<'a> for Search<'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        let end = range(body).map_or_else(TextSize::default, TextRange::end);
        for stmt in body {
            if stmt.as_if_stmt().is_some_and(|it| self.branches(it)) {
                self.unreached.push(TextRange::new(stmt.end(), end));
            }
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::BoolOp(it) => self.operands(it),
            Expr::If(it) => self.choice(it),
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

/// The condition of each branch, its body, and the whole of it.
fn branches(stmt: &StmtIf) -> impl Iterator<Item = (Option<&Expr>, &[Stmt], TextRange)> {
    let others = stmt.elif_else_clauses.iter().map(|it| (it.test.as_ref(), &*it.body, it.range()));
    std::iter::once((Some(&*stmt.test), &*stmt.body, stmt.range())).chain(others)
}
