//! From messages to the daemon's requests. What a field may be, the daemon checks.

#[cfg(target_os = "linux")]
mod runs;
mod tournaments;

use std::{collections::BTreeMap, time::Duration};

use broker_proto::v1 as pb;
use lint::{Applicability, LineColumn};
use linters::LinterKind;
use overlay::{ConflictSide, OnConflict, Resolution, Revision, TextEdit};
use scheduler::Class;
use tonic::{Status, metadata::MetadataMap};
use workspaces::{
    BufferRequest, CheckOptions, CheckRequest, CommitRequest, DaemonError, DiffRequest, DiffSide,
    DiscardMergedRequest, EditRequest, Expected, FileEdit, FileText, FixRequest, ForkRequest, QueryKind,
    QueryRequest, Side, TargetId, Undo,
};

#[cfg(target_os = "linux")]
pub(super) use self::runs::{run, run_input};
pub(super) use self::tournaments::tournament;
use super::status;

pub(super) fn target(target: Option<pb::Target>) -> Result<TargetId, Status> {
    match target.and_then(|it| it.target) {
        Some(pb::target::Target::WorkspaceId(id)) => Ok(TargetId::Workspace(id)),
        Some(pb::target::Target::BranchId(id)) => Ok(TargetId::Branch(id)),
        None => Err(status::invalid("target", "name a workspace or a branch")),
    }
}

pub(super) fn optional_target(target: Option<pb::Target>) -> Result<Option<TargetId>, Status> {
    target.map(|it| self::target(Some(it))).transpose()
}

/// `None` for an empty text.
pub(super) fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

pub(super) fn side(revision: Option<u64>, of_parent: bool) -> Result<Side, Status> {
    match (revision, of_parent) {
        (None, false) => Ok(Side::Now),
        (Some(revision), false) => Ok(Side::Revision(Revision(revision))),
        (None, true) => Ok(Side::Parent),
        (Some(_), true) => Err(status::invalid("revision", "the parent's side has no revisions")),
    }
}

pub(super) fn buffer(it: pb::SetBufferRequest) -> BufferRequest {
    BufferRequest {
        workspace: it.workspace_id,
        editor: some(it.editor_id),
        path: it.path,
        content: it.content,
        is_opened: it.opened,
    }
}

pub(super) fn fork(it: pb::ForkBranchRequest) -> Result<ForkRequest, Status> {
    Ok(ForkRequest {
        parent: target(it.parent)?,
        name: it.name,
        labels: it.labels.into_iter().collect(),
        request_id: some(it.request_id),
    })
}

pub(super) fn diff(it: pb::DiffBranchRequest) -> Result<DiffRequest, Status> {
    let against = pb::DiffAgainst::try_from(it.against);
    let against = against.map_err(|_| status::invalid("against", "there is no such side"))?;
    let against = match (it.since_revision, against) {
        (Some(revision), _) => DiffSide::Revision(Revision(revision)),
        (None, pb::DiffAgainst::Base) => DiffSide::Base,
        (None, pb::DiffAgainst::Parent | pb::DiffAgainst::Unspecified) => DiffSide::Parent,
    };
    Ok(DiffRequest {
        branch: it.branch_id,
        against,
        with_patch: !it.changes_only,
        context_lines: it.context_lines.map(|it| it as usize),
    })
}

pub(super) fn undo(it: &pb::UndoBranchRequest) -> Result<Undo, Status> {
    match (it.step_back, it.to_revision) {
        (true, 0) => Ok(Undo::Step),
        (true, _) => Err(status::invalid("step_back", "it excludes `to_revision`")),
        (false, to) => Ok(Undo::To(Revision(to))),
    }
}

