//! Expressions in `${{ }}`, and in `if`, where the signs may be left out.

use std::ops::Range;

use broker_plugin_sdk::Diagnostic;
use broker_yaml_tree::github::expression_end;
use github_actions_expressions::{Error, Expr, call};

use super::contexts::{self, Scope};
use crate::rules;
use crate::tree::{Document, Id, Kind, Node};

/// Looks at every scalar in `id`.
pub(crate) fn check(text: &str, document: &Document<'_>, id: Id, scope: &Scope, found: &mut Vec<Diagnostic>) {
    let mut left = vec![id];
    while let Some(id) = left.pop() {
        let node = document.node(id);
        match &node.kind {
            Kind::Scalar { text: value, .. } => in_text(text, value, node, scope, found),
            Kind::List(items) => left.extend(items),
            Kind::Map(entries) => {
                for (key, value) in entries {
                    match (document.text(*key), document.node(*value)) {
                        (Some("if"), condition) => in_condition(text, condition, scope, found),
                        (Some(key), _) if is_insert(key) => left.push(*value),
                        _ => left.extend([*key, *value]),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a key is `${{ insert }}`, a directive that is replaced with the entries of its value.
fn is_insert(key: &str) -> bool {
    let inner = key.trim().strip_prefix("${{").and_then(|it| it.strip_suffix("}}"));
    inner.is_some_and(|it| it.trim() == "insert")
}

fn in_condition(text: &str, node: &Node<'_>, scope: &Scope, found: &mut Vec<Diagnostic>) {
    let Kind::Scalar { text: value, .. } = &node.kind else { return };
    if value.contains("${{") {
        in_text(text, value, node, scope, found);
    } else if !value.trim().is_empty() {
        let whole = Embedded { inner: Some(value), area: node.range.clone() };
        expression(text, value, &whole, scope, found);
    }
}

/// An expression in a text.
pub(crate) struct Embedded<'a> {
    /// Text of the expression; `None` if its end is missing.
    pub(crate) inner: Option<&'a str>,
    /// Range from its start to the end of the scalar.
    area: Range<usize>,
}

impl Embedded<'_> {
    /// Returns the place of a part of the expression, or else the first line of the scalar that contains it.
    pub(crate) fn place(&self, text: &str, part: &str) -> Range<usize> {
        place(text, &self.area, part).unwrap_or_else(|| first_line(text, &self.area))
    }
}

/// Returns the expressions in a text. A `}}` in a string of the expression does not end it.
pub(crate) fn embedded<'a>(text: &str, value: &'a str, node: &Node<'_>) -> Vec<Embedded<'a>> {
    let mut found = Vec::new();
    let mut rest = value;
    let mut area = node.range.clone();
    while let Some((_, after)) = rest.split_once("${{") {
        // A text in double quotes may have the sign as an escape, which is not looked for.
        let start = text.get(area.clone()).and_then(|it| it.find("${{"));
        area.start += start.unwrap_or(0);
        let inner = expression_end(after).map(|it| &after[..it]);
        found.push(Embedded { inner, area: area.clone() });
        let Some(inner) = inner else { break };
        rest = &after[inner.len() + 2..];
        area.start += start.map_or(0, |_| "${{".len());
    }
    found
}

fn in_text(text: &str, value: &str, node: &Node<'_>, scope: &Scope, found: &mut Vec<Diagnostic>) {
    for it in embedded(text, value, node) {
        match it.inner {
            Some(inner) => expression(text, inner, &it, scope, found),
            None => {
                let range = it.place(text, "${{");
                found.push(Diagnostic::error(
                    rules::EXPRESSION,
                    "the `}}` of this expression is missing",
                    range,
                ));
            }
        }
    }
}

fn expression(text: &str, value: &str, at: &Embedded<'_>, scope: &Scope, found: &mut Vec<Diagnostic>) {
    match Expr::parse(value) {
        Ok(parsed) => {
            for (context, origin) in parsed.contexts() {
                found.extend(contexts::unknown(context, scope).map(|(severity, message)| {
                    let range = at.place(text, origin.raw);
                    Diagnostic { severity, ..Diagnostic::new(rules::EXPRESSION, message, range) }
                }));
            }
        }
        Err(Error::Depth) => {}
        Err(problem) => {
            found.push(Diagnostic::error(rules::EXPRESSION, message(&problem), at.place(text, value.trim())))
        }
    }
}

fn message(problem: &Error) -> String {
    match problem {
        Error::Syntax(it) => format!("this expression is broken: {}", it.message),
        Error::Call(call::Error::UnknownFunction(name)) => format!("there is no function `{name}`"),
        Error::Call(call::Error::Arity(function, wanted)) => {
            format!("`{function:?}` is called with the wrong number of arguments: expected {wanted}")
        }
        Error::Depth => "this expression is nested too deep".to_owned(),
    }
}

/// Returns the place of a part of a scalar in the text, if it is written there literally.
fn place(text: &str, area: &Range<usize>, part: &str) -> Option<Range<usize>> {
    let line = part.lines().next()?;
    let at = text.get(area.clone())?.find(line)? + area.start;
    Some(at..at + line.len())
}

fn first_line(text: &str, area: &Range<usize>) -> Range<usize> {
    let length = text.get(area.clone()).and_then(|it| it.lines().next()).map_or(0, str::len);
    area.start..area.start + length
}
