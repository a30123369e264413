//! Shapes of messages: each must deserialise as the protocol's own type, and have no fields that this type does not have.

use gen_lsp_types::{Notification, Request, lsp_notification, lsp_request};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Returns the reason why a value is not exactly a `T`.
fn fault<T: DeserializeOwned + Serialize>(value: &Value) -> Option<String> {
    match serde_json::from_value::<T>(value.clone()) {
        Ok(read) => difference(value, &serde_json::to_value(read).unwrap(), ""),
        Err(error) => Some(error.to_string()),
    }
}

/// The first place where `sent` differs from `read`, its value after a round trip through the type.
fn difference(sent: &Value, read: &Value, at: &str) -> Option<String> {
    match (sent, read) {
        (Value::Object(sent), Value::Object(read)) => sent.iter().find_map(|(name, it)| {
            let at = format!("{at}/{name}");
            match read.get(name) {
                Some(read) => difference(it, read, &at),
                None if it.is_null() => Some(format!("{at} is null, and may only be absent")),
                None => Some(format!("there is no {at} in the protocol")),
            }
        }),
        (Value::Array(sent), Value::Array(read)) if sent.len() == read.len() => {
            let pairs = sent.iter().zip(read).enumerate();
            pairs
                .into_iter()
                .find_map(|(index, (sent, read))| difference(sent, read, &format!("{at}/{index}")))
        }
        _ if sent == read => None,
        _ => Some(format!("{at} is {sent}, which reads as {read}")),
    }
}

macro_rules! by_request {
    ($method:expr, $value:expr, $part:ident: $($name:tt)*) => {
        match $method {
            $($name => fault::<<lsp_request!($name) as Request>::$part>($value),)*
            other => Some(format!("no shape of {other} is known")),
        }
    };
}

macro_rules! by_notification {
    ($method:expr, $value:expr, $($name:tt)*) => {
        match $method {
            $($name => fault::<<lsp_notification!($name) as Notification>::Params>($value),)*
            other => Some(format!("no shape of {other} is known")),
        }
    };
}

/// Returns the fault in the result of a request of the client.
pub(crate) fn of_result(method: &str, result: &Value) -> Option<String> {
    by_request!(method, result, Result:
        "initialize" "shutdown" "textDocument/diagnostic" "workspace/diagnostic" "textDocument/codeAction"
        "codeAction/resolve" "textDocument/hover" "textDocument/completion" "completionItem/resolve"
        "textDocument/codeLens" "codeLens/resolve" "workspace/executeCommand" "workspace/textDocumentContent"
        "workspace/willRenameFiles" "textDocument/definition" "textDocument/declaration"
        "textDocument/typeDefinition" "textDocument/implementation" "textDocument/references"
        "textDocument/documentHighlight" "textDocument/signatureHelp" "textDocument/documentSymbol"
        "workspace/symbol" "textDocument/prepareRename" "textDocument/rename"
        "textDocument/prepareCallHierarchy" "callHierarchy/incomingCalls" "callHierarchy/outgoingCalls"
        "textDocument/prepareTypeHierarchy" "typeHierarchy/supertypes" "typeHierarchy/subtypes"
        "textDocument/semanticTokens/full" "textDocument/semanticTokens/range" "textDocument/inlayHint"
        "textDocument/foldingRange" "textDocument/selectionRange"
    )
}

/// Returns the fault in the parameters of a request of the server.
pub(crate) fn of_request(method: &str, params: &Value) -> Option<String> {
    by_request!(method, params, Params:
        "client/registerCapability" "client/unregisterCapability" "window/showDocument"
        "window/showMessageRequest" "window/workDoneProgress/create" "workspace/applyEdit"
        "workspace/codeLens/refresh" "workspace/configuration" "workspace/diagnostic/refresh"
        "workspace/foldingRange/refresh" "workspace/inlayHint/refresh" "workspace/semanticTokens/refresh"
        "workspace/textDocumentContent/refresh" "workspace/workspaceFolders"
    )
}

