//! Messages as answers of a test.

use std::collections::BTreeMap;

use broker_proto::v1::{
    self as pb, check_response::Event as Answer, watch_response::Event as Watched,
    watch_workspace_response::Event as Told,
};
use bytes::Bytes;
use checker::{Level, pipeline::Change};
use overlay::{ChangeKind, ContentHash, FileKind, Revision};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};
use workspaces::{BranchInfo, ErrorKind, FileContent, WorkspaceInfo};

use super::super::{
    BranchChange, Change as Workspace, Changed, Event, Finding, Fixed, Incomplete, Refusal, Round, Summary,
};

pub(super) fn hash(text: &str) -> ContentHash {
    ContentHash::from_hex(text).expect("a hash in hex")
}

/// `None` for an empty text.
fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

pub(super) fn workspace(it: pb::Workspace) -> WorkspaceInfo {
    WorkspaceInfo {
        id: it.workspace_id.into(),
        root: it.root.into(),
        branches: it.branches as usize,
        buffers: it.buffers as usize,
        degraded: some(it.degraded),
    }
}

pub(super) fn branch(it: pb::Branch) -> BranchInfo {
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

pub(super) fn change(it: pb::FileChange) -> Changed {
    let kind = match it.kind() {
        pb::ChangeKind::Added => ChangeKind::Added,
        pb::ChangeKind::Deleted => ChangeKind::Deleted,
        pb::ChangeKind::Modified => ChangeKind::Modified,
        pb::ChangeKind::Mode => ChangeKind::ModeChanged,
        pb::ChangeKind::Renamed => ChangeKind::Renamed { from: crate::path(&it.from_path) },
        pb::ChangeKind::Unspecified => panic!("every change has a kind"),
    };
    (it.path, kind)
}

pub(super) fn file(info: &pb::FileInfo, bytes: Bytes) -> FileContent {
    assert_eq!(info.size, bytes.len() as u64);
    let (content_hash, revision) = (hash(&info.content_hash), Revision(info.revision));
    FileContent { bytes, content_hash, executable: info.executable, revision }
}

pub(super) fn entry(it: pb::DirectoryEntry) -> (String, FileKind) {
    let kind = match it.kind() {
        pb::FileKind::File => FileKind::File,
        pb::FileKind::Directory => FileKind::Directory,
        pb::FileKind::Symlink => FileKind::Symlink,
        pb::FileKind::Other => FileKind::Other,
        pb::FileKind::Unspecified => panic!("every entry has a kind"),
    };
    (it.name, kind)
}

pub(super) fn event(it: Answer) -> Event {
    match it {
        Answer::Started(it) => started(&it),
        Answer::Findings(it) => findings(it),
        Answer::Incomplete(it) => incomplete(it),
        Answer::Excluded(_) => Event::Excluded,
        Answer::Summary(it) => Event::Summary(summary(&it)),
    }
}

pub(super) fn round(it: Watched) -> Round {
    Round::Check(match it {
        Watched::Started(it) => started(&it),
        Watched::Findings(it) => findings(it),
        Watched::Incomplete(it) => incomplete(it),
        Watched::Excluded(_) => Event::Excluded,
        Watched::Summary(it) => Event::Summary(summary(&it)),
        Watched::Superseded(it) => return Round::Superseded(Revision(it.revision)),
        Watched::Refused(it) => return Round::Refused { reason: it.reason, message: it.message },
    })
}

fn started(it: &pb::CheckStarted) -> Event {
    Event::Started { revision: Revision(it.revision), files: it.files as usize }
}

fn findings(it: pb::Findings) -> Event {
    Event::Findings(it.findings.into_iter().map(finding).collect())
}

fn finding(it: pb::Finding) -> Finding {
    let tags = it.tags().map(|it| format!("{it:?}")).collect();
    let change = match it.change() {
        pb::FindingChange::Unspecified => None,
        pb::FindingChange::New => Some(Change::New),
        pb::FindingChange::Fixed => Some(Change::Fixed),
    };
    Finding {
        line: it.range.and_then(|it| it.start).expect("a finding has a place").line,
        path: it.path,
        code: it.code,
        content: some(it.content_hash).map(|it| hash(&it)),
        change,
        tags,
    }
}

fn incomplete(it: pb::Incomplete) -> Event {
    Event::Incomplete(vec![Incomplete { path: it.path, reason: it.reason }])
}

fn summary(it: &pb::CheckSummary) -> Summary {
    let level = match it.completeness() {
        pb::Completeness::Complete => Level::Complete,
        pb::Completeness::Partial => Level::Partial,
        pb::Completeness::Pending => Level::Pending,
        pb::Completeness::Failed => Level::Failed,
        pb::Completeness::Unspecified => panic!("every summary says how complete it is"),
    };
    let cached = it.linters.iter().map(|it| (it.linter.as_ref().unwrap().name.clone(), it.cached));
    Summary {
        revision: Revision(it.revision),
        content: hash(&it.content_hash),
        level,
        files: it.files as usize,
        findings: it.findings as usize,
        fixed: it.fixed_findings as usize,
        cached: cached.collect(),
    }
}

pub(super) fn fixed(it: pb::FixFilesResponse) -> Fixed {
    Fixed {
        revision: Revision(it.revision),
        count: it.fixes as usize,
        paths: it.paths,
        patch: it.patch,
        files: it.files.into_iter().map(fixed_file).collect(),
        notes: it.unfixed.into_iter().map(|it| (it.path, it.rule, it.reason)).collect(),
    }
}

fn fixed_file(it: pb::FixedFile) -> (String, ContentHash, String) {
    (it.path, hash(&it.content_hash), String::from_utf8(it.content.into()).unwrap())
}

pub(super) fn changed(it: Told) -> Workspace {
    match it {
        Told::Started(it) => Workspace::Started(it.editor_id),
        Told::BaseChanged(_) => Workspace::Base,
        Told::BranchChanged(it) => Workspace::Branch(branch_change(it)),
        Told::BufferChanged(it) => Workspace::Buffer(it.path, it.client_name, it.content_hash),
    }
}

fn branch_change(it: pb::BranchChanged) -> BranchChange {
    let kind = match it.kind() {
        pb::BranchChangeKind::Forked => "forked",
        pb::BranchChangeKind::Edited => "edited",
        pb::BranchChangeKind::Committed => "committed",
        pb::BranchChangeKind::Discarded => "discarded",
        pb::BranchChangeKind::Unspecified => panic!("every change has a kind"),
    };
    let branch = it.branch.expect("a change is of a branch");
    BranchChange {
        kind,
        branch: branch.branch_id,
        revision: branch.revision,
        changes: it.changes.into_iter().map(change).collect(),
        unsaved: it.unsaved_paths,
        left: it.left_paths,
    }
}

/// The refusal in a status, whose details must all say the same.
pub(super) fn refusal(status: &Status) -> Refusal {
    let details = status.get_error_details();
    let (reason, facts) = match details.error_info() {
        Some(info) => {
            assert_eq!(info.domain, "broker");
            (info.reason.clone(), info.metadata.clone().into_iter().collect())
        }
        None => (String::new(), BTreeMap::new()),
    };
    expect_agreement(&reason, &facts, &details);
    let violations = details.precondition_failure().map(|it| it.violations.as_slice()).unwrap_or_default();
    Refusal {
        kind: kind(status.code()),
        reason,
        facts,
        obstacles: violations.iter().map(|it| (it.subject.clone(), it.r#type.clone())).collect(),
        sentence: status.message().to_owned(),
    }
}

/// What gRPC has a detail of its own for says what the facts say.
fn expect_agreement(reason: &str, facts: &BTreeMap<String, String>, details: &ErrorDetails) {
    let violated = details.bad_request().map(|it| it.field_violations[0].field.as_str());
    let resource = details.resource_info();
    match reason {
        "INVALID_FIELD" => assert_eq!(violated, facts.get("field").map(String::as_str)),
        // It is no field that is wrong.
        "SANDBOX_DIFFERS" => assert_eq!(violated, None),
        "REQUEST_ID_REUSED" => assert_eq!(violated, Some("request_id")),
        "NOT_FOUND" => {
            let resource = resource.expect("what is not found is named");
            let named = [&resource.resource_type, &resource.resource_name];
            assert_eq!(named, [&facts["resource_type"], &facts["resource_name"]]);
        }
        "QUEUE_FULL" => {
            let delay =
                details.retry_info().and_then(|it| it.retry_delay).expect("it says when to come again");
            assert_eq!(facts["retry_after_ms"], delay.as_millis().to_string());
        }
        _ => {
            if let Some(what) = facts.get("what") {
                assert_eq!(violated, Some(what.as_str()));
            }
            if let Some(file) = resource.filter(|it| it.resource_type == "file") {
                assert_eq!(file.resource_name, facts["path"]);
            }
        }
    }
}

fn kind(code: Code) -> ErrorKind {
    match code {
        Code::InvalidArgument => ErrorKind::Invalid,
        Code::NotFound => ErrorKind::NotFound,
        Code::AlreadyExists => ErrorKind::AlreadyExists,
        Code::Aborted => ErrorKind::Aborted,
        Code::FailedPrecondition => ErrorKind::Refused,
        Code::PermissionDenied => ErrorKind::Forbidden,
        Code::Unauthenticated => ErrorKind::Unauthenticated,
        Code::ResourceExhausted => ErrorKind::Exhausted,
        Code::Unavailable => ErrorKind::Unavailable,
        Code::Unimplemented => ErrorKind::Unsupported,
        // The client's own clock may be the first to notice.
        Code::DeadlineExceeded | Code::Cancelled => ErrorKind::DeadlineExceeded,
        Code::DataLoss => ErrorKind::DataLoss,
        Code::Internal => ErrorKind::Internal,
        other => panic!("no refusal has this code: {other:?}"),
    }
}
