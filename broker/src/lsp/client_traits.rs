//! Capabilities of the client, from the parameters of `initialize`.
//!
//! Reads plain JSON rather than typed parameters, so that one malformed capability does not end the session.

use lsp_client::PositionEncoding;
use serde_json::Value;

/// Capabilities of the client that change what is sent to it.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one capability of the protocol")]
pub(super) struct ClientTraits {
    pub(super) name: String,
    pub(super) encoding: PositionEncoding,
    /// Pulls diagnostics, so that none are pushed.
    pub(super) pulls: bool,
    pub(super) related_documents: bool,
    pub(super) diagnostics: DiagnosticTraits,
    pub(super) refresh_diagnostics: bool,
    pub(super) refresh_lenses: bool,
    pub(super) apply_edit: bool,
    /// Takes edits that name the version of their document.
    pub(super) document_changes: bool,
    pub(super) creates_files: bool,
    pub(super) resolves_edits: bool,
    /// Takes code actions; a client without this takes commands only.
    pub(super) code_action_literals: bool,
    pub(super) disabled_actions: bool,
    pub(super) preferred_actions: bool,
    pub(super) progress: bool,
    pub(super) watches_files: bool,
    pub(super) configuration: bool,
    pub(super) registers_configuration: bool,
    pub(super) shows_documents: bool,
    pub(super) document_content: bool,
    pub(super) markdown_hover: bool,
    pub(super) branch_events: bool,
}

/// Parts of a diagnostic that the client shows or keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiagnosticTraits {
    pub(super) related: bool,
    /// Unnecessary and deprecated, in this order.
    pub(super) tags: [bool; 2],
    pub(super) links: bool,
    pub(super) data: bool,
}

impl ClientTraits {
    pub(super) fn of(params: &Value) -> Self {
        let flag = |path: &str| params.pointer(&format!("/capabilities{path}")) == Some(&Value::Bool(true));
        let has =
            |path: &str| params.pointer(&format!("/capabilities{path}")).is_some_and(|it| !it.is_null());
        let lists = |path: &str, wanted: &str| {
            let list = params.pointer(&format!("/capabilities{path}")).and_then(Value::as_array);
            list.is_some_and(|it| it.iter().any(|it| it == wanted))
        };
        let has_tag = |path: &str, tag: u32| {
            let list = params.pointer(&format!("/capabilities{path}")).and_then(Value::as_array);
            list.is_some_and(|it| it.iter().any(|it| it == tag))
        };
        let pulls = has("/textDocument/diagnostic");
        // Since LSP 3.18, pulled diagnostics have capabilities of their own; before, those of pushed ones hold for both.
        let of_diagnostics = |name: &str| {
            let path = |kind: &str| format!("/textDocument/{kind}/{name}");
            let kind = if pulls && has(&path("diagnostic")) { "diagnostic" } else { "publishDiagnostics" };
            path(kind)
        };
        Self {
            name: params
                .pointer("/clientInfo/name")
                .and_then(Value::as_str)
                .unwrap_or("an editor")
                .to_owned(),
            encoding: encoding(params),
            pulls,
            related_documents: flag("/textDocument/diagnostic/relatedDocumentSupport"),
            diagnostics: DiagnosticTraits {
                related: flag(&of_diagnostics("relatedInformation")),
                tags: [1, 2].map(|it| has_tag(&of_diagnostics("tagSupport/valueSet"), it)),
                links: flag(&of_diagnostics("codeDescriptionSupport")),
                data: flag(&of_diagnostics("dataSupport")),
            },
            refresh_diagnostics: flag("/workspace/diagnostics/refreshSupport"),
            refresh_lenses: flag("/workspace/codeLens/refreshSupport"),
            apply_edit: flag("/workspace/applyEdit"),
            document_changes: flag("/workspace/workspaceEdit/documentChanges"),
            creates_files: lists("/workspace/workspaceEdit/resourceOperations", "create"),
            resolves_edits: lists("/textDocument/codeAction/resolveSupport/properties", "edit"),
            code_action_literals: has("/textDocument/codeAction/codeActionLiteralSupport"),
            preferred_actions: flag("/textDocument/codeAction/isPreferredSupport"),
            disabled_actions: flag("/textDocument/codeAction/disabledSupport"),
            progress: flag("/window/workDoneProgress"),
            watches_files: flag("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            configuration: flag("/workspace/configuration"),
            registers_configuration: flag("/workspace/didChangeConfiguration/dynamicRegistration"),
            shows_documents: flag("/window/showDocument/support"),
            document_content: has("/workspace/textDocumentContent"),
            markdown_hover: lists("/textDocument/hover/contentFormat", "markdown"),
            branch_events: flag("/experimental/brokerBranches"),
        }
    }
}

/// The first of the client's encodings that is supported here, else UTF-16, which every client supports.
fn encoding(params: &Value) -> PositionEncoding {
    let offered = params.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
    let known = |it: &Value| match it.as_str()? {
        "utf-8" => Some(PositionEncoding::Utf8),
        "utf-16" => Some(PositionEncoding::Utf16),
        "utf-32" => Some(PositionEncoding::Utf32),
        _ => None,
    };
    offered.into_iter().flatten().find_map(known).unwrap_or(PositionEncoding::Utf16)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_that_says_nothing_gets_the_least() {
        let traits = ClientTraits::of(&json!({"capabilities": {}}));
        assert_eq!(traits.encoding, PositionEncoding::Utf16);
        assert!(!traits.pulls && !traits.diagnostics.related && !traits.apply_edit && !traits.branch_events);
        let odd = ClientTraits::of(&json!({"capabilities": {"textDocument": 7, "general": []}}));
        assert_eq!(odd.name, "an editor");
    }

    #[test]
    fn the_client_prefers_an_encoding() {
        let of = |offered: Value| {
            encoding(&json!({"capabilities": {"general": {"positionEncodings": offered}}})).as_str()
        };
        assert_eq!(of(json!(["utf-32", "utf-8"])), "utf-32");
        assert_eq!(of(json!(["utf-7", "utf-8"])), "utf-8");
        assert_eq!(of(json!([])), "utf-16");
    }
}
