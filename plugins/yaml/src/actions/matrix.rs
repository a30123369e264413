//! The matrix of a job: the names that it gives, and what `exclude` takes out of it.

use std::collections::BTreeSet;
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Severity};
use broker_schemas::did_you_mean;

use super::jobs;
use crate::rules;
use crate::tree::{Document, Id, Kind};

/// Known names of the context `matrix`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Matrix {
    /// An expression makes it, or it is that of a caller.
    #[default]
    Open,
    /// The job has none.
    Missing,
    /// Names in small letters.
    Names(BTreeSet<String>),
}

impl Matrix {
    pub(crate) fn of(document: &Document<'_>, job: Id) -> Self {
        let Some(strategy) = document.get(job, "strategy") else {
            return if is_closed(document, job) { Self::Missing } else { Self::Open };
        };
        match document.get(strategy, "matrix") {
            Some(matrix) => names(document, matrix).map_or(Self::Open, Self::Names),
            None if is_closed(document, strategy) => Self::Missing,
            None => Self::Open,
        }
    }
}

/// Whether a node is a mapping without entries that are merged or come from expressions.
fn is_closed(document: &Document<'_>, id: Id) -> bool {
    let is_map = matches!(document.node(document.resolved(id)).kind, Kind::Map(_));
    let is_plain = |key: Id| document.text(key).is_some_and(|it| it != "<<" && !it.contains("${{"));
    is_map && document.entries(id).iter().all(|it| is_plain(it.0))
}

/// The names of a matrix and of what it includes; nothing if an expression may give more.
fn names(document: &Document<'_>, matrix: Id) -> Option<BTreeSet<String>> {
    let mut names = own_names(document, matrix)?;
    if let Some(include) = document.get(matrix, "include") {
        if !matches!(document.node(document.resolved(include)).kind, Kind::List(_)) {
            return None;
        }
        for item in document.items(include) {
            names.extend(own_names(document, *item)?);
        }
    }
    Some(names)
}

fn own_names(document: &Document<'_>, map: Id) -> Option<BTreeSet<String>> {
    let names = document.entries(map).iter().filter_map(|it| jobs::name(document, it.0));
    is_closed(document, map).then(|| names.filter(|it| it != "include" && it != "exclude").collect())
}

/// Checks that what a matrix excludes is in it.
pub(crate) fn check(document: &Document<'_>, job: Id, found: &mut Vec<Diagnostic>) {
    let matrix = document.get(job, "strategy").and_then(|it| document.get(it, "matrix"));
    let Some((matrix, rows)) = matrix.and_then(|it| Some((it, own_names(document, it)?))) else { return };
    let Some(exclude) = document.get(matrix, "exclude") else { return };
    let rows: Vec<String> = rows.into_iter().collect();
    for item in document.items(exclude).iter().filter(|it| is_closed(document, **it)) {
        for (key, value) in document.entries(*item) {
            let Some(name) = jobs::name(document, *key) else { continue };
            if !rows.contains(&name) {
                let message = format!("the matrix has no `{name}` to exclude{}", did_you_mean(&name, &rows));
                found.push(Diagnostic::error(rules::MATRIX, message, range(document, *key)));
            } else if let Some(values) = row(document, matrix, &name) {
                found.extend(unknown_value(document, &name, &values, *value));
            }
        }
    }
}

fn unknown_value(document: &Document<'_>, name: &str, values: &[&str], excluded: Id) -> Option<Diagnostic> {
    let value = document.text(excluded).filter(|it| !it.contains("${{"))?;
    if values.iter().any(|it| is_same(it, value)) {
        return None;
    }
    let values: Vec<String> = values.iter().map(|it| (*it).to_owned()).collect();
    let message = format!("`{name}` is never `{value}` in the matrix{}", did_you_mean(value, &values));
    let found = Diagnostic::new(rules::MATRIX, message, range(document, excluded));
    Some(Diagnostic { severity: Severity::Warning, ..found })
}

/// The values of a row, if all are scalars that are written out.
fn row<'a>(document: &'a Document<'_>, matrix: Id, name: &str) -> Option<Vec<&'a str>> {
    let mut rows = document.entries(matrix).iter().rev();
    let row = rows.find(|it| jobs::name(document, it.0).as_deref() == Some(name))?.1;
    let values = document.items(row).iter();
    let values: Option<Vec<_>> =
        values.map(|it| document.text(*it).filter(|it| !it.contains("${{"))).collect();
    values.filter(|it| !it.is_empty())
}

/// Texts are the same in small letters and large, numbers however they are written.
fn is_same(one: &str, other: &str) -> bool {
    let number = |it: &str| it.parse::<f64>().ok();
    one.eq_ignore_ascii_case(other) || number(one).is_some() && number(one) == number(other)
}

fn range(document: &Document<'_>, id: Id) -> Range<usize> {
    document.node(document.resolved(id)).range.clone()
}