/// Returns the fault in the parameters of a notification of the server.
pub(crate) fn of_notification(method: &str, params: &Value) -> Option<String> {
    match method {
        "broker/branchChanged" => of_branch_changed(params),
        _ => by_notification!(method, params,
            "$/cancelRequest" "$/logTrace" "$/progress" "telemetry/event" "textDocument/publishDiagnostics"
            "window/logMessage" "window/showMessage"
        ),
    }
}

/// Returns the fault in a partial result in `$/progress`.
pub(crate) fn of_partial_result(method: &str, value: &Value) -> Option<String> {
    use gen_lsp_types::{DocumentDiagnosticReportPartialResult, WorkspaceDiagnosticReportPartialResult};
    match method {
        "workspace/diagnostic" => fault::<WorkspaceDiagnosticReportPartialResult>(value),
        "textDocument/diagnostic" => fault::<DocumentDiagnosticReportPartialResult>(value),
        _ => None,
    }
}

/// Required and optional keys of Broker's own messages.
type Keys = (&'static [&'static str], &'static [&'static str]);

const BRANCH: Keys = (&["id", "name", "workspace", "revision", "changedPaths", "createdMs"], &["parent"]);
const CHANGE: Keys = (&["path", "kind", "uri", "branchUri"], &["from"]);
const BRANCH_CHANGED: Keys = (&["kind", "branch"], &["changes"]);
const CHANGED: [&str; 4] = ["forked", "edited", "committed", "discarded"];
const CHANGES: [&str; 5] = ["added", "modified", "deleted", "renamed", "mode"];

fn of_branch_changed(params: &Value) -> Option<String> {
    let changes = params.get("changes").and_then(Value::as_array).into_iter().flatten();
    keys(params, BRANCH_CHANGED)
        .or_else(|| one_of(&params["kind"], &CHANGED))
        .or_else(|| of_branch(&params["branch"]))
        .or_else(|| changes.into_iter().find_map(of_change))
}

pub fn of_branch(branch: &Value) -> Option<String> {
    keys(branch, BRANCH)
}

pub fn of_change(change: &Value) -> Option<String> {
    keys(change, CHANGE).or_else(|| one_of(&change["kind"], &CHANGES))
}

/// Returns the fault in the keys of an object.
pub(crate) fn keys(value: &Value, (required, optional): Keys) -> Option<String> {
    let Some(object) = value.as_object() else { return Some(format!("it is no object: {value}")) };
    let missing =
        required.iter().find(|it| !object.contains_key(**it)).map(|it| format!("it has no {it}: {value}"));
    let unknown =
        object.keys().find(|it| !required.contains(&it.as_str()) && !optional.contains(&it.as_str()));
    missing.or_else(|| unknown.map(|it| format!("it has an unknown {it}: {value}")))
}

fn one_of(value: &Value, all: &[&str]) -> Option<String> {
    let is_known = value.as_str().is_some_and(|it| all.contains(&it));
    (!is_known).then(|| format!("{value} is none of {all:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hover(it: Value) -> Option<String> {
        of_result("textDocument/hover", &it)
    }

    #[test]
    fn what_the_protocol_has_is_right() {
        assert_eq!(hover(Value::Null), None);
        assert_eq!(hover(json!({ "contents": { "kind": "markdown", "value": "x" } })), None);
    }

    #[test]
    fn what_it_has_not_is_wrong() {
        let range =
            json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0, "x": 1 } });
        for wrong in [
            json!({ "contents": "x", "rangee": 1 }),
            json!({ "contents": "x", "range": null }),
            json!({ "contents": "x", "range": range }),
            json!({ "contents": 7 }),
            json!([]),
        ] {
            assert!(hover(wrong.clone()).is_some(), "{wrong}");
        }
    }
}
