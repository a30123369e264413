//! Requests as messages.

#[cfg(target_os = "linux")]
mod runs;
mod tournaments;

use agents::{Call, Preview, PreviewEdit};
use broker_proto::v1::{self as pb, file_edit::Edit};
use lint::{Applicability, LineColumn};
use linters::LinterKind;
use overlay::{ConflictSide, OnConflict, Resolution, Revision, TextEdit};
use scheduler::Class;
use serde_json::Value;
use workspaces::{
    BranchRequest, BufferRequest, CheckOptions, CheckRequest, CommitRequest, DiffRequest, DiffSide,
    EditRequest, Expected, FileEdit, FileText, FixRequest, ForkRequest, MethodRequest, PageRequest,
    QueryKind, QueryRequest, RebaseRequest, RequestError, Side, TargetId, Undo, UndoRequest,
};

#[cfg(target_os = "linux")]
pub(crate) use self::runs::{run_id, run_input, run_start};
pub(crate) use self::tournaments::tournament;

fn number(revision: Option<Revision>) -> Option<u64> {
    revision.map(|it| it.0)
}

pub(crate) fn target(it: &TargetId) -> pb::Target {
    let target = match it.clone() {
        TargetId::Workspace(id) => pb::target::Target::WorkspaceId(id),
        TargetId::Branch(id) => pb::target::Target::BranchId(id),
    };
    pb::Target { target: Some(target) }
}

pub(crate) fn fork(it: ForkRequest) -> pb::ForkBranchRequest {
    pb::ForkBranchRequest {
        parent: Some(target(&it.parent)),
        name: it.name,
        labels: it.labels.into_iter().collect(),
        request_id: it.request_id.unwrap_or_default(),
    }
}

pub(crate) fn diff(it: DiffRequest) -> pb::DiffBranchRequest {
    let (against, since_revision) = match it.against {
        DiffSide::Parent => (pb::DiffAgainst::Parent, None),
        DiffSide::Base => (pb::DiffAgainst::Base, None),
        DiffSide::Revision(revision) => (pb::DiffAgainst::Unspecified, Some(revision.0)),
    };
    pb::DiffBranchRequest {
        branch_id: it.branch,
        against: against.into(),
        since_revision,
        changes_only: !it.with_patch,
        context_lines: it.context_lines.map(|it| u32::try_from(it).unwrap_or(u32::MAX)),
    }
}

pub(crate) fn undo(it: UndoRequest) -> pb::UndoBranchRequest {
    let (step_back, to_revision) = match it.undo {
        Undo::Step => (true, 0),
        Undo::To(revision) => (false, revision.0),
    };
    pb::UndoBranchRequest {
        branch_id: it.branch,
        to_revision,
        if_revision: number(it.if_revision),
        step_back,
    }
}

pub(crate) fn rebase(it: RebaseRequest) -> pb::RebaseBranchRequest {
    let on_conflict = match it.on_conflict {
        OnConflict::Refuse => pb::ConflictHandling::Refuse,
        OnConflict::KeepOurs => pb::ConflictHandling::KeepBranch,
        OnConflict::Markers => pb::ConflictHandling::Markers,
    };
    let (branch_id, if_revision) = (it.branch, number(it.if_revision));
    let resolutions = it.resolutions.into_iter().map(resolution).collect();
    pb::RebaseBranchRequest { branch_id, on_conflict: on_conflict.into(), if_revision, resolutions }
}

fn resolution((path, it): (String, Resolution)) -> pb::ConflictResolution {
    let side = |it: &ConflictSide| match it {
        ConflictSide::Ours => pb::ConflictSide::Ours,
        ConflictSide::Theirs => pb::ConflictSide::Theirs,
        ConflictSide::Both => pb::ConflictSide::Both,
        ConflictSide::Base => pb::ConflictSide::Base,
    };
    let mut wire = pb::ConflictResolution { path, ..Default::default() };
    match it {
        Resolution::All(it) => wire.all = Some(side(&it).into()),
        Resolution::Each(sides) => wire.sides = sides.iter().map(|it| side(it).into()).collect(),
        Resolution::Text(text) => wire.text = Some(text),
    }
    wire
}

pub(crate) fn commit(it: CommitRequest) -> pb::CommitBranchRequest {
    pb::CommitBranchRequest {
        branch_id: it.branch,
        if_revision: number(it.if_revision),
        force_paths: it.force_paths,
        dry_run: it.dry_run,
        request_id: it.request_id.unwrap_or_default(),
        rebase: it.rebase,
        if_clean: it.if_clean,
    }
}

/// The revision, and whether it is the parent's side.
fn side(it: Side) -> (Option<u64>, bool) {
    match it {
        Side::Now => (None, false),
        Side::Revision(revision) => (Some(revision.0), false),
        Side::Parent => (None, true),
    }
}

