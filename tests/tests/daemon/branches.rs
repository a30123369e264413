//! Branches: forks of forks, undo, rebase, commit, and requests that are sent twice.

use std::os::unix::fs::PermissionsExt as _;

use broker_proto::v1::{self as pb, file_edit::Edit};
use tests::daemon::{base, branch, refusal, write};
use tonic::Code;

use super::Fixture;

#[tokio::test]
async fn a_fork_of_a_fork_goes_its_own_way() {
    let it = Fixture::new(&[("a.txt", "base\n")]).await;
    let parent = it.fork().await;
    it.client.edit(&parent, vec![write("a.txt", "parent\n")]).await.unwrap();
    let child = it.client.fork(branch(&parent), "child").await.unwrap();
    it.client.edit(&parent, vec![write("a.txt", "parent again\n")]).await.unwrap();
    it.client.edit(&child, vec![write("b.txt", "child\n")]).await.unwrap();
    assert_eq!(it.client.read(branch(&child), "a.txt").await.unwrap().1, b"parent\n");
    it.client.discard(&parent).await.unwrap();
    assert_eq!(it.client.read(branch(&child), "a.txt").await.unwrap().1, b"parent\n");
    assert_eq!(it.client.read(base(&it.workspace), "a.txt").await.unwrap().1, b"base\n");
    let known = it.client.get(&child).await.unwrap().branch.unwrap();
    assert_eq!((known.parent_branch_id, known.name.as_str()), (parent, "child"));
}

#[tokio::test]
async fn an_undo_is_a_new_revision() {
    let it = Fixture::new(&[("a.txt", "0\n")]).await;
    let id = it.fork().await;
    for text in ["1\n", "2\n", "3\n"] {
        it.client.edit(&id, vec![write("a.txt", text)]).await.unwrap();
    }
    let undo = pb::UndoBranchRequest {
        branch_id: id.clone(),
        to_revision: 1,
        if_revision: Some(3),
        step_back: false,
    };
    let undone = it.client.branches().undo_branch(undo.clone()).await.unwrap().into_inner();
    assert_eq!(undone.revision, 4);
    assert_eq!(it.client.read(branch(&id), "a.txt").await.unwrap().1, b"1\n");
    assert_eq!(it.client.read_at(branch(&id), "a.txt", Some(3)).await.unwrap().1, b"3\n");
    let (code, reason, _) = refusal(it.client.branches().undo_branch(undo).await);
    assert_eq!((code, reason.as_str()), (Code::Aborted, "STALE_REVISION"));
    let list =
        pb::ListRevisionsRequest { branch_id: id, page_size: 3, ..pb::ListRevisionsRequest::default() };
    let page = it.client.branches().list_revisions(list.clone()).await.unwrap().into_inner();
    assert_eq!(page.revisions.iter().map(|it| it.revision).collect::<Vec<_>>(), [4, 3, 2]);
    let next = pb::ListRevisionsRequest { page_token: page.next_page_token, ..list };
    let page = it.client.branches().list_revisions(next).await.unwrap().into_inner();
    assert_eq!(page.revisions.iter().map(|it| it.revision).collect::<Vec<_>>(), [1]);
    assert_eq!(page.next_page_token, "");
}

#[tokio::test]
async fn a_rebase_brings_both_sides_together() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let it = Fixture::new(&[("a.txt", lines), ("b.txt", "x\n")]).await;
    let id = it.fork().await;
    it.client
        .edit(&id, vec![write("a.txt", lines.replace('1', "one")), write("b.txt", "ours\n")])
        .await
        .unwrap();
    it.write("a.txt", &lines.replace('9', "nine"));
    it.write("b.txt", "theirs\n");
    let conflicts = it.client.get(&id).await.unwrap().conflicts;
    assert_eq!(conflicts, ["a.txt", "b.txt"]);
    let request = pb::RebaseBranchRequest { branch_id: id.clone(), on_conflict: 0, if_revision: None };
    let (code, reason, details) = refusal(it.client.branches().rebase_branch(request.clone()).await);
    assert_eq!((code, reason.as_str()), (Code::Aborted, "CONFLICT"));
    let violations = &details.precondition_failure().unwrap().violations;
    assert_eq!(violations.iter().map(|it| it.subject.as_str()).collect::<Vec<_>>(), ["b.txt"]);
    let on_conflict = pb::ConflictHandling::KeepBranch.into();
    let request = pb::RebaseBranchRequest { on_conflict, ..request };
    let rebased = it.client.branches().rebase_branch(request).await.unwrap().into_inner();
    assert_eq!((rebased.revision, rebased.merged_paths), (2, vec!["a.txt".to_owned()]));
    let merged = lines.replace('1', "one").replace('9', "nine");
    assert_eq!(it.client.read(branch(&id), "a.txt").await.unwrap().1, merged.as_bytes());
    assert_eq!(it.client.read(branch(&id), "b.txt").await.unwrap().1, b"ours\n");
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!((it.text("a.txt"), it.text("b.txt")), (merged, "ours\n".to_owned()));
}

