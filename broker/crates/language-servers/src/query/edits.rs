//! Edits of a server, as steps that a branch can take. Tried on a branch of the view first, so that the steps handed on
//! can be done. Nothing outside of the workspace is ever changed.

use std::{collections::BTreeMap, str, sync::Arc};

use bytes::Bytes;
use lsp_client::{PositionEncoding, Positions, uri::Uris};
use overlay::{Branch, ContentHash, EditError, View, WorkspacePath};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{At, NoAnswer, Part, Style, asker::Asker, wire::TextEdit};

/// Edits, to be applied in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    pub steps: Vec<EditStep>,
    /// Descriptions of the edits from the server: the purpose of each, and whether a person is to look at it first.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditStep {
    Text {
        path: WorkspacePath,
        /// Hash of the text before this step, in which the edits' offsets count.
        content: ContentHash,
        /// Sorted, and not overlapping.
        edits: Vec<overlay::TextEdit>,
    },
    /// An empty file.
    Create {
        path: WorkspacePath,
    },
    Rename {
        from: WorkspacePath,
        to: WorkspacePath,
    },
    /// Removal of a path with all that is below it.
    Remove {
        path: WorkspacePath,
    },
}

impl Edits {
    /// Applies all steps or none.
    pub fn apply(&self, branch: &mut Branch) -> Result<(), EditError> {
        let mut edited = branch.clone();
        self.steps.iter().try_for_each(|it| it.apply(&mut edited))?;
        *branch = edited;
        Ok(())
    }
}