pub(crate) fn read(of: &TargetId, path: &str, side: Side) -> pb::ReadFileRequest {
    let (revision, of_parent) = self::side(side);
    pb::ReadFileRequest { target: Some(target(of)), path: path.to_owned(), revision, of_parent }
}

pub(crate) fn list_directory(
    of: &TargetId,
    path: &str,
    page: &PageRequest,
    side: Side,
) -> Result<pb::ListDirectoryRequest, RequestError> {
    let (target, path) = (Some(target(of)), path.to_owned());
    let PageRequest { size: page_size, token: page_token } = page.clone();
    let (None, of_parent) = self::side(side) else {
        return Err(RequestError::invalid("side", "over a connection, no directory is listed at a revision"));
    };
    Ok(pb::ListDirectoryRequest { target, path, page_size, page_token, of_parent })
}

pub(crate) fn get_branch(it: BranchRequest) -> pb::GetBranchRequest {
    pb::GetBranchRequest {
        branch_id: it.branch,
        workspace_id: it.workspace.unwrap_or_default(),
        with_tree_hash: it.with_tree_hash,
        without_conflicts: !it.with_conflicts,
    }
}

pub(crate) fn edits(it: EditRequest) -> pb::EditFilesRequest {
    let edits = it.edits.into_iter().map(|it| pb::FileEdit { edit: Some(edit(it)) });
    pb::EditFilesRequest {
        branch_id: it.branch,
        edits: edits.collect(),
        if_revision: number(it.if_revision),
        request_id: it.request_id.unwrap_or_default(),
    }
}

fn edit(it: FileEdit) -> Edit {
    match it {
        FileEdit::Write { path, content, expected } => {
            let if_content_hash = match expected {
                Expected::Anything => String::new(),
                Expected::Missing => "missing".to_owned(),
                Expected::Content(hash) => hash,
            };
            Edit::Write(pb::WriteFile { path, content, if_content_hash })
        }
        FileEdit::Text { path, edits, if_content_hash } => {
            let if_content_hash = if_content_hash.unwrap_or_default();
            Edit::Text(pb::EditText {
                path,
                edits: edits.into_iter().map(text_edit).collect(),
                if_content_hash,
            })
        }
        FileEdit::Patch(patch) => Edit::Patch(pb::ApplyPatch { patch }),
        FileEdit::Remove { path } => Edit::Remove(pb::RemovePath { path }),
        FileEdit::Rename { from, to } => Edit::Rename(pb::RenamePath { from_path: from, to_path: to }),
        FileEdit::CreateDirectory { path } => Edit::CreateDirectory(pb::CreateDirectory { path }),
        FileEdit::Symlink { path, link_target } => {
            Edit::CreateSymlink(pb::CreateSymlink { path, link_target })
        }
        FileEdit::SetExecutable { path, executable } => {
            Edit::SetExecutable(pb::SetExecutable { path, executable })
        }
    }
}

fn text_edit(it: TextEdit) -> pb::TextEdit {
    let span = Some(pb::Span { start: it.start, end: it.end });
    pb::TextEdit { span, replacement: it.replacement, range: None }
}

fn kinds(all: &[LinterKind]) -> Vec<i32> {
    let kind = |it: &LinterKind| match it {
        LinterKind::Plugin => pb::LinterKind::Plugin,
        LinterKind::Server => pb::LinterKind::Server,
        LinterKind::Command => pb::LinterKind::Command,
    };
    all.iter().map(|it| kind(it).into()).collect()
}

pub(crate) fn buffer(it: BufferRequest) -> pb::SetBufferRequest {
    pb::SetBufferRequest {
        workspace_id: it.workspace,
        path: it.path,
        content: it.content,
        editor_id: it.editor.unwrap_or_default(),
        opened: it.is_opened,
    }
}

pub(crate) fn method(it: MethodRequest) -> pb::CallMethodRequest {
    pb::CallMethodRequest {
        target: Some(target(&it.target)),
        server: it.server.unwrap_or_default(),
        method: it.method,
        params_json: it.params,
        priority: priority(it.class),
    }
}

fn priority(class: Class) -> i32 {
    match class {
        Class::Interactive => pb::Priority::Interactive,
        Class::Agent => pb::Priority::Agent,
        Class::Background => pb::Priority::Background,
    }
    .into()
}

pub(crate) fn check(it: CheckRequest) -> pb::CheckRequest {
    pb::CheckRequest {
        target: Some(target(&it.target)),
        paths: it.paths,
        only_paths: it.only_paths,
        revision: number(it.revision),
        priority: priority(it.class),
        new_only: it.new_only,
        select: it.select,
        ignore: it.ignore,
        supersede: it.supersede,
        dependents: it.dependents,
        kinds: kinds(&it.kinds),
        options: options(it.options),
    }
}

