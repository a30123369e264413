//! Messages as answers. An answer that the daemon of this version does not give is an error.

mod checks;
mod merges;
mod queries;
#[cfg(target_os = "linux")]
mod runs;
mod state;
mod tournaments;

use agents::{Effect, Reply, ToolInfo, ToolList};
use broker_proto::v1::{
    self as pb, diff_branch_response::Part, watch_workspace_response::Event as WorkspaceMessage,
};
use bytes::Bytes;
use check_engine::Range;
use lint::{LineColumn, Span};
use overlay::{ChangeKind, ContentHash, EditorId, Entry, FileKind, Revision, TextEdit, WorkspacePath};
use serde_json::{Map, Value};
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Status, Streaming};
use workspaces::{
    BranchChange, BranchChangeKind, BranchInfo, BranchState, Buffer, BufferSet, BufferShown, Committed, Diff,
    DirectoryPage, EditorText, FileChange, FileContent, JudgedBranch, OpenedWorkspace, Paged, Rebased,
    RequestError, ResolvedConflict, RevisionEntry, WorkspaceEvent, WorkspaceInfo,
};

use crate::error::{error, senseless};

#[cfg(target_os = "linux")]
pub(crate) use self::runs::{log_event, run_event, run_info, run_result};
pub(crate) use self::{
    checks::{baseline, event, fixed, listed_files, watch_event},
    merges::merge_preview,
    queries::{method_reply, query},
    state::{plugins, rule, server, server_log, status},
    tournaments::tournament,
};

type Answer<T> = Result<T, RequestError>;

/// `None` for an empty text.
fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// A part that every answer of this version has.
fn there<T>(part: Option<T>, what: &str) -> Answer<T> {
    part.ok_or_else(|| senseless(format!("{what} is missing")))
}

fn path(text: &str) -> Answer<WorkspacePath> {
    WorkspacePath::new(text).map_err(|error| senseless(format!("the path `{text}`: {error}")))
}

fn paths(all: &[String]) -> Answer<Vec<WorkspacePath>> {
    all.iter().map(|it| path(it)).collect()
}

fn hash(text: &str) -> Answer<ContentHash> {
    ContentHash::from_hex(text).ok_or_else(|| senseless(format!("the hash `{text}`")))
}

/// `None` for an empty text.
fn maybe_hash(text: &str) -> Answer<Option<ContentHash>> {
    if text.is_empty() { Ok(None) } else { hash(text).map(Some) }
}

fn span(it: pb::Span) -> Span {
    Span { start: it.start, end: it.end }
}

fn range(it: pb::Range) -> Answer<Range> {
    let position = |it: Option<pb::Position>| {
        there(it, "a position").map(|it| LineColumn { line: it.line, column: it.column })
    };
    Ok(Range { start: position(it.start)?, end: position(it.end)? })
}

fn text_edit(it: pb::TextEdit) -> Answer<TextEdit> {
    let span = there(it.span, "the span of an edit")?;
    Ok(TextEdit { start: span.start, end: span.end, replacement: it.replacement })
}

pub(crate) fn opened(it: pb::OpenWorkspaceResponse) -> Answer<OpenedWorkspace> {
    let info = workspace(there(it.workspace, "the workspace")?);
    Ok(OpenedWorkspace { info, unreadable: it.unreadable })
}

pub(crate) fn workspace(it: pb::Workspace) -> WorkspaceInfo {
    WorkspaceInfo {
        id: it.workspace_id.into(),
        root: it.root.into(),
        branches: it.branches as usize,
        buffers: it.buffers as usize,
        degraded: some(it.degraded),
    }
}

pub(crate) fn branch(it: Option<pb::Branch>) -> Answer<BranchInfo> {
    there(it, "the branch").map(branch_info)
}

fn branch_info(it: pb::Branch) -> BranchInfo {
    BranchInfo {
        id: it.branch_id.into(),
        workspace: it.workspace_id.into(),
        name: it.name,
        parent: some(it.parent_branch_id),
        revision: Revision(it.revision),
        created_ms: it.created_ms,
        labels: it.labels.into_iter().collect(),
        changed_paths: it.changed_paths as usize,
    }
}

pub(crate) fn branch_state(it: pb::GetBranchResponse) -> Answer<BranchState> {
    Ok(BranchState {
        info: branch(it.branch)?,
        tree_hash: maybe_hash(&it.tree_hash)?,
        conflicts: paths(&it.conflicts)?,
    })
}

pub(crate) fn branches(it: pb::ListBranchesResponse) -> Paged<BranchInfo> {
    let items = it.branches.into_iter().map(branch_info).collect();
    Paged { items, next_token: it.next_page_token }
}

pub(crate) fn judged_branch(it: pb::JudgedBranch) -> JudgedBranch {
    JudgedBranch { id: it.branch_id.into(), name: it.name, kept: it.kept }
}