pub(super) fn resolutions(all: Vec<pb::ConflictResolution>) -> Result<BTreeMap<String, Resolution>, Status> {
    let side = |it: i32| match pb::ConflictSide::try_from(it) {
        Ok(pb::ConflictSide::Ours) => Ok(ConflictSide::Ours),
        Ok(pb::ConflictSide::Theirs) => Ok(ConflictSide::Theirs),
        Ok(pb::ConflictSide::Both) => Ok(ConflictSide::Both),
        Ok(pb::ConflictSide::Base) => Ok(ConflictSide::Base),
        Ok(pb::ConflictSide::Unspecified) | Err(_) => {
            Err(status::invalid("resolutions.sides", "unknown side"))
        }
    };
    let resolution = |it: pb::ConflictResolution| {
        let resolution = match (it.text, it.all, it.sides) {
            (Some(text), None, sides) if sides.is_empty() => Resolution::Text(text),
            (None, Some(all), sides) if sides.is_empty() => Resolution::All(side(all)?),
            (None, None, sides) => Resolution::Each(sides.into_iter().map(side).collect::<Result<_, _>>()?),
            _ => return Err(status::invalid("resolutions", "`sides`, `text` and `all` exclude each other")),
        };
        Ok((it.path, resolution))
    };
    let mut resolutions = BTreeMap::new();
    for it in all {
        let (path, decided) = resolution(it)?;
        if resolutions.insert(path, decided).is_some() {
            return Err(status::invalid("resolutions", "a path is named twice"));
        }
    }
    Ok(resolutions)
}

pub(super) fn discard_merged(it: pb::DiscardMergedBranchesRequest) -> DiscardMergedRequest {
    let pb::DiscardMergedBranchesRequest { workspace_id: workspace, branch_id, dry_run } = it;
    DiscardMergedRequest { workspace, branch: some(branch_id), dry_run }
}

pub(super) fn commit(it: pb::CommitBranchRequest) -> CommitRequest {
    CommitRequest {
        branch: it.branch_id,
        if_revision: it.if_revision.map(Revision),
        force_paths: it.force_paths,
        rebase: it.rebase,
        if_clean: it.if_clean,
        wait: None,
        dry_run: it.dry_run,
        request_id: some(it.request_id),
    }
}

pub(super) fn edits(it: pb::EditFilesRequest) -> Result<EditRequest, Status> {
    let edit = |(index, it)| edit(it).map_err(|error: DaemonError| status::of(error.in_edit(index)));
    Ok(EditRequest {
        branch: it.branch_id,
        edits: it.edits.into_iter().enumerate().map(edit).collect::<Result<_, _>>()?,
        if_revision: it.if_revision.map(Revision),
        request_id: some(it.request_id),
    })
}

pub(super) fn edit(it: pb::FileEdit) -> Result<FileEdit, DaemonError> {
    use pb::file_edit::Edit as It;
    Ok(match it.edit.ok_or_else(|| DaemonError::invalid("edits", "an edit says nothing"))? {
        It::Write(it) => {
            let expected = match it.if_content_hash.as_str() {
                "" => Expected::Anything,
                "missing" => Expected::Missing,
                _ => Expected::Content(it.if_content_hash),
            };
            FileEdit::Write { path: it.path, content: it.content, expected }
        }
        It::Text(it) => {
            let edits = it.edits.into_iter().map(text_edit).collect::<Result<_, _>>()?;
            FileEdit::Text { path: it.path, edits, if_content_hash: some(it.if_content_hash) }
        }
        It::Patch(it) => FileEdit::Patch(it.patch),
        It::Remove(it) => FileEdit::Remove { path: it.path },
        It::Rename(it) => FileEdit::Rename { from: it.from_path, to: it.to_path },
        It::CreateDirectory(it) => FileEdit::CreateDirectory { path: it.path },
        It::CreateSymlink(it) => FileEdit::Symlink { path: it.path, link_target: it.link_target },
        It::SetExecutable(it) => FileEdit::SetExecutable { path: it.path, executable: it.executable },
    })
}

fn text_edit(it: pb::TextEdit) -> Result<TextEdit, DaemonError> {
    let span = it.span.ok_or_else(|| DaemonError::invalid("edits.text.edits.span", "it is missing"))?;
    Ok(TextEdit { start: span.start, end: span.end, replacement: it.replacement })
}

