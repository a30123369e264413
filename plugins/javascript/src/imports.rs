//! Relative names that a file imports: by `import`, `export … from`, `import(…)`, `require(…)`, and in types.
//!
//! Left out is what may fail on purpose: within `try`, before `.catch(…)`, behind a look whether the file exists, and a `require` that the file
//! defines itself. `declare module './a'`, `require.resolve('./a')` and `new URL('./a', …)` import nothing.

use std::ops::Range;

use oxc_ast::AstKind;
use oxc_ast::ast::{Expression, StringLiteral};
use oxc_semantic::{AstNode, Semantic};
use oxc_span::GetSpan;

/// A relative name, and where its literal is.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) name: String,
    pub(crate) bytes: Range<usize>,
}

pub(crate) fn all(semantic: &Semantic<'_>) -> Vec<Import> {
    let import = |node: &AstNode<'_>| {
        let source = source(node, semantic).filter(|it| is_relative(&it.value))?;
        let bytes = source.span.start as usize..source.span.end as usize;
        (!may_fail(node, semantic)).then(|| Import { name: source.value.to_string(), bytes })
    };
    semantic.nodes().iter().filter_map(import).collect()
}

fn is_relative(name: &str) -> bool {
    matches!(name, "." | "..") || name.starts_with("./") || name.starts_with("../")
}

fn source<'a>(node: &AstNode<'a>, semantic: &Semantic<'a>) -> Option<&'a StringLiteral<'a>> {
    match node.kind() {
        AstKind::ImportDeclaration(it) => Some(&it.source),
        AstKind::ExportNamedDeclaration(it) => it.source.as_ref(),
        AstKind::ExportAllDeclaration(it) => Some(&it.source),
        AstKind::TSImportType(it) => Some(&it.source),
        AstKind::TSExternalModuleReference(it) => Some(&it.expression),
        AstKind::ImportExpression(it) => match &it.source {
            Expression::StringLiteral(it) => Some(it),
            _ => None,
        },
        AstKind::CallExpression(it) => {
            let Expression::Identifier(callee) = &it.callee else { return None };
            let reference = semantic.scoping().get_reference(callee.reference_id());
            it.common_js_require().filter(|_| reference.symbol_id().is_none())
        }
        _ => None,
    }
}

/// Whether something is done where a call of `import` or `require` finds no file.
fn may_fail(node: &AstNode<'_>, semantic: &Semantic<'_>) -> bool {
    if !matches!(node.kind(), AstKind::ImportExpression(_) | AstKind::CallExpression(_)) {
        return false;
    }
    let at = node.kind().span();
    let looks_before =
        |start: u32| semantic.source_text()[start as usize..at.start as usize].contains("xists");
    semantic.nodes().ancestor_kinds(node.id()).any(|it| match it {
        AstKind::TryStatement(it) => it.handler.is_some() && it.block.span.contains_inclusive(at),
        AstKind::StaticMemberExpression(it) => it.property.name == "catch",
        AstKind::IfStatement(it) => looks_before(it.span.start),
        AstKind::ConditionalExpression(it) => looks_before(it.span.start),
        AstKind::LogicalExpression(it) => looks_before(it.span.start),
        _ => false,
    })
}
