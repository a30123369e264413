//! Requests of `workspaces` as messages.

use broker_proto::v1::{self as pb, file_edit::Edit};
use lint::{Applicability, LineColumn};
use linters::LinterKind;
use overlay::{OnConflict, Revision, TextEdit};
use scheduler::Class;
use workspaces::{
    BufferRequest, CheckRequest, CommitRequest, DiffRequest, DiffSide, EditRequest, Expected, FileEdit,
    FixRequest, ForkRequest, MethodRequest, PageRequest, QueryKind, QueryRequest, RebaseRequest, Side,
    TargetId, Undo, UndoRequest,
};

fn number(revision: Option<Revision>) -> Option<u64> {
    revision.map(|it| it.0)
}

pub(in crate::api) fn target(it: &TargetId) -> pb::Target {
    let target = match it.clone() {
        TargetId::Workspace(id) => pb::target::Target::WorkspaceId(id),
        TargetId::Branch(id) => pb::target::Target::BranchId(id),
    };
    pb::Target { target: Some(target) }
}

pub(super) fn fork(it: ForkRequest) -> pb::ForkBranchRequest {
    pb::ForkBranchRequest {
        parent: Some(target(&it.parent)),
        name: it.name,
        labels: it.labels.into_iter().collect(),
        request_id: it.request_id.unwrap_or_default(),
    }
}

pub(super) fn diff(it: DiffRequest) -> pb::DiffBranchRequest {
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
        context_lines: it.context_lines.map(|it| u32::try_from(it).unwrap()),
    }
}

pub(super) fn undo(it: UndoRequest) -> pb::UndoBranchRequest {
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

pub(super) fn rebase(it: RebaseRequest) -> pb::RebaseBranchRequest {
    let on_conflict = match it.on_conflict {
        OnConflict::Refuse => pb::ConflictHandling::Refuse,
        OnConflict::KeepOurs => pb::ConflictHandling::KeepBranch,
        OnConflict::Markers => pb::ConflictHandling::Markers,
    };
    let (branch_id, if_revision) = (it.branch, number(it.if_revision));
    pb::RebaseBranchRequest { branch_id, on_conflict: on_conflict.into(), if_revision }
}

pub(super) fn commit(it: CommitRequest) -> pb::CommitBranchRequest {
    pb::CommitBranchRequest {
        branch_id: it.branch,
        if_revision: number(it.if_revision),
        force_paths: it.force_paths,
        dry_run: it.dry_run,
        request_id: it.request_id.unwrap_or_default(),
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

pub(super) fn read(of: &TargetId, path: &str, side: Side) -> pb::ReadFileRequest {
    let (revision, of_parent) = self::side(side);
    pb::ReadFileRequest { target: Some(target(of)), path: path.to_owned(), revision, of_parent }
}

pub(super) fn list_directory(
    of: &TargetId,
    path: &str,
    page: &PageRequest,
    side: Side,
) -> pb::ListDirectoryRequest {
    let (target, path) = (Some(target(of)), path.to_owned());
    let PageRequest { size: page_size, token: page_token } = page.clone();
    let (revision, of_parent) = self::side(side);
    assert_eq!(revision, None, "no message asks for a directory at a revision");
    pb::ListDirectoryRequest { target, path, page_size, page_token, of_parent }
}

pub(super) fn edits(it: EditRequest) -> pb::EditFilesRequest {
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
    pb::TextEdit { span: Some(pb::Span { start: it.start, end: it.end }), replacement: it.replacement }
}

fn kinds(all: &[LinterKind]) -> Vec<i32> {
    let kind = |it: &LinterKind| match it {
        LinterKind::Plugin => pb::LinterKind::Plugin,
        LinterKind::Server => pb::LinterKind::Server,
        LinterKind::Command => pb::LinterKind::Command,
    };
    all.iter().map(|it| kind(it).into()).collect()
}

pub(super) fn buffer(it: BufferRequest) -> pb::SetBufferRequest {
    pb::SetBufferRequest {
        workspace_id: it.workspace,
        path: it.path,
        content: it.content,
        editor_id: it.editor.unwrap_or_default(),
        opened: it.is_opened,
    }
}

pub(super) fn method(it: MethodRequest) -> pb::CallMethodRequest {
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

pub(super) fn check(it: CheckRequest) -> pb::CheckRequest {
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
        force_exclude: it.force_exclude,
    }
}

pub(super) fn fix(it: FixRequest) -> pb::FixFilesRequest {
    let applicability = match it.least {
        Applicability::DisplayOnly => pb::Applicability::DisplayOnly,
        Applicability::Unsafe => pb::Applicability::Unsafe,
        Applicability::Safe => pb::Applicability::Safe,
    };
    let (branch_id, workspace_id) = match it.target {
        TargetId::Branch(id) => (id, String::new()),
        TargetId::Workspace(id) => (String::new(), id),
    };
    pb::FixFilesRequest {
        branch_id,
        workspace_id,
        kinds: kinds(&it.kinds),
        with_contents: it.with_contents,
        paths: it.paths,
        only_paths: it.only_paths,
        select: it.select,
        ignore: it.ignore,
        applicability: applicability.into(),
        dry_run: it.dry_run,
        if_revision: number(it.if_revision),
        request_id: it.request_id.unwrap_or_default(),
        priority: priority(it.class),
    }
}

pub(super) fn query(it: QueryRequest) -> pb::QueryRequest {
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

/// The kind of the same name.
fn query_kind(kind: QueryKind) -> pb::QueryKind {
    let mut name = "QUERY_KIND".to_owned();
    for character in format!("{kind:?}").chars() {
        if character.is_uppercase() {
            name.push('_');
        }
        name.push(character.to_ascii_uppercase());
    }
    pb::QueryKind::from_str_name(&name).expect("kinds have the same names")
}