pub(super) fn check(it: pb::CheckRequest, deadline: Option<Duration>) -> Result<CheckRequest, Status> {
    Ok(CheckRequest {
        target: target(it.target)?,
        paths: it.paths,
        only_paths: it.only_paths,
        revision: it.revision.map(Revision),
        class: class(it.priority)?,
        dependents: it.dependents,
        new_only: it.new_only,
        select: it.select,
        ignore: it.ignore,
        kinds: kinds(&it.kinds)?,
        supersede: it.supersede,
        deadline,
        options: options(it.options)?,
    })
}

/// The check of a message that is about one.
pub(super) fn named_check(it: Option<pb::CheckRequest>) -> Result<CheckRequest, Status> {
    check(it.ok_or_else(|| status::invalid("check", "it is missing"))?, None)
}

fn options(it: Option<pb::CheckOptions>) -> Result<CheckOptions, Status> {
    let Some(it) = it else { return Ok(CheckOptions::default()) };
    let jobs = u16::try_from(it.jobs).map_err(|_| status::invalid("options.jobs", "there are too many"))?;
    Ok(CheckOptions {
        texts: it.texts.into_iter().map(file_text).collect(),
        isolated: it.isolated,
        config: some(it.config),
        plugins: it.plugins.into_iter().map(Into::into).collect(),
        exclude: it.exclude,
        force_exclude: it.force_exclude,
        no_ignore_files: it.no_ignore_files,
        baseline: it.baseline.map(file_text),
        jobs: (jobs > 0).then_some(jobs),
        timeout: (it.timeout_ms > 0).then(|| Duration::from_millis(it.timeout_ms)),
        no_cache: it.no_cache,
        timing: it.timing,
        wait: None,
    })
}

fn file_text(it: pb::FileText) -> FileText {
    FileText { path: it.path, content: it.content }
}

fn kinds(all: &[i32]) -> Result<Vec<LinterKind>, Status> {
    let kind = |it: &i32| match pb::LinterKind::try_from(*it) {
        Ok(pb::LinterKind::Plugin) => Ok(LinterKind::Plugin),
        Ok(pb::LinterKind::Server) => Ok(LinterKind::Server),
        Ok(pb::LinterKind::Command) => Ok(LinterKind::Command),
        Ok(pb::LinterKind::Unspecified) | Err(_) => {
            Err(status::invalid("kinds", format!("there is no kind {it} of linters")))
        }
    };
    all.iter().map(kind).collect()
}

pub(super) fn fix(it: pb::FixFilesRequest) -> Result<FixRequest, Status> {
    let target = match (it.branch_id, it.workspace_id) {
        (branch, workspace) if workspace.is_empty() => TargetId::Branch(branch),
        (branch, workspace) if branch.is_empty() => TargetId::Workspace(workspace),
        _ => return Err(status::invalid("workspace_id", "it excludes `branch_id`")),
    };
    Ok(FixRequest {
        check: CheckRequest {
            paths: it.paths,
            only_paths: it.only_paths,
            select: it.select,
            ignore: it.ignore,
            kinds: kinds(&it.kinds)?,
            options: options(it.options)?,
            class: class(it.priority)?,
            ..CheckRequest::of(target)
        },
        suppress: some(it.suppress),
        least: least(it.applicability)?,
        dry_run: it.dry_run,
        with_contents: it.with_contents,
        if_revision: it.if_revision.map(Revision),
        request_id: some(it.request_id),
    })
}

fn least(applicability: i32) -> Result<Applicability, Status> {
    match pb::Applicability::try_from(applicability) {
        Ok(pb::Applicability::Unspecified | pb::Applicability::Safe) => Ok(Applicability::Safe),
        Ok(pb::Applicability::Unsafe) => Ok(Applicability::Unsafe),
        Ok(pb::Applicability::DisplayOnly) => Ok(Applicability::DisplayOnly),
        Err(_) => Err(status::invalid("applicability", format!("there is none {applicability}"))),
    }
}

