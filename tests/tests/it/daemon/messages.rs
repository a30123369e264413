//! Faults that only messages can have, since the daemon's own requests have no such values; and the maximum size of a message.

use broker_proto::v1::{self as pb, file_edit::Edit, query_service_client::QueryServiceClient};
use tests::daemon::{ask, base, branch, refusal, write};
use tonic::{Code, Status};

use super::Process;

/// The field that a refusal names.
fn field<T: std::fmt::Debug>(answer: Result<T, Status>) -> String {
    let (code, reason, details) = refusal(answer);
    assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "INVALID_FIELD"));
    details.bad_request().unwrap().field_violations[0].field.clone()
}

#[tokio::test]
async fn what_a_message_leaves_out_is_named() {
    let it = Process::new(&[]).await;
    let id = it.fork().await;
    assert_eq!(field(it.client.fork(pb::Target::default(), "").await), "target");
    assert_eq!(field(it.client.check(ask(pb::Target::default(), &[])).await), "target");
    assert_eq!(field(it.client.checks().watch(pb::WatchRequest::default()).await), "check");
    let empty = pb::EditFilesRequest {
        branch_id: id.clone(),
        edits: vec![pb::FileEdit::default()],
        ..pb::EditFilesRequest::default()
    };
    assert_eq!(field(it.client.files().edit_files(empty).await), "edits");
    let text = pb::EditText { edits: vec![pb::TextEdit::default()], ..pb::EditText::default() };
    assert_eq!(field(it.client.edit(&id, vec![Edit::Text(text)]).await), "edits.text.edits.span");
    let question = pb::QueryRequest { target: Some(branch(&id)), ..pb::QueryRequest::default() };
    let mut queries = QueryServiceClient::new(it.client.channel.clone());
    assert_eq!(field(queries.query(question).await), "kind");
}

#[tokio::test]
async fn what_no_version_of_the_protocol_has_is_named() {
    let it = Process::new(&[]).await;
    let id = it.fork().await;
    let check = pb::CheckRequest { priority: 77, ..ask(branch(&id), &[]) };
    assert_eq!(field(it.client.check(check).await), "priority");
    for kind in [0, 77] {
        let check = pb::CheckRequest { kinds: vec![1, kind], ..ask(branch(&id), &[]) };
        assert_eq!(field(it.client.check(check).await), "kinds");
    }
    let (branch_id, unknown) = (id.clone(), 77);
    let fix = pb::FixFilesRequest { branch_id, applicability: unknown, ..pb::FixFilesRequest::default() };
    assert_eq!(field(it.client.checks().fix_files(fix).await), "applicability");
    let diff = pb::DiffBranchRequest { branch_id: id.clone(), against: unknown, ..Default::default() };
    assert_eq!(field(it.client.branches().diff_branch(diff).await), "against");
    let rebase = pb::RebaseBranchRequest { branch_id: id, on_conflict: unknown, ..Default::default() };
    assert_eq!(field(it.client.branches().rebase_branch(rebase).await), "on_conflict");
}

#[tokio::test]
async fn fields_that_exclude_each_other_are_named() {
    let it = Process::new(&[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    let (target, path) = (Some(branch(&id)), "a.txt".to_owned());
    let read = pb::ReadFileRequest { target, path, revision: Some(0), of_parent: true };
    assert_eq!(field(it.client.files().read_file(read).await), "revision");
    let fix = pb::FixFilesRequest {
        branch_id: id.clone(),
        workspace_id: it.workspace.clone(),
        ..pb::FixFilesRequest::default()
    };
    assert_eq!(field(it.client.checks().fix_files(fix).await), "workspace_id");
    let undo = pb::UndoBranchRequest { branch_id: id, to_revision: 1, step_back: true, if_revision: None };
    assert_eq!(field(it.client.branches().undo_branch(undo).await), "step_back");
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused() {
    let it = Process::new(&[]).await;
    let id = it.fork().await;
    let refused = it.client.edit(&id, vec![write("b.txt", vec![b'x'; 73 << 20])]).await.unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange);
    assert_eq!(it.client.get(&id).await.unwrap().branch.unwrap().revision, 0);
    assert_eq!(it.client.read(base(&it.workspace), "b.txt").await.unwrap_err().code(), Code::NotFound);
}
