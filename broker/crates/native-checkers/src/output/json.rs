//! JSON of any shape, read by a map of where everything is.

use lint::{Applicability, Severity};
use serde_json::Value;

use super::{Extent, Message, Position, Printed, Repair, Replacement, json_lines, unreadable};
use crate::checker::{Checker, Columns, Fields, FixFields};

/// A value, and the objects and arrays around it, the nearest last.
struct Item<'v> {
    value: &'v Value,
    around: Vec<&'v Value>,
}

pub(super) fn read(text: &str, checker: &Checker) -> Result<Printed, String> {
    let Some(fields) = &checker.fields else { return Err("it has no `fields`".to_owned()) };
    // Several print nothing at all when there is nothing to say.
    if text.trim().is_empty() {
        return Ok(Printed::default());
    }
    let value: Value = serde_json::from_str(text.trim()).map_err(|error| unreadable(text, &error))?;
    if value.is_null() {
        return Ok(Printed::default());
    }
    let messages = items(&value, &fields.items).map_err(|why| unreadable(text, &why))?;
    let messages =
        messages.iter().map(|it| message(it, fields, checker).map_err(|why| unreadable(text, &why)));
    let messages = messages.collect::<Result<_, _>>()?;
    let listed = fields.listed.as_deref().and_then(|path| texts(&value, path));
    Ok(Printed { messages, listed, ..Printed::default() })
}

/// All texts that `path` leads to.
fn texts(value: &Value, path: &str) -> Option<Vec<String>> {
    let found = items(value, path).ok()?;
    found.iter().map(|it| it.value.as_str().map(str::to_owned)).collect()
}

pub(super) fn read_lines(text: &str, checker: &Checker) -> Result<Printed, String> {
    let Some(fields) = &checker.fields else { return Err("it has no `fields`".to_owned()) };
    let mut messages = Vec::new();
    for value in json_lines::<Value>(text)? {
        for it in items(&value, &fields.items)? {
            messages.push(message(&it, fields, checker).map_err(|why| unreadable(&value.to_string(), &why))?);
        }
    }
    Ok(Printed { messages, ..Printed::default() })
}

/// Returns the values at `path`, `[]` standing for each element of an array.
fn items<'v>(value: &'v Value, path: &str) -> Result<Vec<Item<'v>>, String> {
    let mut found = vec![Item { value, around: Vec::new() }];
    for step in path.split('.').filter(|it| !it.is_empty()) {
        let (name, is_each) = step.strip_suffix("[]").map_or((step, false), |it| (it, true));
        let mut next = Vec::new();
        for Item { value, around } in found {
            let member = if name.is_empty() { Some(value) } else { value.get(name) };
            match member {
                None | Some(Value::Null) => return Err(format!("there is no `{name}`")),
                Some(Value::Array(all)) if is_each => {
                    let around: Vec<_> = around.into_iter().chain([value]).collect();
                    next.extend(all.iter().map(|value| Item { value, around: around.clone() }));
                }
                Some(_) if is_each => return Err(format!("`{step}` is no array")),
                Some(member) => {
                    next.push(Item { value: member, around: around.into_iter().chain([value]).collect() })
                }
            }
        }
        found = next;
    }
    Ok(found)
}

impl<'v> Item<'v> {
    fn get(&self, path: &str) -> Option<&'v Value> {
        let (up, path) = path.strip_prefix('^').map_or((false, path), |it| (true, it));
        let start = if up { self.around.last().copied()? } else { self.value };
        path.split('.').try_fold(start, |value, name| value.get(name)).filter(|it| !it.is_null())
    }

    fn text(&self, path: &Option<String>) -> Option<String> {
        match self.get(path.as_deref()?)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    fn number(&self, path: &Option<String>) -> Option<u64> {
        match self.get(path.as_deref()?)? {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn position(
        &self,
        line: &Option<String>,
        column: &Option<String>,
        checker: &Checker,
    ) -> Option<Position> {
        let (line, column) = (self.number(line)?, self.number(column));
        Some(Position::counted(line, column, checker.first_line, checker.first_column))
    }
}

fn message(it: &Item<'_>, fields: &Fields, checker: &Checker) -> Result<Message, String> {
    let named = |path: &str| it.text(&Some(path.to_owned())).ok_or_else(|| format!("there is no `{path}`"));
    let (path, mut text) = (named(&fields.path)?, named(&fields.message)?);
    if let Some(hint) = it.text(&fields.hint) {
        text = format!("{text}\n{hint}");
    }
    let start = it.position(&fields.line, &fields.column, checker);
    let end = it.position(&fields.end_line, &fields.end_column, checker);
    let columns = checker.columns.unwrap_or(Columns::CodePoints);
    let mut message =
        Message::new(path.clone(), start.map(|start| Extent::Lines { start, end, columns }), text);
    message.code = it.text(&fields.code).map(|code| format!("{}{code}", checker.code_prefix));
    message.name = it.text(&fields.name);
    message.url = it.text(&fields.url);
    let is_error = message.code.as_ref().is_some_and(|it| checker.error_codes.contains(it));
    let printed = checker.severity_of(it.text(&fields.severity).as_deref());
    message.severity = if is_error { Severity::Error } else { printed };
    message.fixes.extend(fields.fix.as_ref().and_then(|fix| repair(it, fix, &path, checker)));
    Ok(message)
}

/// Returns the fix if it can be applied as it is printed. Half a fix is none.
fn repair(it: &Item<'_>, fix: &FixFields, path: &str, checker: &Checker) -> Option<Repair> {
    let edits = match &fix.edits {
        Some(edits) => items(it.value, edits).ok()?,
        None => vec![Item { value: it.value, around: Vec::new() }],
    };
    let replacement = |it: &Item<'_>| {
        let text = it.text(&Some(fix.text.clone()))?;
        Some(Replacement { path: path.to_owned(), extent: extent(it, fix, checker)?, text })
    };
    let edits: Option<Vec<_>> = edits.iter().map(replacement).collect();
    let edits = edits.filter(|it| !it.is_empty())?;
    let applicability = match it.text(&fix.applicability).as_deref() {
        Some("safe") => Applicability::Safe,
        Some("unsafe") | None => Applicability::Unsafe,
        Some(_) => return None,
    };
    Some(Repair { text: None, applicability, edits })
}

fn extent(it: &Item<'_>, fix: &FixFields, checker: &Checker) -> Option<Extent> {
    let columns = checker.columns.unwrap_or(Columns::CodePoints);
    if let Some(range) = &fix.range {
        let bound = |at: usize| it.get(range)?.get(at)?.as_u64().and_then(|it| u32::try_from(it).ok());
        return Some(Extent::Offsets { start: bound(0)?, end: bound(1)?, columns });
    }
    let start = it.position(&fix.line, &fix.column, checker)?;
    let end = it.position(&fix.end_line, &fix.end_column, checker)?;
    Some(Extent::Lines { start, end: Some(end), columns })
}
