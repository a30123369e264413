//! Values assigned to `__all__`: ruff reports each one that it cannot infer to be a list or a tuple.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprBinOp, ModModule, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::ranges::Ranges;

const NAME: &str = "__all__";

/// Built-in functions whose result is neither a list nor a tuple.
const OTHERS: [&str; 21] = [
    "bool",
    "bytearray",
    "bytes",
    "dict",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "globals",
    "int",
    "iter",
    "len",
    "locals",
    "map",
    "print",
    "range",
    "repr",
    "reversed",
    "set",
    "str",
    "zip",
];

/// Returns the places where the value assigned to `__all__` may be a list or a tuple.
pub(crate) fn sequences(module: &ModModule) -> Ranges {
    let mut search = Search::default();
    search.visit_body(&module.body);
    search.right.into_iter().collect()
}

#[derive(Default)]
struct Search {
    right: Vec<TextRange>,
}

impl Visitor<'_> for Search {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        let (targets, is_right) = match stmt {
            Stmt::Assign(it) => (&*it.targets, may_be_sequence(&it.value)),
            Stmt::AnnAssign(it) => {
                (std::slice::from_ref(&*it.target), it.value.as_deref().is_none_or(may_be_sequence))
            }
            Stmt::AugAssign(it) => (std::slice::from_ref(&*it.target), may_be_added(&it.value)),
            _ => return visitor::walk_stmt(self, stmt),
        };
        let exported = targets.iter().filter(|it| it.as_name_expr().is_some_and(|it| it.id == NAME));
        self.right.extend(exported.map(Ranged::range).filter(|_| is_right));
    }
}

/// Whether the value is a list or a tuple, or its type is unknown.
fn may_be_sequence(expr: &Expr) -> bool {
    match expr {
        Expr::List(_) | Expr::Tuple(_) | Expr::ListComp(_) => true,
        Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::Await(_) => true,
        Expr::Call(it) => !it.func.as_name_expr().is_some_and(|it| OTHERS.contains(&it.id.as_str())),
        Expr::If(it) => may_be_sequence(&it.body) && may_be_sequence(&it.orelse),
        Expr::BoolOp(it) => it.values.iter().all(may_be_sequence),
        Expr::Named(it) => may_be_sequence(&it.value),
        Expr::BinOp(ExprBinOp { left, right, op: Operator::Add, .. }) => {
            may_be_sequence(left) && may_be_sequence(right)
        }
        Expr::BinOp(ExprBinOp { left, right, op: Operator::Mult, .. }) => {
            may_be_sequence(left) || may_be_sequence(right)
        }
        _ => false,
    }
}

/// Whether `+=` adds the value to a list: anything iterable, except for text, whose letters it would add.
fn may_be_added(expr: &Expr) -> bool {
    match expr {
        Expr::Set(_) | Expr::SetComp(_) | Expr::Generator(_) | Expr::Dict(_) | Expr::DictComp(_) => true,
        Expr::Call(_) => true,
        _ => may_be_sequence(expr),
    }
}
