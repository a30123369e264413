//! `getter-return`, but where the crate gives up with a panic: it looks for the control flow of each getter, and has none of
//! those in what a `for`-`in` or `for`-`of` loop assigns to, as in `for ({ get a() { … } }.b of c)`.

use deno_ast::view::{Node, NodeKind, NodeTrait};
use deno_lint::Program;
use deno_lint::context::Context;
use deno_lint::rules::LintRule;
use deno_lint::tags::Tags;

pub(crate) const CODE: &str = "getter-return";

/// The crate's rule.
#[derive(Debug)]
pub(crate) struct Getters(pub(crate) Box<dyn LintRule>);

impl LintRule for Getters {
    fn lint_program_with_ast_view<'view>(&self, context: &mut Context<'view>, program: Program<'view>) {
        if !has_loop_over_getter(program.as_node()) {
            self.0.lint_program_with_ast_view(context, program);
        }
    }

    fn code(&self) -> &'static str {
        CODE
    }

    fn tags(&self) -> Tags {
        self.0.tags()
    }
}

fn has_loop_over_getter(program: Node<'_>) -> bool {
    let mut open = vec![program];
    while let Some(node) = open.pop() {
        let head = match node {
            Node::ForInStmt(it) => Some(it.left.as_node()),
            Node::ForOfStmt(it) => Some(it.left.as_node()),
            _ => None,
        };
        if head.is_some_and(has_getter) {
            return true;
        }
        open.extend(node.children());
    }
    false
}

/// Methods count as well, some of which are getters.
fn has_getter(node: Node<'_>) -> bool {
    let getters = [NodeKind::ClassMethod, NodeKind::GetterProp, NodeKind::PrivateMethod];
    let is_call = node.kind() == NodeKind::CallExpr;
    is_call || getters.contains(&node.kind()) || node.children().into_iter().any(has_getter)
}
