//! `workspace/symbol`, from the project's language servers.

use std::rc::Rc;

use gen_lsp_types::{Location, Position, Range, Uri};
use overlay::WorkspacePath;
use serde_json::{Value, json};
use workspaces::{QueryItem, QueryKind, QueryLocation, QueryRequest};

use super::{document::DocumentLocation, failure::Failure, folder::Folder, server::Server, target};

/// Asks the language servers of all open documents.
pub(super) async fn find(server: &Rc<Server>, params: &Value) -> Result<Value, Failure> {
    let text = params.get("query").and_then(Value::as_str).unwrap_or_default();
    let mut found = Vec::new();
    for folder in server.folders() {
        let Some(connection) = folder.connection() else { continue };
        let of_folder = |place: &DocumentLocation| match place {
            DocumentLocation::Base(of, path) if Rc::ptr_eq(of, &folder) => Some(path.as_str().to_owned()),
            DocumentLocation::Base(..) | DocumentLocation::Branch(..) | DocumentLocation::Elsewhere => None,
        };
        let mut paths: Vec<_> = server.documents().iter().filter_map(|it| of_folder(&it.place)).collect();
        // Files with the same extension have the same server: ask for one of each.
        paths.sort_by(|a, b| ending(a).cmp(ending(b)));
        paths.dedup_by(|a, b| ending(a) == ending(b));
        for path in paths {
            let target = target::base(&connection);
            let request = QueryRequest {
                text: text.to_owned(),
                ..QueryRequest::of(target, QueryKind::WorkspaceSymbols, path)
            };
            match folder.workspaces.query(request).await {
                Ok(answer) => {
                    for it in answer.items {
                        found.extend(symbol(server, &folder, &it).await);
                    }
                }
                // Most often, there is no language server for this file.
                Err(error) => server.log(format!("workspace/symbol: {error}")),
            }
        }
    }
    Ok(json!(found))
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

async fn symbol(server: &Rc<Server>, folder: &Rc<Folder>, it: &QueryItem) -> Option<Value> {
    let location = it.location.as_ref()?;
    let uri = match WorkspacePath::new(&location.path) {
        Ok(path) => folder.uris.of(&path),
        // A place outside of the workspace is an absolute path or a URI.
        Err(_) if location.path.starts_with('/') => {
            lsp_client::uri::of_folder(std::path::Path::new(&location.path))
        }
        Err(_) => location.path.clone(),
    };
    let range = range(server, folder, location).await.unwrap_or_default();
    let location = Location { uri: Uri(uri), range };
    let mut symbol = json!({"name": it.label, "kind": kind(&it.kind), "location": location});
    if !it.container.is_empty() {
        symbol["containerName"] = json!(it.container);
    }
    Some(symbol)
}

/// The range in the client's positions. Without the file's text, it counts Unicode scalar values, which differs from UTF-16 only
/// behind characters beyond U+FFFF.
async fn range(server: &Rc<Server>, folder: &Rc<Folder>, it: &QueryLocation) -> Option<Range> {
    let connection = folder.connection()?;
    let place = DocumentLocation::Base(Rc::clone(folder), WorkspacePath::root());
    if let (Some(span), Ok(_)) = (it.span, WorkspacePath::new(&it.path))
        && let Ok(Some(text)) = server.text_of(folder, &connection, &place, &it.path).await
    {
        return Some(text.index().range(span));
    }
    let at = |it: lint::LineColumn| Position {
        line: it.line.saturating_sub(1),
        character: it.column.saturating_sub(1),
    };
    let range = it.range?;
    Some(Range { start: at(range.start), end: at(range.end) })
}

/// `SymbolKind` by the daemon's name; a variable for unknown names.
fn kind(name: &str) -> u32 {
    const KINDS: [&str; 26] = [
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
    let plain = name.replace(['-', '_'], " ");
    let place = KINDS.iter().position(|it| *it == plain);
    place.and_then(|it| u32::try_from(it + 1).ok()).unwrap_or(13)
}