#[tokio::test]
async fn a_child_follows_a_parent_that_was_committed() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let it = Fixture::new(&[("a.txt", lines), ("old.txt", "x\n")]).await;
    let parent = it.fork().await;
    let rename = pb::RenamePath { from_path: "old.txt".to_owned(), to_path: "new.txt".to_owned() };
    it.client.edit(&parent, vec![Edit::Rename(rename)]).await.unwrap();
    let child = it.client.fork(branch(&parent), "").await.unwrap();
    it.client.edit(&child, vec![write("a.txt", lines.replace('1', "one"))]).await.unwrap();
    it.client.edit(&parent, vec![write("a.txt", lines.replace('9', "nine"))]).await.unwrap();
    it.client.commit(&parent, &[]).await.unwrap();
    assert_eq!(it.client.read(branch(&child), "new.txt").await.unwrap().1, b"x\n", "it took that along");
    assert_eq!(refusal(it.client.commit(&child, &[]).await).1, "CONFLICT");
    let request = pb::RebaseBranchRequest { branch_id: child.clone(), on_conflict: 0, if_revision: None };
    it.client.branches().rebase_branch(request).await.unwrap();
    it.client.commit(&child, &[]).await.unwrap();
    assert_eq!(it.text("a.txt"), lines.replace('1', "one").replace('9', "nine"));
    assert_eq!((it.text("new.txt"), it.path("old.txt").exists()), ("x\n".to_owned(), false));
}

#[tokio::test]
async fn a_child_is_rebased_onto_a_base_that_moved_below_it() {
    let it = Fixture::new(&[("b.txt", "1\n2\n3\n4\n5\n"), ("theirs.txt", "x\n"), ("z.txt", "z\n")]).await;
    let parent = it.fork().await;
    it.client.edit(&parent, vec![write("z.txt", "zz\n"), write("theirs.txt", "parent\n")]).await.unwrap();
    let child = it.client.fork(branch(&parent), "").await.unwrap();
    it.client.edit(&child, vec![write("b.txt", "one\n2\n3\n4\n5\n")]).await.unwrap();
    it.write("b.txt", "1\n2\n3\n4\nfive\n");
    let rebase = |on_conflict: pb::ConflictHandling| {
        let on_conflict = on_conflict.into();
        let request = pb::RebaseBranchRequest { branch_id: child.clone(), on_conflict, if_revision: None };
        let mut branches = it.client.branches();
        async move { branches.rebase_branch(request).await }
    };
    rebase(pb::ConflictHandling::Unspecified).await.unwrap();
    assert_eq!(it.client.read(branch(&child), "b.txt").await.unwrap().1, b"one\n2\n3\n4\nfive\n");
    it.write("theirs.txt", "disk\n");
    rebase(pb::ConflictHandling::Unspecified).await.expect("that is for the parent to settle");
    it.write("b.txt", "uno\n2\n3\n4\nfive\n");
    let (_, reason, details) = refusal(rebase(pb::ConflictHandling::Unspecified).await);
    let violations = &details.precondition_failure().unwrap().violations;
    assert_eq!((reason.as_str(), violations.len(), violations[0].subject.as_str()), ("CONFLICT", 1, "b.txt"));
}