pub(crate) fn revisions(it: pb::ListRevisionsResponse) -> Answer<Paged<RevisionEntry>> {
    let items = it.revisions.into_iter().map(revision_entry).collect::<Answer<_>>()?;
    Ok(Paged { items, next_token: it.next_page_token })
}

fn revision_entry(it: pb::RevisionEntry) -> Answer<RevisionEntry> {
    Ok(RevisionEntry {
        revision: Revision(it.revision),
        at_ms: it.time_ms,
        what: it.description.into(),
        paths: paths(&it.paths)?.into(),
    })
}

fn change(it: pb::FileChange) -> Answer<FileChange> {
    let kind = match it.kind() {
        pb::ChangeKind::Added => ChangeKind::Added,
        pb::ChangeKind::Deleted => ChangeKind::Deleted,
        pb::ChangeKind::Modified | pb::ChangeKind::Unspecified => ChangeKind::Modified,
        pb::ChangeKind::Mode => ChangeKind::ModeChanged,
        pb::ChangeKind::Renamed => ChangeKind::Renamed { from: path(&it.from_path)? },
    };
    Ok(FileChange { path: path(&it.path)?, kind, is_directory: it.is_directory })
}

fn changes(all: Vec<pb::FileChange>) -> Answer<Vec<FileChange>> {
    all.into_iter().map(change).collect()
}

/// All parts of a difference. Without `with_patch` there is no patch, which is not the same as an empty one.
pub(crate) async fn diff(mut parts: Streaming<pb::DiffBranchResponse>, with_patch: bool) -> Answer<Diff> {
    let (mut changes, mut patch) = (Vec::new(), with_patch.then(String::new));
    let mut outdated = Vec::new();
    while let Some(part) = parts.message().await.map_err(|it| error(&it))? {
        outdated.extend(paths(&part.outdated_paths)?);
        match part.part {
            Some(Part::Changes(it)) => changes.extend(self::changes(it.changes)?),
            Some(Part::Patch(it)) => patch.iter_mut().for_each(|patch| patch.push_str(&it)),
            None => {}
        }
    }
    Ok(Diff { changes, patch, outdated })
}

pub(crate) fn rebased(it: pb::RebaseBranchResponse) -> Answer<Rebased> {
    Ok(Rebased {
        revision: Revision(it.revision),
        merged: paths(&it.merged_paths)?,
        merged_by_syntax: paths(&it.merged_by_syntax_paths)?,
        conflicts: it.conflicts.into_iter().map(conflict).collect::<Answer<_>>()?,
    })
}

fn conflict(it: pb::Conflict) -> Answer<ResolvedConflict> {
    Ok(ResolvedConflict { path: path(&it.path)?, reason: it.reason })
}

pub(crate) fn committed(it: pb::CommitBranchResponse) -> Answer<Committed> {
    Ok(Committed {
        revision: Revision(it.revision),
        changes: changes(it.changes)?,
        merged: paths(&it.merged_paths)?,
        merged_by_syntax: paths(&it.merged_by_syntax_paths)?,
        unsaved: paths(&it.unsaved_paths)?,
        left: paths(&it.left_paths)?,
        notes: it.notes,
    })
}

/// All parts of a file. One part is not copied. Ends at the first part with which the file has more bytes than expected.
pub(crate) async fn file(
    mut parts: impl Stream<Item = Result<pb::ReadFileResponse, Status>> + Unpin,
    expect_size: impl Fn(usize) -> Answer<()>,
) -> Answer<FileContent> {
    use pb::read_file_response::Part;
    let (mut info, mut pieces, mut size) = (None, Vec::<Bytes>::new(), 0);
    while let Some(part) = parts.next().await {
        match part.map_err(|it| error(&it))?.part {
            Some(Part::Info(it)) => info = Some(it),
            Some(Part::Content(it)) => {
                size += it.len();
                expect_size(size)?;
                pieces.push(it);
            }
            None => {}
        }
    }
    let info = there(info, "the information about a file")?;
    let bytes = match pieces.len() {
        0 | 1 => pieces.pop().unwrap_or_default(),
        _ => pieces.concat().into(),
    };
    let (content_hash, revision) = (hash(&info.content_hash)?, Revision(info.revision));
    Ok(FileContent { bytes, content_hash, executable: info.executable, revision })
}

pub(crate) fn directory(it: pb::ListDirectoryResponse) -> DirectoryPage {
    let items = it.entries.into_iter().map(entry).collect();
    DirectoryPage { entries: Paged { items, next_token: it.next_page_token }, not_utf8: it.not_utf8 }
}

fn entry(it: pb::DirectoryEntry) -> (Entry, Option<String>) {
    let kind = match it.kind() {
        pb::FileKind::File => FileKind::File,
        pb::FileKind::Directory => FileKind::Directory,
        pb::FileKind::Symlink => FileKind::Symlink,
        pb::FileKind::Other | pb::FileKind::Unspecified => FileKind::Other,
    };
    (Entry { name: it.name, kind }, some(it.link_target))
}

