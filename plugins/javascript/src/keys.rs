//! Places of duplicate keys: deno_lint reports the object that has them, and its line may be far from the second key.

use deno_ast::view::{Expr, Lit, Node, NodeTrait, ObjectLit, Prop, PropName, PropOrSpread};
use deno_ast::{ParsedSource, SourceRange, SourceRanged};
use deno_lint::diagnostic::LintDiagnostic;

const RULE: &str = "no-dupe-keys";

/// Moves each finding to the key that repeats another one.
pub(crate) fn locate(findings: &mut [LintDiagnostic], parsed: &ParsedSource) {
    let mut found: Vec<_> = findings.iter_mut().filter(|it| it.details.code == RULE).collect();
    if found.is_empty() {
        return;
    }
    parsed.with_view(|program| {
        let mut open = vec![program.as_node()];
        while let Some(node) = open.pop() {
            if let Node::ObjectLit(object) = node {
                locate_in(object, &mut found);
            }
            open.extend(node.children());
        }
    });
}

fn locate_in(object: &ObjectLit<'_>, findings: &mut [&mut LintDiagnostic]) {
    let range = object.range();
    // The last finding of a name is about its last key.
    let mut keys: Vec<_> = object.props.iter().filter_map(key).collect();
    for it in findings.iter_mut().rev() {
        let message = it.details.message.clone();
        let Some(place) = it.range.as_mut().filter(|it| it.range == range) else { continue };
        if let Some(at) = keys.iter().rposition(|key| message == format!("Duplicate key '{}'", key.0)) {
            place.range = keys.remove(at).1;
        }
    }
}

/// A property's name as the rule compares it, and its place.
fn key(property: &PropOrSpread<'_>) -> Option<(String, SourceRange)> {
    let PropOrSpread::Prop(property) = property else { return None };
    let key = match property {
        Prop::Shorthand(it) => return Some((it.sym().to_string(), it.range())),
        Prop::KeyValue(it) => it.key,
        Prop::Getter(it) => it.key,
        Prop::Setter(it) => it.key,
        Prop::Method(it) => it.key,
        Prop::Assign(_) => return None,
    };
    Some((name(&key)?, key.range()))
}

fn name(key: &PropName<'_>) -> Option<String> {
    match key {
        PropName::Ident(it) => Some(it.sym().to_string()),
        PropName::Str(it) => Some(it.value().to_string_lossy().into_owned()),
        PropName::Num(it) => Some(it.value().to_string()),
        PropName::BigInt(it) => Some(it.value().to_string()),
        PropName::Computed(it) => match it.expr {
            Expr::Lit(Lit::Str(it)) => Some(it.value().to_string_lossy().into_owned()),
            Expr::Lit(Lit::Num(it)) => Some(it.value().to_string()),
            _ => None,
        },
    }
}
