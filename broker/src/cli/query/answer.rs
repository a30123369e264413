//! An answer of a language server, for people and for programs.

use std::fmt::Write as _;

use lint::printable;
use overlay::WorkspacePath;
use serde::Serialize;
use workspaces::{QueryAnswer, QueryEdit, QueryItem, QueryLocation};

use crate::client::Opened;

#[derive(Serialize)]
pub(super) struct Answer {
    server: String,
    /// 0 for the disk.
    revision: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    content_hash: String,
    /// Reason why the answer may be incomplete.
    #[serde(skip_serializing_if = "String::is_empty")]
    partial_reason: String,
    items: Vec<Item>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<Edit>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_revision: Option<u64>,
}

#[derive(Serialize)]
struct Item {
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    documentation: String,
    #[serde(flatten)]
    location: Option<Location>,
    #[serde(skip_serializing_if = "String::is_empty")]
    insert_text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    container: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Self>,
}

/// Lines and columns from 1, columns in Unicode scalar values; the end is the first that is not part of it.
#[derive(Serialize)]
struct Location {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
}

/// Offsets count bytes of the text before this step.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Edit {
    Text { path: String, edits: Vec<TextEdit> },
    Create { path: String },
    Rename { path: String, to: String },
    Remove { path: String },
}

#[derive(Serialize)]
struct TextEdit {
    start: u32,
    end: u32,
    replacement: String,
}

impl Answer {
    /// `path` is the file that was asked about.
    pub(super) fn of(open: &Opened, path: &str, it: &QueryAnswer) -> Self {
        Self {
            server: it.server.clone(),
            revision: it.revision.0,
            content_hash: it.content.map(|it| it.to_string()).unwrap_or_default(),
            partial_reason: it.partial.clone().unwrap_or_default(),
            items: it.items.iter().map(|it| Item::of(open, path, it)).collect(),
            edits: it.edits.iter().map(|it| Edit::of(open, it)).collect(),
            notes: it.notes.clone(),
            applied_revision: it.applied.map(|it| it.0),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.edits.is_empty()
    }

    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        self.items.iter().for_each(|it| it.write(0, &mut text));
        for edit in &self.edits {
            text += &edit.render();
        }
        for note in &self.notes {
            let _to_a_string = writeln!(text, "note: {}", printable(note));
        }
        if let Some(revision) = self.applied_revision {
            let _to_a_string = writeln!(text, "revision {revision}");
        }
        text
    }
}

impl Item {
    fn of(open: &Opened, path: &str, it: &QueryItem) -> Self {
        Self {
            label: it.label.clone(),
            kind: it.kind.clone(),
            detail: it.detail.clone(),
            documentation: it.documentation.clone(),
            location: it.location.as_ref().map(|it| Location::of(open, path, it)),
            insert_text: it.insert_text.clone(),
            container: it.container.clone(),
            tags: it.tags.clone(),
            calls: it.calls.iter().map(|it| Location::of(open, path, it)).collect(),
            children: it.children.iter().map(|it| Self::of(open, path, it)).collect(),
        }
    }

    fn write(&self, depth: usize, text: &mut String) {
        let location = self.location.as_ref().map(Location::render).unwrap_or_default();
        let tags = self.tags.join(" ");
        let words = [&*location, &*self.kind, &*self.label, &*self.detail, &*self.container, &*tags];
        let words: Vec<_> = words.iter().filter(|it| !it.is_empty()).map(|it| printable(it)).collect();
        if !words.is_empty() && (self.documentation.is_empty() || !self.label.is_empty()) {
            let _to_a_string = writeln!(text, "{:indent$}{}", "", words.join("  "), indent = depth * 2);
        }
        for line in self.documentation.lines() {
            let _to_a_string = writeln!(text, "{}", printable(line));
        }
        for call in &self.calls {
            let _to_a_string =
                writeln!(text, "{:indent$}  called at {}", "", call.render(), indent = depth * 2);
        }
        self.children.iter().for_each(|it| it.write(depth + 1, text));
    }
}

impl Location {
    fn of(open: &Opened, path: &str, it: &QueryLocation) -> Self {
        let path = if it.path.is_empty() { path } else { &it.path };
        let is_elsewhere = path.starts_with('/') || path.contains(':');
        let (start, end) = (it.range.map(|it| it.start), it.range.map(|it| it.end));
        Self {
            path: if is_elsewhere { path.to_owned() } else { open.display(path) },
            line: start.map(|it| it.line),
            column: start.map(|it| it.column),
            end_line: end.map(|it| it.line),
            end_column: end.map(|it| it.column),
        }
    }

    fn render(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.path),
            _ => self.path.clone(),
        }
    }
}

impl Edit {
    fn of(open: &Opened, edit: &QueryEdit) -> Self {
        let display = |path: &WorkspacePath| open.display(path.as_str());
        match edit {
            QueryEdit::Text { path, edits } => {
                Self::Text { path: display(path), edits: edits.iter().map(TextEdit::of).collect() }
            }
            QueryEdit::Create { path } => Self::Create { path: display(path) },
            QueryEdit::Rename { from, to } => Self::Rename { path: display(from), to: display(to) },
            QueryEdit::Remove { path } => Self::Remove { path: display(path) },
        }
    }

    fn render(&self) -> String {
        match self {
            Self::Text { path, edits } => {
                format!("changes   {path} in {}\n", lint::counted(edits.len(), "place"))
            }
            Self::Create { path } => format!("creates   {path}\n"),
            Self::Rename { path, to } => format!("renames   {path} to {to}\n"),
            Self::Remove { path } => format!("removes   {path}\n"),
        }
    }
}

impl TextEdit {
    fn of(it: &overlay::TextEdit) -> Self {
        Self { start: it.start, end: it.end, replacement: it.replacement.clone() }
    }
}
