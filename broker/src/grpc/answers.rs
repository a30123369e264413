//! Answers of language servers as messages.

use broker_proto::{v1 as pb, v1::query_edit::Step};
use workspaces::{QueryAnswer, QueryEdit, QueryItem, QueryLocation};

use super::to_proto::{range, span, text_edit};

pub(super) fn response(it: QueryAnswer) -> pb::QueryResponse {
    pb::QueryResponse {
        server: it.server,
        revision: it.revision.0,
        content_hash: it.content.map(|it| it.to_string()).unwrap_or_default(),
        partial_reason: it.partial.unwrap_or_default(),
        items: it.items.into_iter().map(item).collect(),
        edits: it.edits.into_iter().map(|it| pb::QueryEdit { step: Some(step(it)) }).collect(),
        notes: it.notes,
        applied_revision: it.applied.map(|it| it.0),
    }
}

fn item(it: QueryItem) -> pb::QueryItem {
    pb::QueryItem {
        label: it.label,
        kind: it.kind,
        detail: it.detail,
        documentation: it.documentation,
        location: it.location.map(location),
        whole: it.whole.map(range),
        insert_text: it.insert_text,
        container: it.container,
        tags: it.tags,
        calls: it.calls.into_iter().map(location).collect(),
        children: it.children.into_iter().map(item).collect(),
    }
}

fn location(it: QueryLocation) -> pb::Location {
    pb::Location { path: it.path, range: it.range.map(range), span: it.span.map(span) }
}

fn step(it: QueryEdit) -> Step {
    match it {
        QueryEdit::Text { path, edits } => {
            let edits = edits.into_iter().map(text_edit).collect();
            Step::Text(pb::QueryTextEdits { path: path.to_string(), edits })
        }
        QueryEdit::Create { path } => Step::CreatePath(path.to_string()),
        QueryEdit::Rename { from, to } => {
            Step::Rename(pb::QueryRename { from_path: from.to_string(), to_path: to.to_string() })
        }
        QueryEdit::Remove { path } => Step::RemovePath(path.to_string()),
    }
}
