//! Call and type hierarchies. One step from a place: the next one is asked from the result of this one.

use lsp_client::Range;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{At, Location, NoAnswer, SymbolKind, TextRange, asker::Asker};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hierarchy {
    /// The function at the place, alone.
    Calls,
    IncomingCalls,
    OutgoingCalls,
    /// The type at the place, alone.
    Types,
    Supertypes,
    Subtypes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub name: String,
    pub detail: Option<String>,
    pub kind: SymbolKind,
    /// Place of the name.
    pub location: Location,
    /// Range of the whole item.
    pub whole: Option<TextRange>,
}

/// Item that was asked about, or that is one step away from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    pub item: Item,
    /// Places of the calls between the two items.
    pub calls: Vec<Location>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireItem {
    name: String,
    kind: u8,
    detail: Option<String>,
    uri: String,
    range: Range,
    selection_range: Range,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    #[serde(alias = "from")]
    to: WireItem,
    #[serde(default)]
    from_ranges: Vec<Range>,
}

pub(super) fn ask(asker: &Asker<'_>, step: Hierarchy, at: At) -> Result<Vec<Linked>, NoAnswer> {
    let prepare = match step {
        Hierarchy::Calls | Hierarchy::IncomingCalls | Hierarchy::OutgoingCalls => {
            "textDocument/prepareCallHierarchy"
        }
        Hierarchy::Types | Hierarchy::Supertypes | Hierarchy::Subtypes => "textDocument/prepareTypeHierarchy",
    };
    let prepared: Option<Vec<Value>> = asker.request(prepare, &asker.at(at)?)?;
    let mut all = Vec::new();
    for item in prepared.unwrap_or_default() {
        all.extend(follow(asker, step, item)?);
    }
    Ok(all)
}

fn follow(asker: &Asker<'_>, step: Hierarchy, item: Value) -> Result<Vec<Linked>, NoAnswer> {
    let method = match step {
        Hierarchy::Calls | Hierarchy::Types => return Ok(linked(asker, read(item)?).into_iter().collect()),
        Hierarchy::IncomingCalls => "callHierarchy/incomingCalls",
        Hierarchy::OutgoingCalls => "callHierarchy/outgoingCalls",
        Hierarchy::Supertypes => "typeHierarchy/supertypes",
        Hierarchy::Subtypes => "typeHierarchy/subtypes",
    };
    let params = json!({ "item": item });
    match step {
        Hierarchy::IncomingCalls | Hierarchy::OutgoingCalls => {
            let calls: Option<Vec<Call>> = asker.request(method, &params)?;
            // A call stands in the caller's file.
            let asked = item["uri"].as_str().unwrap_or_default();
            let call = |it: Call| {
                let caller =
                    if step == Hierarchy::IncomingCalls { it.to.uri.clone() } else { asked.to_owned() };
                let ranges = it.from_ranges.into_iter().map(|it| (caller.clone(), Some(it)));
                let calls = asker.texts().locations(ranges);
                linked(asker, it.to).map(|it| Linked { calls, ..it })
            };
            Ok(calls.unwrap_or_default().into_iter().filter_map(call).collect())
        }
        _ => {
            let types: Option<Vec<WireItem>> = asker.request(method, &params)?;
            Ok(types.unwrap_or_default().into_iter().filter_map(|it| linked(asker, it)).collect())
        }
    }
}

fn read(item: Value) -> Result<WireItem, NoAnswer> {
    let bad = |it: serde_json::Error| NoAnswer::Failed(format!("an item is not understood: {it}"));
    serde_json::from_value(item).map_err(bad)
}

fn linked(asker: &Asker<'_>, it: WireItem) -> Option<Linked> {
    let both = [it.selection_range, it.range].map(|range| (it.uri.clone(), Some(range)));
    let mut locations = asker.texts().locations(both).into_iter();
    let (location, whole) = (locations.next()?, locations.next()?.range);
    let detail = it.detail.filter(|it| !it.is_empty());
    let item = Item { name: it.name, detail, kind: SymbolKind(it.kind), location, whole };
    Some(Linked { item, calls: Vec::new() })
}