impl EditStep {
    fn apply(&self, branch: &mut Branch) -> Result<(), EditError> {
        match self {
            Self::Text { path, content, edits } => branch.edit_text_if(path, *content, edits),
            Self::Create { path } => branch.create(path, Bytes::new()),
            Self::Rename { from, to } => branch.rename(from, to),
            Self::Remove { path } => branch.remove(path),
        }
        .map(drop)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorkspaceEdit {
    changes: Option<BTreeMap<String, Vec<TextEdit>>>,
    document_changes: Option<Vec<DocumentChange>>,
    #[serde(default)]
    change_annotations: BTreeMap<String, Annotation>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DocumentChange {
    /// Edits of one document. Its version is that of the view: nothing was sent since.
    #[serde(rename_all = "camelCase")]
    Text {
        text_document: Document,
        edits: Vec<TextEdit>,
    },
    Operation(Operation),
}

#[derive(Deserialize)]
struct Document {
    uri: String,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Operation {
    Create {
        uri: String,
        #[serde(default)]
        options: OperationOptions,
        annotation_id: Option<String>,
    },
    Rename {
        old_uri: String,
        new_uri: String,
        #[serde(default)]
        options: OperationOptions,
        annotation_id: Option<String>,
    },
    Delete {
        uri: String,
        #[serde(default)]
        options: OperationOptions,
        annotation_id: Option<String>,
    },
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OperationOptions {
    overwrite: bool,
    ignore_if_exists: bool,
    recursive: bool,
    ignore_if_not_exists: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotation {
    label: String,
    #[serde(default)]
    needs_confirmation: bool,
    description: Option<String>,
}

pub(super) fn rename(asker: &Asker<'_>, at: At, new_name: &str) -> Result<Edits, NoAnswer> {
    let mut params = asker.at(at)?;
    params["newName"] = json!(new_name);
    let edit: Value = asker.request("textDocument/rename", &params)?;
    if edit.is_null() {
        return Err(NoAnswer::Failed("there is nothing to rename".to_owned()));
    }
    let edits = of_workspace_edit(asker, edit)?;
    // A server that rejects the new name may answer without edits.
    let is_nothing = edits.steps.is_empty();
    if is_nothing { Err(NoAnswer::Failed(format!("nothing is renamed to `{new_name}`"))) } else { Ok(edits) }
}

pub(super) fn format(asker: &Asker<'_>, part: Option<&Part>, style: Style) -> Result<Edits, NoAnswer> {
    let options = json!({ "tabSize": style.tab_size, "insertSpaces": style.insert_spaces });
    let mut params = json!({ "textDocument": asker.document()?, "options": options });
    let method = match part {
        None => "textDocument/formatting",
        Some(part) => {
            params["range"] = json!(asker.range(part)?);
            "textDocument/rangeFormatting"
        }
    };
    let edits: Option<Vec<TextEdit>> = asker.request(method, &params)?;
    let mut draft = Draft::new(asker);
    draft.edit(asker.path()?, edits.unwrap_or_default()).map_err(NoAnswer::Failed)?;
    Ok(draft.edits)
}

pub(super) fn of_workspace_edit(asker: &Asker<'_>, edit: Value) -> Result<Edits, NoAnswer> {
    let mut draft = Draft::new(asker);
    let bad = |it: serde_json::Error| NoAnswer::Failed(format!("an edit is not understood: {it}"));
    draft.add(serde_json::from_value(edit).map_err(bad)?).map_err(NoAnswer::Failed)?;
    Ok(draft.edits)
}

/// The steps so far, and what they make of the view.
struct Draft<'a> {
    uris: &'a Uris,
    encoding: PositionEncoding,
    branch: Branch,
    edits: Edits,
    used: Vec<String>,
}

type Done = Result<(), String>;

impl<'a> Draft<'a> {
    fn new(asker: &'a Asker<'_>) -> Self {
        let branch = Branch::new(Arc::clone(asker.view));
        let (edits, used) = Default::default();
        Self { uris: asker.uris, encoding: asker.encoding(), branch, edits, used }
    }

    fn add(&mut self, edit: WorkspaceEdit) -> Done {
        let plain = |(uri, edits)| DocumentChange::Text { text_document: Document { uri }, edits };
        let changes = match edit.document_changes {
            Some(all) => all,
            None => edit.changes.unwrap_or_default().into_iter().map(plain).collect(),
        };
        // Edits of one document count in the same text, up to the next file operation.
        let mut texts = Vec::<(WorkspacePath, Vec<TextEdit>)>::new();
        for change in changes {
            match change {
                DocumentChange::Text { text_document, edits } => {
                    let path = self.path(&text_document.uri)?;
                    match texts.iter_mut().find(|it| it.0 == path) {
                        Some((_, before)) => before.extend(edits),
                        None => texts.push((path, edits)),
                    }
                }
                DocumentChange::Operation(operation) => {
                    self.edit_all(&mut texts)?;
                    self.operate(operation)?;
                }
            }
        }
        self.edit_all(&mut texts)?;
        self.note(&edit.change_annotations);
        Ok(())
    }

    fn edit_all(&mut self, texts: &mut Vec<(WorkspacePath, Vec<TextEdit>)>) -> Done {
        texts.drain(..).try_for_each(|(path, edits)| self.edit(&path, edits))
    }

    fn edit(&mut self, path: &WorkspacePath, edits: Vec<TextEdit>) -> Done {
        if edits.is_empty() {
            return Ok(());
        }
        self.used.extend(edits.iter().filter_map(|it| it.annotation_id.clone()));
        let bytes = self.branch.snapshot().open(path).map_err(|it| format!("`{path}`: {it}"))?;
        let text = str::from_utf8(&bytes).map_err(|_| format!("`{path}` is not UTF-8"))?;
        let edits =
            in_bytes(edits, &Positions::new(text, self.encoding)).map_err(|it| format!("`{path}`: {it}"))?;
        self.take(EditStep::Text { path: path.clone(), content: ContentHash::of(&bytes), edits })
    }

    fn operate(&mut self, operation: Operation) -> Done {
        match operation {
            Operation::Create { uri, options, annotation_id } => {
                self.used.extend(annotation_id);
                let path = self.path(&uri)?;
                if !self.make_room(&path, &options)? {
                    return Ok(());
                }
                self.take(EditStep::Create { path })
            }
            Operation::Rename { old_uri, new_uri, options, annotation_id } => {
                self.used.extend(annotation_id);
                let (from, to) = (self.path(&old_uri)?, self.path(&new_uri)?);
                if from != to && !self.make_room(&to, &options)? {
                    return Ok(());
                }
                self.take(EditStep::Rename { from, to })
            }
            Operation::Delete { uri, options, annotation_id } => {
                self.used.extend(annotation_id);
                let path = self.path(&uri)?;
                if options.ignore_if_not_exists && !self.is_there(&path) {
                    return Ok(());
                }
                let entries = self.branch.snapshot().list(&path).map(|it| it.entries);
                if !options.recursive && entries.is_ok_and(|it| !it.is_empty()) {
                    return Err(EditError::DirectoryNotEmpty(path).to_string());
                }
                self.take(EditStep::Remove { path })
            }
        }
    }

    /// Returns whether a file is to be created at `path`, and removes one to be overwritten. Overwriting goes before
    /// ignoring, as LSP has it.
    fn make_room(&mut self, path: &WorkspacePath, options: &OperationOptions) -> Result<bool, String> {
        match (self.is_there(path), options.overwrite, options.ignore_if_exists) {
            (false, _, _) => Ok(true),
            (true, true, _) => self.take(EditStep::Remove { path: path.clone() }).map(|()| true),
            (true, false, true) => Ok(false),
            (true, false, false) => Err(EditError::AlreadyExists(path.clone()).to_string()),
        }
    }

    fn take(&mut self, step: EditStep) -> Done {
        step.apply(&mut self.branch).map_err(|it| it.to_string())?;
        self.edits.steps.push(step);
        Ok(())
    }

    fn is_there(&self, path: &WorkspacePath) -> bool {
        self.branch.snapshot().metadata(path).is_ok()
    }

    fn path(&self, uri: &str) -> Result<WorkspacePath, String> {
        self.uris.path(uri).ok_or_else(|| format!("it would change `{uri}`, which is not in the workspace"))
    }

    /// Adds each annotation once, in their order.
    fn note(&mut self, annotations: &BTreeMap<String, Annotation>) {
        for annotation in self.used.drain(..).filter_map(|it| annotations.get(&it)) {
            let note = annotation.to_string();
            if !self.edits.notes.contains(&note) {
                self.edits.notes.push(note);
            }
        }
    }
}

impl std::fmt::Display for Annotation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.label)?;
        if let Some(description) = &self.description {
            write!(f, ": {description}")?;
        }
        f.write_str(if self.needs_confirmation { " (to be confirmed)" } else { "" })
    }
}

/// Sorted. What overlaps is an error, and so is what is no text.
pub(super) fn in_bytes(
    edits: Vec<TextEdit>,
    positions: &Positions<'_>,
) -> Result<Vec<overlay::TextEdit>, String> {
    const SNIPPET: u8 = 2;
    if edits.iter().any(|it| it.insert_text_format == Some(SNIPPET)) {
        return Err("an edit is a snippet, which nobody asked for".to_owned());
    }
    let edit = |it: TextEdit| {
        let span = positions.span(it.range);
        overlay::TextEdit { start: span.start, end: span.end, replacement: it.new_text }
    };
    let mut edits: Vec<_> = edits.into_iter().map(edit).collect();
    // Insertions at one place stay in their order.
    edits.sort_by_key(|it| (it.start, it.end));
    match edits.windows(2).find(|it| it[0].end > it[1].start) {
        Some(two) => {
            let [first, second] = [&two[0], &two[1]].map(|it| format!("bytes {} to {}", it.start, it.end));
            Err(format!("two edits overlap: {first} and {second}"))
        }
        None => Ok(edits),
    }
}