pub(super) fn class(priority: i32) -> Result<Class, Status> {
    match pb::Priority::try_from(priority) {
        Ok(pb::Priority::Unspecified | pb::Priority::Agent) => Ok(Class::Agent),
        Ok(pb::Priority::Background) => Ok(Class::Background),
        Ok(pb::Priority::Interactive) => Ok(Class::Interactive),
        Err(_) => Err(status::invalid("priority", format!("there is no priority {priority}"))),
    }
}

pub(super) fn on_conflict(handling: i32) -> Result<OnConflict, Status> {
    match pb::ConflictHandling::try_from(handling) {
        Ok(pb::ConflictHandling::Unspecified | pb::ConflictHandling::Refuse) => Ok(OnConflict::Refuse),
        Ok(pb::ConflictHandling::KeepBranch) => Ok(OnConflict::KeepOurs),
        Ok(pb::ConflictHandling::Markers) => Ok(OnConflict::Markers),
        Err(_) => Err(status::invalid("on_conflict", format!("there is no way {handling}"))),
    }
}

pub(super) fn query(it: pb::QueryRequest, deadline: Option<Duration>) -> Result<QueryRequest, Status> {
    let place = |it: pb::Position| LineColumn { line: it.line, column: it.column };
    Ok(QueryRequest {
        target: target(it.target)?,
        kind: query_kind(it.kind)?,
        path: it.path,
        position: it.position.map(place),
        end: it.end.map(place),
        text: it.text,
        only: it.only,
        server: some(it.server),
        apply: it.apply,
        class: class(it.priority)?,
        deadline,
    })
}

fn query_kind(kind: i32) -> Result<QueryKind, Status> {
    use pb::QueryKind as It;
    let kind = It::try_from(kind).map_err(|_| status::invalid("kind", "there is no such question"))?;
    Ok(match kind {
        It::Unspecified => return Err(status::invalid("kind", "it is missing")),
        It::Definition => QueryKind::Definition,
        It::Declaration => QueryKind::Declaration,
        It::TypeDefinition => QueryKind::TypeDefinition,
        It::Implementation => QueryKind::Implementation,
        It::References => QueryKind::References,
        It::Highlights => QueryKind::Highlights,
        It::Hover => QueryKind::Hover,
        It::Completions => QueryKind::Completions,
        It::Completion => QueryKind::Completion,
        It::Signatures => QueryKind::Signatures,
        It::Symbols => QueryKind::Symbols,
        It::WorkspaceSymbols => QueryKind::WorkspaceSymbols,
        It::PrepareRename => QueryKind::PrepareRename,
        It::Rename => QueryKind::Rename,
        It::CodeActions => QueryKind::CodeActions,
        It::CodeAction => QueryKind::CodeAction,
        It::Format => QueryKind::Format,
        It::CallHierarchy => QueryKind::CallHierarchy,
        It::IncomingCalls => QueryKind::IncomingCalls,
        It::OutgoingCalls => QueryKind::OutgoingCalls,
        It::TypeHierarchy => QueryKind::TypeHierarchy,
        It::Supertypes => QueryKind::Supertypes,
        It::Subtypes => QueryKind::Subtypes,
        It::SemanticTokens => QueryKind::SemanticTokens,
        It::InlayHints => QueryKind::InlayHints,
        It::FoldingRanges => QueryKind::FoldingRanges,
    })
}

/// The client's deadline, as the protocol has it: up to eight digits and a unit. The transport heeds it only
/// until the first message of a stream.
pub(super) fn deadline(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(count.checked_mul(3600)?),
        "M" => Duration::from_secs(count.checked_mul(60)?),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_those_of_the_protocol() {
        let of = |text: &str| {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            deadline(&metadata)
        };
        assert_eq!(of("2H"), Some(Duration::from_secs(7200)));
        assert_eq!(of("150m"), Some(Duration::from_millis(150)));
        assert_eq!(of("99999999u"), Some(Duration::from_micros(99_999_999)));
        assert_eq!((of("5x"), of("m"), of(""), of("-1S")), (None, None, None, None));
        assert_eq!(deadline(&MetadataMap::new()), None);
    }
}
