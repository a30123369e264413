//! Expressions that `except` may catch: exceptions, tuples of them, values unpacked into one, sums of tuples, and conditional
//! expressions of all these, which ruff does not look through.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, ExprBinOp, ModModule, Operator};
use ruff_text_size::{Ranged, TextRange};

use crate::ranges::Ranges;

/// Position of an expression.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// After `except`, or in a sum there.
    Whole,
    /// Element of a tuple, which must not have tuples in it.
    Element,
    /// After a `*`, where anything iterable may be.
    Unpacked,
}

/// The expressions of a module's handlers that may well be exceptions.
pub(crate) fn exceptions(module: &ModModule) -> Ranges {
    let mut search = Search::default();
    search.visit_body(&module.body);
    search.right.into_iter().collect()
}

#[derive(Default)]
struct Search {
    right: Vec<TextRange>,
}

impl Search {
    fn add(&mut self, expr: &Expr, position: Position) {
        if may_be_caught(expr, position) {
            self.right.push(expr.range());
            return;
        }
        for (part, position) in parts(expr, position).unwrap_or_default() {
            self.add(part, position);
        }
    }
}

impl Visitor<'_> for Search {
    fn visit_except_handler(&mut self, handler: &ExceptHandler) {
        let ExceptHandler::ExceptHandler(it) = handler;
        if let Some(expr) = &it.type_ {
            self.add(expr, Position::Whole);
        }
        visitor::walk_except_handler(self, handler);
    }
}

fn may_be_caught(expr: &Expr, position: Position) -> bool {
    parts(expr, position).is_some_and(|it| it.into_iter().all(|(it, position)| may_be_caught(it, position)))
}

/// The parts that decide whether an expression may be caught; none if it may not whatever they are.
fn parts(expr: &Expr, position: Position) -> Option<Vec<(&Expr, Position)>> {
    use Position::{Element, Unpacked};
    match expr {
        Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_) | Expr::Subscript(_) | Expr::Await(_) => {
            Some(vec![])
        }
        Expr::If(it) => Some(vec![(&*it.body, position), (&*it.orelse, position)]),
        Expr::Named(it) => Some(vec![(&*it.value, position)]),
        Expr::Starred(it) if position == Element => Some(vec![(&*it.value, Unpacked)]),
        Expr::BinOp(ExprBinOp { left, right, op: Operator::Add, .. }) if position != Element => {
            Some(vec![(&**left, position), (&**right, position)])
        }
        Expr::Tuple(it) if position != Element => Some(elements(&it.elts)),
        Expr::List(it) if position == Unpacked => Some(elements(&it.elts)),
        Expr::Set(it) if position == Unpacked => Some(elements(&it.elts)),
        Expr::ListComp(it) if position == Unpacked => Some(vec![(&*it.elt, Element)]),
        Expr::SetComp(it) if position == Unpacked => Some(vec![(&*it.elt, Element)]),
        Expr::Generator(it) if position == Unpacked => Some(vec![(&*it.elt, Element)]),
        _ => None,
    }
}

fn elements(elements: &[Expr]) -> Vec<(&Expr, Position)> {
    elements.iter().map(|it| (it, Position::Element)).collect()
}
