//! Symbols that a file defines, and definitions found by name.

use lsp_client::{Positions, Range};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Location, NoAnswer, TextRange, asker::Asker, location::text_range, wire::LspLocation};

/// Symbol that a file defines, with those defined in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub detail: Option<String>,
    pub kind: SymbolKind,
    pub is_deprecated: bool,
    /// Name of the containing symbol, from a server that does not nest symbols.
    pub container: Option<String>,
    pub whole: TextRange,
    /// The name; of some servers the whole again.
    pub name_range: TextRange,
    pub children: Vec<Self>,
}

/// Symbol that the workspace defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSymbol {
    pub name: String,
    pub kind: SymbolKind,
    pub is_deprecated: bool,
    pub container: Option<String>,
    pub location: Location,
}

/// A number of LSP's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolKind(pub u8);

/// Maximum number of symbols that are resolved one by one where the server's list has no ranges.
const RESOLVED: usize = 128;

const DEPRECATED: u8 = 1;

#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    #[serde(rename_all = "camelCase")]
    Tree {
        name: String,
        detail: Option<String>,
        kind: u8,
        #[serde(default)]
        tags: Vec<u8>,
        #[serde(default)]
        deprecated: bool,
        range: Range,
        selection_range: Range,
        #[serde(default)]
        children: Vec<Self>,
    },
    Flat(Information),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Information {
    name: String,
    kind: u8,
    #[serde(default)]
    tags: Vec<u8>,
    #[serde(default)]
    deprecated: bool,
    container_name: Option<String>,
    location: SymbolLocation,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SymbolLocation {
    Full(LspLocation),
    Document { uri: String },
}

pub(super) fn of_document(asker: &Asker<'_>) -> Result<Vec<Symbol>, NoAnswer> {
    let params = json!({ "textDocument": asker.document()? });
    let found: Option<Vec<Listed>> = asker.request("textDocument/documentSymbol", &params)?;
    let positions = asker.positions()?;
    Ok(found.unwrap_or_default().into_iter().filter_map(|it| symbol(it, &positions)).collect())
}

fn symbol(it: Listed, positions: &Positions<'_>) -> Option<Symbol> {
    Some(match it {
        Listed::Tree { name, detail, kind, tags, deprecated, range, selection_range, children } => Symbol {
            name,
            detail: detail.filter(|it| !it.is_empty()),
            kind: SymbolKind(kind),
            is_deprecated: deprecated || tags.contains(&DEPRECATED),
            container: None,
            whole: text_range(positions, range),
            name_range: text_range(positions, selection_range),
            children: children.into_iter().filter_map(|it| symbol(it, positions)).collect(),
        },
        Listed::Flat(it) => {
            let is_deprecated = it.is_deprecated();
            let SymbolLocation::Full(LspLocation { range, .. }) = it.location else { return None };
            let whole = text_range(positions, range);
            Symbol {
                name: it.name,
                detail: None,
                kind: SymbolKind(it.kind),
                is_deprecated,
                container: it.container_name.filter(|it| !it.is_empty()),
                whole,
                name_range: whole,
                children: Vec::new(),
            }
        }
    })
}

pub(super) fn find(asker: &Asker<'_>, query: &str) -> Result<Vec<FoundSymbol>, NoAnswer> {
    let found: Option<Vec<Value>> = asker.request("workspace/symbol", &json!({ "query": query }))?;
    let can_resolve = asker.client.supports("workspaceSymbol/resolve");
    let mut all = Vec::new();
    let mut n_resolved = 0;
    for mut it in found.unwrap_or_default() {
        if can_resolve && it["location"].get("range").is_none() && n_resolved < RESOLVED {
            it = asker.request("workspaceSymbol/resolve", &it)?;
            n_resolved += 1;
        }
        let bad = |it: serde_json::Error| NoAnswer::Failed(format!("a symbol is not understood: {it}"));
        all.push(serde_json::from_value::<Information>(it).map_err(bad)?);
    }
    let texts = asker.texts();
    let found = |it: Information| {
        let is_deprecated = it.is_deprecated();
        let (uri, range) = match it.location {
            SymbolLocation::Full(it) => it.into(),
            SymbolLocation::Document { uri } => (uri, None),
        };
        Some(FoundSymbol {
            name: it.name,
            kind: SymbolKind(it.kind),
            is_deprecated,
            container: it.container_name.filter(|it| !it.is_empty()),
            location: texts.location(uri, range)?,
        })
    };
    Ok(all.into_iter().filter_map(found).collect())
}

impl Information {
    fn is_deprecated(&self) -> bool {
        self.deprecated || self.tags.contains(&DEPRECATED)
    }
}

impl SymbolKind {
    /// `None` for a number that LSP does not have.
    pub fn as_str(self) -> Option<&'static str> {
        const NAMES: [&str; 26] = [
            "file",
            "module",
            "namespace",
            "package",
            "class",
            "method",
            "property",
            "field",
            "constructor",
            "enum",
            "interface",
            "function",
            "variable",
            "constant",
            "string",
            "number",
            "boolean",
            "array",
            "object",
            "key",
            "null",
            "enum member",
            "struct",
            "event",
            "operator",
            "type parameter",
        ];
        NAMES.get(usize::from(self.0).wrapping_sub(1)).copied()
    }
}