pub(crate) fn buffer_set(it: &pb::SetBufferResponse) -> Answer<BufferSet> {
    Ok(BufferSet { content: hash(&it.content_hash)?, is_hidden: it.hidden })
}

pub(crate) fn buffers(it: &pb::ListBuffersResponse) -> Answer<Vec<Buffer>> {
    let buffer = |it: &pb::Buffer| Ok(Buffer { path: path(&it.path)?, content: hash(&it.content_hash)? });
    it.buffers.iter().map(buffer).collect()
}

/// `None` for an event of a newer daemon.
pub(crate) fn workspace_event(it: pb::WatchWorkspaceResponse) -> Answer<Option<WorkspaceEvent>> {
    let Some(event) = it.event else { return Ok(None) };
    Ok(Some(match event {
        WorkspaceMessage::Started(it) => WorkspaceEvent::Started(EditorId(it.editor_id.into())),
        WorkspaceMessage::BaseChanged(_) => WorkspaceEvent::BaseChanged,
        WorkspaceMessage::BranchChanged(it) => WorkspaceEvent::Branch(branch_change(it)?.into()),
        WorkspaceMessage::BufferChanged(it) => WorkspaceEvent::Buffer(buffer_shown(it)?),
    }))
}

fn branch_change(it: pb::BranchChanged) -> Answer<BranchChange> {
    let kind = match it.kind() {
        pb::BranchChangeKind::Forked => BranchChangeKind::Forked,
        pb::BranchChangeKind::Edited | pb::BranchChangeKind::Unspecified => BranchChangeKind::Edited,
        pb::BranchChangeKind::Committed => BranchChangeKind::Committed {
            changes: changes(it.changes)?,
            unsaved: paths(&it.unsaved_paths)?,
            left: paths(&it.left_paths)?,
        },
        pb::BranchChangeKind::Discarded => BranchChangeKind::Discarded,
    };
    Ok(BranchChange { kind, branch: branch(it.branch)? })
}

fn buffer_shown(it: pb::BufferChanged) -> Answer<BufferShown> {
    let content = maybe_hash(&it.content_hash)?;
    let client_name = it.client_name;
    Ok(BufferShown {
        path: path(&it.path)?,
        shown: content.map(|content| EditorText { client_name, content }),
    })
}

pub(crate) fn tools(it: pb::ListToolsResponse) -> ToolList {
    ToolList { tools: it.tools.into_iter().map(tool).collect(), instructions: it.instructions }
}

fn tool(it: pb::Tool) -> ToolInfo {
    let effect = match it.effect() {
        pb::ToolEffect::Reads => Effect::Reads,
        pb::ToolEffect::Edits => Effect::Edits,
        pb::ToolEffect::EditsOnce => Effect::EditsOnce,
        pb::ToolEffect::Destroys => Effect::Destroys,
        pb::ToolEffect::Runs | pb::ToolEffect::Unspecified => Effect::Runs,
    };
    ToolInfo {
        name: it.name.into(),
        description: it.description.into(),
        effect,
        input: object(&it.input_schema),
        output: object(&it.output_schema),
    }
}

/// Empty if the text is no JSON object, as that of an error is not.
fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

pub(crate) fn reply(text: String, structured: &str, is_error: bool) -> Reply {
    Reply { text, structured: object(structured), is_error }
}

/// The next part of a stream, translated; `None` for a part of a newer daemon.
pub(crate) fn part<M, T>(
    part: Result<M, Status>,
    translate: impl FnOnce(M) -> Answer<Option<T>>,
) -> Option<Answer<T>> {
    match part {
        Ok(message) => translate(message).transpose(),
        Err(status) => Some(Err(error(&status))),
    }
}

#[cfg(test)]
mod tests {
    use workspaces::ErrorKind;

    use super::*;

    #[tokio::test]
    async fn a_file_is_read_no_further_than_its_limit() {
        use pb::read_file_response::Part;
        let info = Part::Info(pb::FileInfo {
            content_hash: ContentHash::of(b"0123456789").to_string(),
            ..pb::FileInfo::default()
        });
        let pieces = ["01234", "56789"].map(|it| Part::Content(Bytes::from_static(it.as_bytes())));
        let parts: Vec<_> = std::iter::once(info).chain(pieces).collect();
        let read = async |max_bytes| {
            let mut parts = parts.iter().map(|it| Ok(pb::ReadFileResponse { part: Some(it.clone()) }));
            let stream = tokio_stream::iter(parts.by_ref());
            let read = file(stream, |bytes| RequestError::expect_size("a", bytes, max_bytes)).await;
            (read.map(|it| it.bytes), parts.len())
        };
        assert_eq!(read(Some(10)).await, (Ok(Bytes::from_static(b"0123456789")), 0));
        assert_eq!(read(None).await.1, 0);
        let (refused, left) = read(Some(4)).await;
        let error = refused.unwrap_err();
        assert_eq!((error.kind, error.sentence.as_str()), (ErrorKind::Exhausted, "a has more than 4 bytes"));
        assert_eq!(left, 1, "the last piece was not asked for");
    }
}