/// `None` for the default, so that most messages stay small.
fn options(it: CheckOptions) -> Option<pb::CheckOptions> {
    if it == CheckOptions::default() {
        return None;
    }
    Some(pb::CheckOptions {
        texts: it.texts.into_iter().map(file_text).collect(),
        isolated: it.isolated,
        config: it.config.unwrap_or_default(),
        plugins: it.plugins.iter().map(|it| it.display().to_string()).collect(),
        exclude: it.exclude,
        force_exclude: it.force_exclude,
        no_ignore_files: it.no_ignore_files,
        baseline: it.baseline.map(file_text),
        jobs: it.jobs.map_or(0, u32::from),
        timeout_ms: it.timeout.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX).max(1)),
        no_cache: it.no_cache,
        timing: it.timing,
    })
}

fn file_text(it: FileText) -> pb::FileText {
    pb::FileText { path: it.path, content: it.content }
}

pub(crate) fn fix(it: FixRequest) -> pb::FixFilesRequest {
    let applicability = match it.least {
        Applicability::DisplayOnly => pb::Applicability::DisplayOnly,
        Applicability::Unsafe => pb::Applicability::Unsafe,
        Applicability::Safe => pb::Applicability::Safe,
    };
    let check = it.check;
    let (branch_id, workspace_id) = match check.target {
        TargetId::Branch(id) => (id, String::new()),
        TargetId::Workspace(id) => (String::new(), id),
    };
    pb::FixFilesRequest {
        branch_id,
        workspace_id,
        kinds: kinds(&check.kinds),
        with_contents: it.with_contents,
        paths: check.paths,
        only_paths: check.only_paths,
        select: check.select,
        ignore: check.ignore,
        applicability: applicability.into(),
        dry_run: it.dry_run,
        if_revision: number(it.if_revision),
        request_id: it.request_id.unwrap_or_default(),
        priority: priority(check.class),
        options: options(check.options),
        suppress: it.suppress.unwrap_or_default(),
    }
}

pub(crate) fn query(it: QueryRequest) -> pb::QueryRequest {
    let position = |it: LineColumn| pb::Position { line: it.line, column: it.column };
    pb::QueryRequest {
        target: Some(target(&it.target)),
        kind: query_kind(it.kind).into(),
        path: it.path,
        position: it.position.map(position),
        end: it.end.map(position),
        text: it.text,
        only: it.only,
        server: it.server.unwrap_or_default(),
        apply: it.apply,
        priority: priority(it.class),
    }
}

fn query_kind(kind: QueryKind) -> pb::QueryKind {
    use pb::QueryKind as It;
    match kind {
        QueryKind::Definition => It::Definition,
        QueryKind::Declaration => It::Declaration,
        QueryKind::TypeDefinition => It::TypeDefinition,
        QueryKind::Implementation => It::Implementation,
        QueryKind::References => It::References,
        QueryKind::Highlights => It::Highlights,
        QueryKind::Hover => It::Hover,
        QueryKind::Completions => It::Completions,
        QueryKind::Completion => It::Completion,
        QueryKind::Signatures => It::Signatures,
        QueryKind::Symbols => It::Symbols,
        QueryKind::WorkspaceSymbols => It::WorkspaceSymbols,
        QueryKind::PrepareRename => It::PrepareRename,
        QueryKind::Rename => It::Rename,
        QueryKind::CodeActions => It::CodeActions,
        QueryKind::CodeAction => It::CodeAction,
        QueryKind::Format => It::Format,
        QueryKind::CallHierarchy => It::CallHierarchy,
        QueryKind::IncomingCalls => It::IncomingCalls,
        QueryKind::OutgoingCalls => It::OutgoingCalls,
        QueryKind::TypeHierarchy => It::TypeHierarchy,
        QueryKind::Supertypes => It::Supertypes,
        QueryKind::Subtypes => It::Subtypes,
        QueryKind::SemanticTokens => It::SemanticTokens,
        QueryKind::InlayHints => It::InlayHints,
        QueryKind::FoldingRanges => It::FoldingRanges,
    }
}

pub(crate) fn call(it: Call) -> pb::CallToolRequest {
    pb::CallToolRequest {
        workspace_id: it.workspace,
        session: it.session,
        tool: it.tool,
        arguments: Value::Object(it.arguments).to_string(),
        branch: it.branch.unwrap_or_default(),
    }
}

pub(crate) fn preview(it: Preview) -> pb::PreviewEditsRequest {
    let edits = |all: Vec<PreviewEdit>| all.into_iter().map(preview_edit).collect();
    pb::PreviewEditsRequest { workspace_id: it.workspace, before: edits(it.before), edits: edits(it.edits) }
}

fn preview_edit(it: PreviewEdit) -> pb::PreviewEdit {
    use pb::preview_edit::Edit as It;
    let edit = match it {
        PreviewEdit::File(it) => It::File(pb::FileEdit { edit: Some(edit(it)) }),
        PreviewEdit::Code { target_file, code_edit } => It::Code(pb::CodeEdit { target_file, code_edit }),
    };
    pb::PreviewEdit { edit: Some(edit) }
}
