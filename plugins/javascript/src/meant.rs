//! Findings of rules that are mistakes in some forms, and in others mostly meant, where no linter is configured.
//!
//! In some 9,000 files of packages these rules find 109 assignments in conditions, 36 of functions and 49 arrays with holes;
//! those that were read are all meant: loops over what a call gives, functions that replace themselves, lists that begin
//! with a hole. So only the form of each rule is told that has no such use.

use deno_ast::SourceRanged;
use deno_ast::swc::ast::{AssignOp, MethodKind};
use deno_ast::view::{
    ArrayLit, AssignExpr, AssignTarget, BlockStmt, Expr, Function, Lit, Node, NodeKind, NodeTrait, Stmt,
};

use crate::false_positives::jumps;

/// The rules that this is about.
pub(crate) const RULES: [&str; 6] = [
    "getter-return",
    "no-cond-assign",
    "no-ex-assign",
    "no-func-assign",
    "no-sparse-arrays",
    "require-yield",
];

/// Bytes between the elements around a hole: two commas and blanks.
const LONGEST_HOLE: usize = 6;

/// Addition to the description of each of the rules.
pub(crate) fn explanation(code: &str) -> &'static str {
    match code {
        "getter-return" => {
            " Where there is no deno.json, only getters are told that return a value in a branch and have nothing after an `if` \
             without `else`, or no jump at their end; `Object.defineProperty` and what has a return type are let pass."
        }
        "no-cond-assign" => {
            " Where there is no deno.json, only the assignment of a constant is told, and in an `if` or before `?` that of a variable."
        }
        "no-ex-assign" | "no-func-assign" => {
            " Where there is no deno.json, only the assignment of a string, a number, a boolean or a regular expression is told."
        }
        "no-sparse-arrays" => {
            " Where there is no deno.json, only a single hole between two elements is told."
        }
        "require-yield" => {
            " Where there is no deno.json, only declared functions that return a value and throw nothing are told."
        }
        _ => "",
    }
}

/// Whether the code that such a rule reports at a node may be meant.
pub(crate) fn may_be_meant(code: &str, node: Node<'_>) -> bool {
    match (code, node) {
        ("getter-return", Node::GetterProp(it)) => it.type_ann.is_some() || !may_end_without_value(it.body),
        ("getter-return", Node::ClassMethod(it)) => {
            it.method_kind() != MethodKind::Getter || !is_certain_getter(it.function)
        }
        ("getter-return", Node::PrivateMethod(it)) => !is_certain_getter(it.function),
        // A getter in `Object.defineProperty`, of which the crate takes other calls to be one, and `return;`.
        ("getter-return", Node::KeyValueProp(_) | Node::MethodProp(_) | Node::ReturnStmt(_)) => true,
        ("no-cond-assign", Node::AssignExpr(it)) => !is_certain_condition(it),
        ("no-ex-assign" | "no-func-assign", Node::AssignExpr(it)) => !replaces_by_constant(it),
        // In a pattern.
        ("no-ex-assign", Node::BindingIdent(_) | Node::Ident(_)) => true,
        ("no-sparse-arrays", Node::ArrayLit(it)) => !has_one_hole_inside(it),
        ("require-yield", Node::Function(it)) => !is_certain_generator(it),
        _ => false,
    }
}

fn is_certain_getter(function: &Function<'_>) -> bool {
    function.return_type.is_none() && may_end_without_value(function.body)
}

/// Whether a body returns a value in one place, and may reach its end in another.
fn may_end_without_value(body: Option<&BlockStmt<'_>>) -> bool {
    let Some(body) = body else { return false };
    let ends_open = match body.stmts.last() {
        Some(Stmt::If(it)) => it.alt.is_none(),
        Some(Stmt::Expr(_) | Stmt::Decl(_)) => true,
        _ => false,
    };
    ends_open && returns_value(body.into()) && !body.stmts.iter().any(|it| jumps(it.as_node()))
}

/// Outside of inner functions.
fn returns_value(node: Node<'_>) -> bool {
    match node {
        Node::ReturnStmt(it) => it.arg.is_some(),
        Node::Function(_) | Node::ArrowExpr(_) | Node::Class(_) => false,
        _ => node.children().into_iter().any(returns_value),
    }
}

fn throws(node: Node<'_>) -> bool {
    match node {
        Node::ThrowStmt(_) => true,
        Node::Function(_) | Node::ArrowExpr(_) | Node::Class(_) => false,
        _ => node.children().into_iter().any(throws),
    }
}

/// `while (next = more)` ends; `while (more = 1)` does not, and `if (a = b)` is mostly a comparison.
fn is_certain_condition(assignment: &AssignExpr<'_>) -> bool {
    let outer = [NodeKind::BinExpr, NodeKind::ParenExpr];
    let mut around = assignment.parent();
    while let Some(parent) = around.parent().filter(|_| outer.contains(&around.kind())) {
        around = parent;
    }
    let is_branch = matches!(around.kind(), NodeKind::IfStmt | NodeKind::CondExpr);
    let is_plain = assignment.op() == AssignOp::Assign;
    is_plain
        && (matches!(assignment.right, Expr::Lit(_))
            || is_branch && matches!(assignment.right, Expr::Ident(_)))
}

/// Whether a name gets a value that is neither an error nor a function. `null` may clear it.
fn replaces_by_constant(assignment: &AssignExpr<'_>) -> bool {
    let is_name = matches!(assignment.left, AssignTarget::Simple(_));
    let is_constant = matches!(assignment.right, Expr::Lit(it) if !matches!(it, Lit::Null(_)));
    is_name && is_constant && assignment.op() == AssignOp::Assign
}

/// `[, 'a']` counts from 1, `[, ,]` has a length, and a hole with a comment or a line of its own has a reason.
fn has_one_hole_inside(array: &ArrayLit<'_>) -> bool {
    let mut holes = array.elems.array_windows().filter(|it| it[1].is_none());
    match (holes.next(), holes.next(), array.elems) {
        (Some([Some(before), None, Some(after)]), None, [Some(_), .., Some(_)]) => {
            after.start() - before.end() <= LONGEST_HOLE
        }
        _ => false,
    }
}

/// Methods and arguments may have to be generators, and a body that throws stands for one that is not written yet.
fn is_certain_generator(function: &Function<'_>) -> bool {
    let Some(body) = function.body else { return false };
    function.parent().kind() == NodeKind::FnDecl && returns_value(body.into()) && !throws(body.into())
}