#[tokio::test]
async fn nothing_is_committed_to_a_folder_that_was_moved_away() {
    let it = Fixture::new(&[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n")]).await.unwrap();
    let elsewhere = it.folder.path().with_extension("moved");
    std::fs::rename(it.folder.path(), &elsewhere).unwrap();
    std::fs::create_dir(it.folder.path()).unwrap();
    let (code, _, _) = refusal(it.client.commit(&id, &[]).await);
    assert_eq!(std::fs::read_to_string(elsewhere.join("a.txt")).unwrap(), "1\n");
    assert_ne!(code, Code::Internal);
    std::fs::remove_dir(it.folder.path()).unwrap();
    std::fs::rename(&elsewhere, it.folder.path()).unwrap();
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(it.text("a.txt"), "2\n");
}

#[tokio::test]
async fn an_undo_reaches_back_over_a_commit() {
    let it = Fixture::new(&[("a.txt", "before\n"), ("old.txt", "x\n")]).await;
    std::fs::set_permissions(it.path("old.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let id = it.fork().await;
    let rename = pb::RenamePath { from_path: "old.txt".to_owned(), to_path: "new.txt".to_owned() };
    it.client.edit(&id, vec![write("a.txt", "after\n"), Edit::Rename(rename)]).await.unwrap();
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(std::fs::metadata(it.path("new.txt")).unwrap().permissions().mode() & 0o777, 0o600);
    let undo =
        pb::UndoBranchRequest { branch_id: id.clone(), to_revision: 0, if_revision: None, step_back: false };
    it.client.branches().undo_branch(undo).await.unwrap();
    assert_eq!(it.client.read(branch(&id), "a.txt").await.unwrap().1, b"before\n");
    assert_eq!(it.text("a.txt"), "after\n", "until that is committed, too");
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!((it.text("a.txt"), it.text("old.txt")), ("before\n".to_owned(), "x\n".to_owned()));
    assert!(!it.path("new.txt").exists());
}

#[tokio::test]
async fn a_commit_writes_what_was_meant_and_nothing_else() {
    let it = Fixture::new(&[("run.sh", "echo 1\r\n"), ("old.txt", "x\n")]).await;
    std::fs::set_permissions(it.path("run.sh"), std::fs::Permissions::from_mode(0o751)).unwrap();
    let id = it.fork().await;
    let span = Some(pb::Span { start: 5, end: 6 });
    let edit = pb::TextEdit { span, replacement: "2".to_owned() };
    let edit = pb::EditText { path: "run.sh".to_owned(), edits: vec![edit], ..pb::EditText::default() };
    let remove = Edit::Remove(pb::RemovePath { path: "old.txt".to_owned() });
    it.client.edit(&id, vec![Edit::Text(edit), remove, write("deep/new.txt", "n\n")]).await.unwrap();
    let dry = pb::CommitBranchRequest {
        branch_id: id.clone(),
        dry_run: true,
        ..pb::CommitBranchRequest::default()
    };
    let would = it.client.branches().commit_branch(dry).await.unwrap().into_inner();
    assert_eq!(it.text("run.sh"), "echo 1\r\n");
    let done = it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(done.changes, would.changes);
    let paths: Vec<_> = done.changes.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["deep", "deep/new.txt", "old.txt", "run.sh"]);
    assert_eq!((it.text("run.sh"), it.text("deep/new.txt")), ("echo 2\r\n".to_owned(), "n\n".to_owned()));
    assert_eq!(std::fs::metadata(it.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o751);
    assert!(!it.path("old.txt").exists());
    assert_eq!(it.client.get(&id).await.unwrap().branch.unwrap().changed_paths, 0, "it shows the base");
}

#[tokio::test]
async fn a_commit_over_another_change_is_refused_until_it_is_forced() {
    let it = Fixture::new(&[("a.txt", "1\n"), ("b.txt", "1\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n"), write("b.txt", "2\n")]).await.unwrap();
    it.write("a.txt", "another\n");
    let (code, reason, details) = refusal(it.client.commit(&id, &[]).await);
    assert_eq!((code, reason.as_str()), (Code::Aborted, "CONFLICT"));
    let violations = &details.precondition_failure().unwrap().violations;
    assert_eq!((violations[0].r#type.as_str(), violations[0].subject.as_str()), ("CONFLICT", "a.txt"));
    assert_eq!((it.text("a.txt"), it.text("b.txt")), ("another\n".to_owned(), "1\n".to_owned()));
    it.client.commit(&id, &["a.txt"]).await.unwrap();
    assert_eq!((it.text("a.txt"), it.text("b.txt")), ("2\n".to_owned(), "2\n".to_owned()));
}

#[tokio::test]
async fn very_many_conflicts_can_be_told() {
    let it = Fixture::new(&[]).await;
    let id = it.fork().await;
    let path = |number: usize| format!("a folder with a long name/{number:0>60}.txt");
    it.client.edit(&id, (0..500).map(|number| write(&path(number), "1\n")).collect()).await.unwrap();
    (0..500).for_each(|number| it.write(&path(number), "2\n"));
    let (code, _, details) = refusal(it.client.commit(&id, &[]).await);
    assert_eq!(code, Code::Aborted);
    assert!(details.precondition_failure().unwrap().violations.len() > 5);
    assert_eq!(it.client.get(&id).await.unwrap().conflicts.len(), 500);
}

#[tokio::test]
async fn what_is_sent_twice_is_done_once() {
    let it = Fixture::new(&[]).await;
    let fork = pb::ForkBranchRequest {
        parent: Some(base(&it.workspace)),
        request_id: "r1".to_owned(),
        ..pb::ForkBranchRequest::default()
    };
    let mut ids = Vec::new();
    for _ in 0..2 {
        let forked = it.client.branches().fork_branch(fork.clone()).await.unwrap().into_inner();
        ids.push(forked.branch.unwrap().branch_id);
    }
    assert_eq!(ids[0], ids[1]);
    let edit = pb::FileEdit { edit: Some(write("a.txt", "1\n")) };
    let edit = pb::EditFilesRequest {
        branch_id: ids[0].clone(),
        edits: vec![edit],
        if_revision: Some(0),
        request_id: "r1".to_owned(),
    };
    for _ in 0..2 {
        assert_eq!(it.client.files().edit_files(edit.clone()).await.unwrap().into_inner().revision, 1);
    }
    let again = pb::EditFilesRequest { request_id: "r2".to_owned(), ..edit };
    let (code, reason, _) = refusal(it.client.files().edit_files(again).await);
    assert_eq!((code, reason.as_str()), (Code::Aborted, "STALE_REVISION"));
    let commit = pb::CommitBranchRequest {
        branch_id: ids[0].clone(),
        request_id: "r1".to_owned(),
        ..pb::CommitBranchRequest::default()
    };
    let first = it.client.branches().commit_branch(commit.clone()).await.unwrap().into_inner();
    let second = it.client.branches().commit_branch(commit).await.unwrap().into_inner();
    assert_eq!((&first, first.changes.len()), (&second, 1));
}

#[tokio::test]
async fn an_identifier_is_for_one_request() {
    let it = Fixture::new(&[]).await;
    let refused = |(code, reason, details): (Code, String, tonic_types::ErrorDetails)| {
        assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "REQUEST_ID_REUSED"));
        assert_eq!(details.error_info().unwrap().metadata["request_id"], "r1");
    };
    let labels = (0..20).map(|it| (it.to_string(), "x".to_owned()));
    let fork = pb::ForkBranchRequest {
        parent: Some(base(&it.workspace)),
        labels: labels.collect(),
        request_id: "r1".to_owned(),
        ..pb::ForkBranchRequest::default()
    };
    let mut branches = it.client.branches();
    let forked = branches.fork_branch(fork.clone()).await.unwrap().into_inner();
    // A map has no order, and so each copy may be sent in another.
    let again = pb::ForkBranchRequest { labels: fork.labels.clone().into_iter().collect(), ..fork.clone() };
    assert_eq!(branches.fork_branch(again).await.unwrap().into_inner(), forked);
    let other = pb::ForkBranchRequest { labels: [].into(), ..fork.clone() };
    refused(refusal(branches.fork_branch(other).await));
    refused(refusal(branches.fork_branch(pb::ForkBranchRequest { name: "x".to_owned(), ..fork }).await));

    let branch_id = forked.branch.unwrap().branch_id;
    let edit = |text: &str| pb::EditFilesRequest {
        branch_id: branch_id.clone(),
        edits: vec![pb::FileEdit { edit: Some(write("a.txt", text)) }],
        request_id: "r1".to_owned(),
        ..pb::EditFilesRequest::default()
    };
    it.client.files().edit_files(edit("1\n")).await.unwrap();
    refused(refusal(it.client.files().edit_files(edit("2\n")).await));
    assert_eq!(it.client.read(branch(&branch_id), "a.txt").await.unwrap().1, b"1\n");

    let commit = pb::CommitBranchRequest {
        branch_id: branch_id.clone(),
        request_id: "r1".to_owned(),
        ..pb::CommitBranchRequest::default()
    };
    branches.commit_branch(commit.clone()).await.unwrap();
    let forced = pb::CommitBranchRequest { force_paths: vec!["a.txt".to_owned()], ..commit };
    refused(refusal(branches.commit_branch(forced).await));
}
