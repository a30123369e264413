//! Variables that a `for`-`in` or `for`-`of` loop assigns, and that are declared elsewhere: `var a; for (a in b) return true;`.
//! The loop has to have one, whether it is used or not.

use deno_ast::swc::ast::Id;
use deno_ast::view::{ForHead, Node, NodeTrait};
use deno_ast::{ParsedSource, SourceRange, SourceRanged};
use rustc_hash::FxHashSet;

/// The declarations among `names` of such variables.
pub(crate) fn assigned(parsed: &ParsedSource, names: &[SourceRange]) -> Vec<SourceRange> {
    let names: FxHashSet<_> = names.iter().copied().collect();
    parsed.with_view(|program| {
        let (mut open, mut declared, mut assigned) =
            (vec![program.as_node()], Vec::new(), FxHashSet::default());
        while let Some(node) = open.pop() {
            match node {
                Node::Ident(it) if names.contains(&it.range()) => {
                    declared.push((it.range(), it.inner.to_id()))
                }
                Node::ForInStmt(it) => add_names(&it.left, &mut assigned),
                Node::ForOfStmt(it) => add_names(&it.left, &mut assigned),
                _ => {}
            }
            open.extend(node.children());
        }
        declared.into_iter().filter(|it| assigned.contains(&it.1)).map(|it| it.0).collect()
    })
}

/// Adds the names of a head that declares none.
fn add_names(head: &ForHead<'_>, names: &mut FxHashSet<Id>) {
    let ForHead::Pat(pattern) = head else { return };
    let mut open = vec![pattern.as_node()];
    while let Some(node) = open.pop() {
        if let Node::Ident(it) = node {
            names.insert(it.inner.to_id());
        }
        open.extend(node.children());
    }
}
