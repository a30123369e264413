//! Fixes for findings that deno_lint has none for: imports that are not used, `let` that is never assigned again, `var`, and `==`.
//!
//! A fix is safe where the code does the same afterwards. `var` has none where a name may be used before its declaration, or is
//! declared twice.

use std::ops::Range;

use broker_plugin_sdk::{Applicability, Edit, Fix};
use deno_ast::swc::ast::{BinaryOp, Id, VarDeclKind};
use deno_ast::view::{
    BinExpr, Expr, Ident, ImportDecl, ImportSpecifier, Lit, Node, NodeTrait, Pat, UnaryOp, VarDecl,
};
use deno_ast::{SourceRange, SourceRanged, StartSourcePos};
use deno_lint::diagnostic::LintDiagnostic;
use rustc_hash::FxHashMap;

use crate::false_positives::Source;

/// Rules that have such fixes, by code.
pub(crate) const RULES: [&str; 4] = ["eqeqeq", "no-unused-vars", "no-var", "prefer-const"];

/// The code among [`RULES`].
pub(crate) fn named(code: &str) -> Option<&'static str> {
    RULES.into_iter().find(|it| *it == code)
}

/// The fixes of findings, by the rule's code and the place of the finding.
pub(crate) type Repairs = FxHashMap<(&'static str, SourceRange), Fix>;

/// Finds the fix of each finding that has one.
pub(crate) fn repairs(findings: &[&LintDiagnostic], source: &Source<'_>) -> Repairs {
    let place = |it: &&LintDiagnostic| Some((it.range.as_ref()?.range, named(&it.details.code)?));
    let mut places: Vec<_> = findings.iter().filter_map(place).collect();
    let mut found = Repairs::default();
    if places.is_empty() {
        return found;
    }
    places.sort_by_key(|it| it.0.start);
    source.parsed.with_view(|program| {
        let mut open = vec![program.as_node()];
        while let Some(node) = open.pop() {
            let first = places.partition_point(|it| it.0.start < node.start());
            let here = places[first..].iter().take_while(|it| it.0.start == node.start());
            for (range, code) in here {
                found.extend(repair(code, node, *range, source).map(|it| ((*code, *range), it)));
            }
            open.extend(node.children());
        }
    });
    found
}

fn repair(code: &str, node: Node<'_>, place: SourceRange, source: &Source<'_>) -> Option<Fix> {
    let text = source.text;
    match (code, node) {
        ("eqeqeq", Node::BinExpr(it)) if it.range() == place => strict_equality(it, text),
        ("no-unused-vars", Node::Ident(it)) if it.range() == place => unused_import(it, source),
        ("no-var", Node::VarDecl(it)) => let_for_var(it, text),
        ("prefer-const", Node::Ident(it)) if it.range() == place => const_for_let(it, text),
        _ => None,
    }
}

fn bytes(range: SourceRange) -> Range<usize> {
    range.as_byte_range(StartSourcePos::START_SOURCE_POS)
}

fn fix(message: &str, applicability: Applicability, bytes: Range<usize>, replacement: &str) -> Fix {
    let edits = vec![Edit { span: bytes.into(), replacement: replacement.to_owned() }];
    Fix { message: Some(message.to_owned()), applicability, edits }
}

/// Fixes `==` of anything but `null`, which stands for `undefined` as well.
fn strict_equality(it: &BinExpr<'_>, text: &str) -> Option<Fix> {
    let (loose, strict) = match it.op() {
        BinaryOp::EqEq => ("==", "==="),
        BinaryOp::NotEq => ("!=", "!=="),
        _ => return None,
    };
    if [it.left, it.right].iter().any(|it| matches!(it, Expr::Lit(Lit::Null(_)))) {
        return None;
    }
    let between = bytes(it.left.range()).end..bytes(it.right.range()).start;
    let blank = text.get(between.clone())?.find(loose).filter(|_| text[between.clone()].trim() == loose)?;
    let operator = between.start + blank..between.start + blank + loose.len();
    let kinds = [kind_of(&it.left), kind_of(&it.right)];
    let is_same = kinds[0].is_some() && kinds[0] == kinds[1];
    let applicability = if is_same { Applicability::Safe } else { Applicability::Unsafe };
    Some(fix(&format!("Use `{strict}`"), applicability, operator, strict))
}

/// Type of an expression's value, where its form says so.
fn kind_of(it: &Expr<'_>) -> Option<&'static str> {
    match it {
        Expr::Lit(Lit::Str(_)) | Expr::Tpl(_) => Some("string"),
        Expr::Lit(Lit::Num(_)) => Some("number"),
        Expr::Lit(Lit::Bool(_)) => Some("boolean"),
        Expr::Unary(it) if it.op() == UnaryOp::TypeOf => Some("string"),
        _ => None,
    }
}

fn unused_import(name: &Ident<'_>, source: &Source<'_>) -> Option<Fix> {
    let text = source.text;
    let (own, declaration): (SourceRange, &ImportDecl<'_>) = match name.parent() {
        Node::ImportNamedSpecifier(it) if it.local.range() == name.range() => (it.range(), it.parent()),
        Node::ImportDefaultSpecifier(it) => (it.range(), it.parent()),
        Node::ImportStarAsSpecifier(it) => (it.range(), it.parent()),
        _ => return None,
    };
    let message = format!("Remove the import of `{}`", name.sym());
    if let [_] = declaration.specifiers {
        // The module is not run any more, unless only its types were imported.
        let is_certain = declaration.type_only() && !is_in_comment(name, source);
        let applicability = if is_certain { Applicability::Safe } else { Applicability::Unsafe };
        return Some(fix(&message, applicability, whole_lines(bytes(declaration.range()), text), ""));
    }
    let removed = from_list(declaration, own, text)?;
    let has_comment = text.get(removed.clone())?.contains(['/', '#']);
    let applicability = if is_in_comment(name, source) { Applicability::Unsafe } else { Applicability::Safe };
    (!has_comment).then(|| fix(&message, applicability, removed, ""))
}

/// Whether a comment has the name: tools may read it there, as the type of a parameter.
fn is_in_comment(name: &Ident<'_>, source: &Source<'_>) -> bool {
    source.parsed.comments().iter_unstable().any(|it| it.text.contains(name.sym().as_str()))
}

/// The bytes of one of several names of an import, with a comma.
fn from_list(declaration: &ImportDecl<'_>, own: SourceRange, text: &str) -> Option<Range<usize>> {
    let place = declaration.specifiers.iter().position(|it| it.range() == own)?;
    let range = |it: &ImportSpecifier<'_>| bytes(it.range());
    let is_named = |it: &ImportSpecifier<'_>| matches!(it, ImportSpecifier::Named(_));
    let own = bytes(own);
    let next = declaration.specifiers.get(place + 1);
    let before = place.checked_sub(1).map(|it| &declaration.specifiers[it]);
    match (before, next) {
        // `a, { b }` and `a, * as b`.
        (None, Some(next)) if !is_named(&declaration.specifiers[place]) => {
            let rest = text.get(own.end..range(next).end)?;
            let start = rest.find(['{', '*'])?;
            Some(own.start..own.end + start)
        }
        (_, Some(next)) => Some(own.start..range(next).start),
        (Some(before), None) if is_named(before) => Some(range(before).end..own.end),
        (Some(before), None) if is_named(&declaration.specifiers[place]) => {
            let brace = text.get(own.end..)?.find('}')?;
            Some(range(before).end..own.end + brace + 1)
        }
        (Some(before), None) => Some(range(before).end..own.end),
        (None, None) => None,
    }
}

/// With the lines that a statement stands on alone.
fn whole_lines(statement: Range<usize>, text: &str) -> Range<usize> {
    let start = text[..statement.start].rfind('\n').map_or(0, |it| it + 1);
    let end = text[statement.end..].find('\n').map_or(text.len(), |it| statement.end + it + 1);
    let is_alone =
        text[start..statement.start].trim().is_empty() && text[statement.end..end].trim().is_empty();
    if is_alone { start..end } else { statement }
}

fn keyword(declaration: &VarDecl<'_>, old: &str, text: &str) -> Option<Range<usize>> {
    let start = bytes(declaration.range()).start;
    let keyword = start..start + old.len();
    (text.get(keyword.clone()) == Some(old)).then_some(keyword)
}

fn const_for_let(name: &Ident<'_>, text: &str) -> Option<Fix> {
    let Node::BindingIdent(binding) = name.parent() else { return None };
    let Node::VarDeclarator(declarator) = binding.parent() else { return None };
    let Node::VarDecl(declaration) = declarator.parent() else { return None };
    let is_of_loop = matches!(declaration.parent(), Node::ForInStmt(_) | Node::ForOfStmt(_));
    let has_value = declarator.init.is_some() || is_of_loop;
    let is_alone = declaration.decls.len() == 1 && declaration.decl_kind() == VarDeclKind::Let;
    let keyword = keyword(declaration, "let", text).filter(|_| has_value && is_alone)?;
    // Another script of the page may assign to it.
    let is_shared = matches!(declaration.parent(), Node::Script(_)) && !is_common_js(text);
    let applicability = if is_shared { Applicability::Unsafe } else { Applicability::Safe };
    Some(fix("Use `const`", applicability, keyword, "const"))
}

/// Whether Node runs the script as a module, with a scope of its own.
fn is_common_js(text: &str) -> bool {
    ["require(", "module.exports", "exports."].iter().any(|it| text.contains(it))
}

fn let_for_var(declaration: &VarDecl<'_>, text: &str) -> Option<Fix> {
    let scope = match declaration.parent() {
        Node::Module(it) => it.as_node(),
        Node::BlockStmt(it) if matches!(it.parent(), Node::Function(_) | Node::ArrowExpr(_)) => it.parent(),
        _ => return None,
    };
    let name = |it: &&deno_ast::view::VarDeclarator<'_>| match it.name {
        Pat::Ident(it) => Some(it.id.to_id()),
        _ => None,
    };
    let names: Option<Vec<Id>> = declaration.decls.iter().map(|it| name(&it)).collect();
    let keyword = keyword(declaration, "var", text)?;
    let is_certain = names?.iter().all(|it| is_used_behind(declaration, it, scope));
    is_certain.then(|| fix("Use `let`", Applicability::Safe, keyword, "let"))
}

/// Whether a name is declared once, and neither used before the end of its declaration nor in a function that may be called there,
/// nor exported: in a circle of imports another module may read it before.
fn is_used_behind(declaration: &VarDecl<'_>, name: &Id, scope: Node<'_>) -> bool {
    let mut open = vec![(scope, false)];
    while let Some((node, is_hoisted)) = open.pop() {
        let is_hoisted = is_hoisted || matches!(node, Node::FnDecl(_));
        if let Node::Ident(it) = node
            && it.to_id() == *name
        {
            let is_declared =
                matches!(it.parent(), Node::BindingIdent(_) | Node::FnDecl(_) | Node::ClassDecl(_));
            let is_inside = declaration.range().contains(&it.range());
            let is_its_own = is_inside && is_declared;
            let is_exported = matches!(it.parent(), Node::ExportNamedSpecifier(_));
            let is_behind = it.start() >= declaration.end() && !is_declared && !is_hoisted && !is_exported;
            if !is_its_own && !is_behind {
                return false;
            }
        }
        open.extend(node.children().into_iter().map(|it| (it, is_hoisted)));
    }
    true
}
