//! What stands in `${{ }}`, and in `if`, where the signs may be left out.

use std::collections::BTreeSet;
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Severity};
use github_actions_expressions::context::Context;
use github_actions_expressions::literal::Literal;
use github_actions_expressions::{Error, Expr, SpannedExpr, call};

use super::jobs;
use crate::tree::{Document, Id, Kind, Node};
use crate::{error, rules};

/// Everything that can be asked anywhere.
const CONTEXTS: [&str; 12] = [
    "env", "github", "inputs", "job", "jobs", "matrix", "needs", "runner", "secrets", "steps", "strategy",
    "vars",
];

/// What is known where an expression stands; nothing is known outside of jobs.
#[derive(Default)]
pub(crate) struct Scope {
    needs: Option<BTreeSet<String>>,
    steps: Option<BTreeSet<String>>,
}

impl Scope {
    pub(crate) fn of_job(document: &Document<'_>, job: Id) -> Self {
        let needs =
            jobs::needs(document, job).into_iter().filter_map(|it| jobs::name(document, it)).collect();
        Self { needs: Some(needs), steps: Some(step_ids(document, job)) }
    }

    pub(crate) fn of_action(document: &Document<'_>, runs: Id) -> Self {
        Self { needs: None, steps: Some(step_ids(document, runs)) }
    }
}

fn step_ids(document: &Document<'_>, of: Id) -> BTreeSet<String> {
    let steps = jobs::steps(document, of);
    steps.iter().filter_map(|it| jobs::name(document, document.get(*it, "id")?)).collect()
}

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
                        _ => left.extend([*key, *value]),
                    }
                }
            }
            _ => {}
        }
    }
}

fn in_condition(text: &str, node: &Node<'_>, scope: &Scope, found: &mut Vec<Diagnostic>) {
    let Kind::Scalar { text: value, .. } = &node.kind else { return };
    if value.contains("${{") {
        in_text(text, value, node, scope, found);
    } else if !value.trim().is_empty() {
        expression(text, value, node, scope, found);
    }
}

/// Each expression in a text. A `}}` in a string of the expression does not end it.
fn in_text(text: &str, value: &str, node: &Node<'_>, scope: &Scope, found: &mut Vec<Diagnostic>) {
    let mut rest = value;
    while let Some((_, after)) = rest.split_once("${{") {
        let Some(end) = end(after) else {
            let range = place(text, node, "${{").unwrap_or_else(|| first_line(text, node));
            found.push(error(rules::EXPRESSION, "the `}}` of this expression is missing", range));
            return;
        };
        expression(text, &after[..end], node, scope, found);
        rest = &after[end + 2..];
    }
}

fn end(expression: &str) -> Option<usize> {
    let mut quoted = false;
    for (at, it) in expression.char_indices() {
        match it {
            '\'' => quoted = !quoted,
            '}' if !quoted && expression[at..].starts_with("}}") => return Some(at),
            _ => {}
        }
    }
    None
}

fn expression(text: &str, expression: &str, node: &Node<'_>, scope: &Scope, found: &mut Vec<Diagnostic>) {
    let whole = || place(text, node, expression.trim()).unwrap_or_else(|| first_line(text, node));
    match Expr::parse(expression) {
        Ok(parsed) => {
            for (context, origin) in parsed.contexts() {
                let range = || place(text, node, origin.raw).unwrap_or_else(|| first_line(text, node));
                found.extend(unknown(context, scope).map(|(severity, message)| Diagnostic {
                    severity,
                    ..Diagnostic::new(rules::EXPRESSION, message, range())
                }));
            }
        }
        Err(Error::Depth) => {}
        Err(problem) => found.push(error(rules::EXPRESSION, message(&problem), whole())),
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

/// What of a context is not there.
fn unknown(context: &Context<'_>, scope: &Scope) -> Option<(Severity, String)> {
    let first = name(context.parts.first()?)?;
    if !CONTEXTS.contains(&first.as_str()) {
        let message = format!("there is no context `{first}`; a text in an expression needs single quotes");
        return Some((Severity::Error, message));
    }
    let second = name(context.parts.get(1)?)?;
    match (first.as_str(), &scope.needs, &scope.steps) {
        ("needs", Some(known), _) if !known.contains(&second) => {
            Some((Severity::Warning, format!("this job does not wait for `{second}`: it is not in `needs`")))
        }
        ("steps", _, Some(known)) if !known.contains(&second) => {
            Some((Severity::Warning, format!("no step of this job has the id `{second}`")))
        }
        _ => None,
    }
}

/// A part of a context that is a plain name, in small letters.
fn name(part: &SpannedExpr<'_>) -> Option<String> {
    match &part.inner {
        Expr::Identifier(it) => Some(it.as_str().to_ascii_lowercase()),
        Expr::Index(it) => match &it.inner {
            Expr::Literal(Literal::String(it)) => Some(it.to_ascii_lowercase()),
            _ => None,
        },
        _ => None,
    }
}

/// Where a part of a scalar is in the text, if it is written there as it is.
fn place(text: &str, node: &Node<'_>, part: &str) -> Option<Range<usize>> {
    let line = part.lines().next()?;
    let at = text.get(node.range.clone())?.find(line)? + node.range.start;
    Some(at..at + line.len())
}

fn first_line(text: &str, node: &Node<'_>) -> Range<usize> {
    let length = text.get(node.range.clone()).and_then(|it| it.lines().next()).map_or(0, str::len);
    node.range.start..node.range.start + length
}
