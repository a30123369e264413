//! `no-setter-return` of setters in property descriptors as well, as in `Object.defineProperty(a, 'b', { set(c) { … } })`,
//! where deno_lint does not look, and ESLint does.

use deno_ast::view::{
    ArrowExpr, BlockStmtOrExpr, CallExpr, Callee, Expr, MemberProp, Node, NodeKind, NodeTrait, ObjectLit,
    Prop, PropName, PropOrSpread,
};
use deno_ast::{SourceRange, SourceRanged};
use deno_lint::Program;
use deno_lint::context::Context;
use deno_lint::rules::LintRule;
use deno_lint::tags::Tags;

pub(crate) const CODE: &str = "no-setter-return";

const MESSAGE: &str = "Setter cannot return a value";

/// The crate's rule, and more.
#[derive(Debug)]
pub(crate) struct Setters(pub(crate) Box<dyn LintRule>);

impl LintRule for Setters {
    fn lint_program_with_ast_view<'view>(&self, context: &mut Context<'view>, program: Program<'view>) {
        self.0.lint_program_with_ast_view(context, program);
        let unresolved = context.parsed_source().unresolved_context();
        let is_global = |it: &Expr<'_>| matches!(it, Expr::Ident(it) if it.ctxt() == unresolved);
        let (mut open, mut found) = (vec![program.as_node()], Vec::new());
        while let Some(node) = open.pop() {
            if let Node::CallExpr(call) = node
                && callee(call).is_some_and(|it| is_global(it.0))
            {
                descriptors(call).into_iter().for_each(|it| returned(it, &mut found));
            }
            open.extend(node.children());
        }
        for range in found {
            context.add_diagnostic(range, CODE, MESSAGE);
        }
    }

    fn code(&self) -> &'static str {
        CODE
    }

    fn tags(&self) -> Tags {
        self.0.tags()
    }
}

/// `Object`, `Object` and `create` of `Object.create(…)`.
fn callee<'a>(call: &CallExpr<'a>) -> Option<(&'a Expr<'a>, &'a str, &'a str)> {
    let Callee::Expr(Expr::Member(member)) = &call.callee else { return None };
    let (Expr::Ident(object), MemberProp::Ident(method)) = (&member.obj, &member.prop) else { return None };
    Some((&member.obj, object.sym().as_str(), method.sym().as_str()))
}

/// The descriptors of properties that a call is given.
fn descriptors<'a>(call: &CallExpr<'a>) -> Vec<&'a ObjectLit<'a>> {
    let argument = |at: usize| {
        let before = call.args.get(..=at)?;
        let is_certain = before.iter().all(|it| it.spread().is_none());
        before.last().filter(|_| is_certain).and_then(|it| object(&it.expr))
    };
    match callee(call) {
        Some((_, "Object" | "Reflect", "defineProperty")) => argument(2).into_iter().collect(),
        Some((_, "Object", "create" | "defineProperties")) => {
            argument(1).into_iter().flat_map(|it| it.props).filter_map(value).filter_map(object).collect()
        }
        _ => Vec::new(),
    }
}

fn object<'a>(value: &Expr<'a>) -> Option<&'a ObjectLit<'a>> {
    match value {
        Expr::Object(it) => Some(it),
        Expr::Paren(it) => object(&it.expr),
        _ => None,
    }
}

fn value<'a>(property: &PropOrSpread<'a>) -> Option<&'a Expr<'a>> {
    match property {
        PropOrSpread::Prop(Prop::KeyValue(it)) => Some(&it.value),
        _ => None,
    }
}

/// Adds what the setter of a descriptor returns.
fn returned(descriptor: &ObjectLit<'_>, found: &mut Vec<SourceRange>) {
    for property in descriptor.props {
        match property {
            PropOrSpread::Prop(Prop::Method(it)) if is_set(&it.key) => {
                it.function.body.iter().for_each(|it| returns(it.as_node(), found));
            }
            PropOrSpread::Prop(Prop::KeyValue(it)) if is_set(&it.key) => of_function(&it.value, found),
            _ => {}
        }
    }
}

fn is_set(key: &PropName<'_>) -> bool {
    match key {
        PropName::Ident(it) => it.sym() == "set",
        PropName::Str(it) => it.value().as_str() == Some("set"),
        PropName::Computed(it) => {
            matches!(&it.expr, Expr::Lit(deno_ast::view::Lit::Str(it)) if it.value().as_str() == Some("set"))
        }
        _ => false,
    }
}

fn of_function(function: &Expr<'_>, found: &mut Vec<SourceRange>) {
    match function {
        Expr::Paren(it) => of_function(&it.expr, found),
        Expr::Fn(it) => it.function.body.iter().for_each(|it| returns(it.as_node(), found)),
        Expr::Arrow(it) => of_arrow(it, found),
        _ => {}
    }
}

/// `set: value => (a = value)` is written for what it does, and `set: value => value` does nothing else.
fn of_arrow(function: &ArrowExpr<'_>, found: &mut Vec<SourceRange>) {
    match &function.body {
        BlockStmtOrExpr::BlockStmt(it) => returns(it.as_node(), found),
        BlockStmtOrExpr::Expr(it) if !has_effect(it.as_node()) => found.push(it.range()),
        BlockStmtOrExpr::Expr(_) => {}
    }
}

fn has_effect(value: Node<'_>) -> bool {
    const EFFECTS: [NodeKind; 8] = [
        NodeKind::AssignExpr,
        NodeKind::AwaitExpr,
        NodeKind::CallExpr,
        NodeKind::NewExpr,
        NodeKind::TaggedTpl,
        NodeKind::UnaryExpr,
        NodeKind::UpdateExpr,
        NodeKind::YieldExpr,
    ];
    EFFECTS.contains(&value.kind()) || value.children().into_iter().any(has_effect)
}

/// Adds the `return`s of a body with a value.
fn returns(node: Node<'_>, found: &mut Vec<SourceRange>) {
    match node {
        Node::ReturnStmt(it) if it.arg.is_some() => found.push(it.range()),
        Node::ArrowExpr(_) | Node::Class(_) | Node::Function(_) => {}
        Node::GetterProp(_) | Node::SetterProp(_) => {}
        _ => node.children().into_iter().for_each(|it| returns(it, found)),
    }
}
