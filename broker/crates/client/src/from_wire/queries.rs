//! Answers of language servers.

use broker_proto::{v1 as pb, v1::query_edit::Step};
use overlay::Revision;
use workspaces::{MethodReply, QueryAnswer, QueryEdit, QueryItem, QueryLocation};

use super::{Answer, maybe_hash, path, range, some, span, text_edit};

pub(crate) fn query(it: pb::QueryResponse) -> Answer<QueryAnswer> {
    Ok(QueryAnswer {
        server: it.server,
        revision: Revision(it.revision),
        content: maybe_hash(&it.content_hash)?,
        partial: some(it.partial_reason),
        items: it.items.into_iter().map(item).collect::<Answer<_>>()?,
        edits: it.edits.into_iter().filter_map(|it| it.step).map(edit).collect::<Answer<_>>()?,
        notes: it.notes,
        applied: it.applied_revision.map(Revision),
    })
}

pub(crate) fn method_reply(it: pb::CallMethodResponse) -> MethodReply {
    MethodReply {
        server: it.server,
        result: it.result_json,
        position_encoding: it.position_encoding,
        revision: Revision(it.revision),
        partial: some(it.partial_reason),
    }
}

fn item(it: pb::QueryItem) -> Answer<QueryItem> {
    Ok(QueryItem {
        label: it.label,
        kind: it.kind,
        detail: it.detail,
        documentation: it.documentation,
        location: it.location.map(location).transpose()?,
        whole: it.whole.map(range).transpose()?,
        insert_text: it.insert_text,
        container: it.container,
        tags: it.tags,
        calls: it.calls.into_iter().map(location).collect::<Answer<_>>()?,
        children: it.children.into_iter().map(item).collect::<Answer<_>>()?,
    })
}

fn location(it: pb::Location) -> Answer<QueryLocation> {
    Ok(QueryLocation { path: it.path, range: it.range.map(range).transpose()?, span: it.span.map(span) })
}

fn edit(it: Step) -> Answer<QueryEdit> {
    Ok(match it {
        Step::Text(it) => {
            let edits = it.edits.into_iter().map(text_edit).collect::<Answer<_>>()?;
            QueryEdit::Text { path: path(&it.path)?, edits }
        }
        Step::CreatePath(it) => QueryEdit::Create { path: path(&it)? },
        Step::Rename(it) => QueryEdit::Rename { from: path(&it.from_path)?, to: path(&it.to_path)? },
        Step::RemovePath(it) => QueryEdit::Remove { path: path(&it)? },
    })
}
