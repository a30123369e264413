//! Workspace edits, in the form that the client supports.

use std::collections::HashMap;

use gen_lsp_types::{
    CreateFile, DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, Position, Range,
    TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri, WorkspaceEdit,
};
use toml_edit::{Array, DocumentMut, Item, Value};

use super::{client_traits::ClientTraits, failure::Failure};

/// Edits of one document. A client that supports versions refuses them if the document has another one.
pub(super) fn of_document(
    traits: &ClientTraits,
    uri: &str,
    version: Option<i32>,
    edits: Vec<TextEdit>,
) -> WorkspaceEdit {
    if !traits.document_changes {
        let changes = HashMap::from([(Uri(uri.to_owned()), edits)]);
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    of_changes(vec![text_change(uri, version, edits)])
}

fn of_changes(changes: Vec<DocumentChange>) -> WorkspaceEdit {
    WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
}

fn text_change(uri: &str, version: Option<i32>, edits: Vec<TextEdit>) -> DocumentChange {
    DocumentChange::TextDocumentEdit(TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            version,
            text_document_identifier: TextDocumentIdentifier { uri: Uri(uri.to_owned()) },
        },
        edits: edits.into_iter().map(Edit::TextEdit).collect(),
    })
}

/// A new file with this text; `None` if the client cannot create files.
pub(super) fn of_new_file(traits: &ClientTraits, uri: &str, text: String) -> Option<WorkspaceEdit> {
    if !(traits.document_changes && traits.creates_files) {
        return None;
    }
    let create = CreateFile { uri: Uri(uri.to_owned()), options: None, annotation_id: None };
    let start = Position { line: 0, character: 0 };
    let insert = TextEdit { range: Range { start, end: start }, new_text: text };
    Some(of_changes(vec![DocumentChange::CreateFile(create), text_change(uri, None, vec![insert])]))
}

/// The text of `broker.toml` with the rule added to `ignore`. Formatting and comments are kept.
pub(super) fn ignoring(config: &str, rule: &str) -> Result<String, Failure> {
    let is_empty = config.lines().all(|it| it.trim().is_empty() || it.trim_start().starts_with('#'));
    if is_empty {
        // Only comments, which TOML would place behind the new key: keep them at the start.
        let newline = if config.is_empty() || config.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{config}{newline}ignore = [\"{rule}\"]\n"));
    }
    let mut document: DocumentMut =
        config.parse().map_err(|error| Failure::failed(format!("broker.toml cannot be changed: {error}")))?;
    let ignore = document.entry("ignore").or_insert(Item::Value(Value::Array(Array::new())));
    let Some(rules) = ignore.as_array_mut() else {
        return Err(Failure::failed("`ignore` in broker.toml is no list"));
    };
    if !rules.iter().any(|it| it.as_str() == Some(rule)) {
        rules.push(rule);
    }
    // TOML's editor writes neither.
    let has_mark = config.starts_with('\u{feff}');
    let mut text = document.to_string();
    if config.contains("\r\n") {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Ok(if has_mark && !text.starts_with('\u{feff}') { format!("\u{feff}{text}") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_added_to_those_that_are_ignored() {
        for (before, want) in [
            ("", "ignore = [\"p/A\"]\n"),
            (
                "# why\nignore = [\"p/B\"] # so\n[severity]\n",
                "# why\nignore = [\"p/B\", \"p/A\"] # so\n[severity]\n",
            ),
            ("# a file", "# a file\nignore = [\"p/A\"]\n"),
            ("ignore = [\"p/A\"]\n", "ignore = [\"p/A\"]\n"),
            (
                "\u{feff}a = 1\r\n\r\n[severity]\r\n",
                "\u{feff}a = 1\r\nignore = [\"p/A\"]\r\n\r\n[severity]\r\n",
            ),
            ("[severity]\nx = \"error\"\n", "ignore = [\"p/A\"]\n[severity]\nx = \"error\"\n"),
        ] {
            assert_eq!(ignoring(before, "p/A").unwrap(), want);
        }
        assert!(ignoring("ignore = 1", "p/A").is_err() && ignoring("[", "p/A").is_err());
    }
}
