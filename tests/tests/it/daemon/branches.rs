//! Branches: forks of forks, undo, rebase, commit, and requests that are sent twice.

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt as _};

use overlay::{ConflictSide, OnConflict, Resolution, Revision, TextEdit};
use tests::api::{
    Refusal, RefusalExt as _, base, branch, commit, edits, fork, next, obstacles, read_of, rebase, refusal,
    remove, rename, undo, write,
};
use workspaces::{
    BranchRequest, CommitRequest, EditRequest, ErrorKind, FileEdit, ForkRequest, RebaseRequest, UndoRequest,
};

use super::{Fixture, Way};

both! {
    a_fork_of_a_fork_goes_its_own_way,
    an_undo_is_a_new_revision,
    a_rebase_brings_both_sides_together,
    functions_at_one_place_are_merged_by_syntax,
    a_conflict_is_decided_by_place,
    a_commit_if_clean_refuses_a_new_error,
    a_child_follows_a_parent_that_was_committed,
    a_child_is_rebased_onto_a_base_that_moved_below_it,
    nothing_is_committed_to_a_folder_that_was_moved_away,
    an_undo_reaches_back_over_a_commit,
    a_commit_writes_what_was_meant_and_nothing_else,
    a_commit_over_another_change_is_refused_until_it_is_forced,
    very_many_conflicts_can_be_told,
    what_is_sent_twice_is_done_once,
    an_identifier_is_for_one_request,
}

async fn a_fork_of_a_fork_goes_its_own_way(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "base\n")]).await;
    let parent = it.fork().await;
    it.client.edit(&parent, vec![write("a.txt", "parent\n")]).await.unwrap();
    let child = it.client.fork(branch(&parent), "child").await.unwrap();
    it.client.edit(&parent, vec![write("a.txt", "parent again\n")]).await.unwrap();
    it.client.edit(&child, vec![write("b.txt", "child\n")]).await.unwrap();
    assert_eq!(it.client.text(branch(&child), "a.txt").await, "parent\n");
    it.client.discard_branch(&parent).await.unwrap();
    assert_eq!(it.client.text(branch(&child), "a.txt").await, "parent\n");
    assert_eq!(it.client.text(base(&it.workspace), "a.txt").await, "base\n");
    let known = it.client.get(&child).await.unwrap().info;
    assert_eq!((known.parent, known.name.as_str()), (Some(parent), "child"));
}

async fn an_undo_is_a_new_revision(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "0\n")]).await;
    let id = it.fork().await;
    for text in ["1\n", "2\n", "3\n"] {
        it.client.edit(&id, vec![write("a.txt", text)]).await.unwrap();
    }
    let undo = UndoRequest { if_revision: Some(Revision(3)), ..undo(&id, 1) };
    let undone = it.client.undo_branch(undo.clone()).await.unwrap();
    assert_eq!((undone.revision.0, undone.to.0), (4, 1));
    assert_eq!(it.client.text(branch(&id), "a.txt").await, "1\n");
    let older = it.client.read_file(&branch(&id), "a.txt", read_of(3), None).await.unwrap();
    assert_eq!((older.revision.0, &older.bytes[..]), (3, &b"3\n"[..]));
    assert_eq!(refusal(it.client.undo_branch(undo).await).what(), (ErrorKind::Aborted, "STALE_REVISION"));
    let page = it.client.list_revisions(&id, &next(3, "")).await.unwrap();
    assert_eq!(page.items, [4, 3, 2].map(Revision));
    let page = it.client.list_revisions(&id, &next(3, &page.next_token)).await.unwrap();
    assert_eq!((page.items, page.next_token.as_str()), (vec![Revision(1)], ""));
}

async fn a_rebase_brings_both_sides_together(way: Way) {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let it = Fixture::new(way, &[("a.txt", lines), ("b.txt", "x\n")]).await;
    let id = it.fork().await;
    it.client
        .edit(&id, vec![write("a.txt", lines.replace('1', "one")), write("b.txt", "ours\n")])
        .await
        .unwrap();
    it.write("a.txt", &lines.replace('9', "nine"));
    it.write("b.txt", "theirs\n");
    assert_eq!(it.client.get(&id).await.unwrap().conflicts, ["a.txt", "b.txt"].map(tests::path));
    let quick =
        BranchRequest { workspace: None, branch: id.clone(), with_tree_hash: false, with_conflicts: false };
    assert!(it.client.get_branch(quick).await.unwrap().conflicts.is_empty(), "they were not asked for");
    let refused = refusal(it.client.rebase_branch(rebase(&id, OnConflict::Refuse)).await);
    assert_eq!(refused.what(), (ErrorKind::Aborted, "CONFLICT"));
    assert_eq!(obstacles(&refused), [conflict("b.txt")]);
    let rebased = it.client.rebase_branch(rebase(&id, OnConflict::KeepOurs)).await.unwrap();
    assert_eq!((rebased.revision.0, rebased.merged), (2, vec!["a.txt".to_owned()]));
    let merged = lines.replace('1', "one").replace('9', "nine");
    assert_eq!(it.client.text(branch(&id), "a.txt").await, merged);
    assert_eq!(it.client.text(branch(&id), "b.txt").await, "ours\n");
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!((it.text("a.txt"), it.text("b.txt")), (merged, "ours\n".to_owned()));
}

async fn functions_at_one_place_are_merged_by_syntax(way: Way) {
    let base = "def f():\n    return 1\n";
    let with = |name: &str| format!("{base}\n\ndef {name}():\n    return 2\n");
    let it = Fixture::new(way, &[("a.py", base)]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.py", with("g"))]).await.unwrap();
    it.write("a.py", &with("h"));
    let request = CommitRequest { rebase: true, ..commit(&id) };
    let committed = it.client.commit_branch(request).await.unwrap();
    assert_eq!(committed.merged_by_syntax, ["a.py"]);
    assert_eq!(it.text("a.py"), format!("{}\n\ndef h():\n    return 2\n", with("g")));
}

async fn a_conflict_is_decided_by_place(way: Way) {
    let both = |text: &'static str| [("a.txt", text), ("b.txt", text)];
    let it = Fixture::new(way, &both("1\n2\n3\n")).await;
    let id = it.fork().await;
    it.client.edit(&id, both("one\n2\nthree\n").map(|(path, text)| write(path, text)).into()).await.unwrap();
    both("uno\n2\ntre\n").iter().for_each(|(path, text)| it.write(path, text));
    let decide = |sides: &[ConflictSide]| {
        let resolutions = BTreeMap::from([
            ("a.txt".to_owned(), Resolution::Each(sides.to_vec())),
            ("b.txt".to_owned(), Resolution::All(ConflictSide::Theirs)),
        ]);
        it.client.rebase_branch(RebaseRequest { resolutions, ..RebaseRequest::of(&*id) })
    };
    for wrong in [1, 3] {
        let refused = refusal(decide(&vec![ConflictSide::Ours; wrong]).await);
        assert_eq!(refused.what(), (ErrorKind::Invalid, "INVALID_FIELD"));
        assert_eq!(it.client.text(branch(&id), "b.txt").await, "one\n2\nthree\n");
    }
    decide(&[ConflictSide::Ours, ConflictSide::Theirs]).await.unwrap();
    assert_eq!(it.client.text(branch(&id), "a.txt").await, "one\n2\ntre\n");
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(
        (it.text("a.txt"), it.text("b.txt")),
        ("one\n2\ntre\n".to_owned(), "uno\n2\ntre\n".to_owned())
    );
}

async fn a_commit_if_clean_refuses_a_new_error(way: Way) {
    let it = Fixture::new(way, &[("a.py", "x = 1\n\n\nz = 1\n")]).await;
    let id = it.fork().await;
    let if_clean = || it.client.commit_branch(CommitRequest { rebase: true, if_clean: true, ..commit(&id) });
    it.client.edit(&id, vec![write("a.py", "x = y\n\n\nz = 1\n")]).await.unwrap();
    it.write("a.py", "x = 1\n\n\nz = 2\n");
    let refused = refusal(if_clean().await);
    assert_eq!(refused.what(), (ErrorKind::Refused, "NOT_CLEAN"));
    assert_eq!(obstacles(&refused), [("a.py".to_owned(), "NEW_ERROR".to_owned())]);
    assert_eq!(it.text("a.py"), "x = 1\n\n\nz = 2\n");
    let text = it.client.text(branch(&id), "a.py").await;
    assert_eq!(text, "x = y\n\n\nz = 1\n", "the merge is not left on the branch");
    it.client.edit(&id, vec![write("a.py", "x = 2\n\n\nz = 1\n")]).await.unwrap();
    if_clean().await.unwrap();
    assert_eq!(it.text("a.py"), "x = 2\n\n\nz = 2\n");
}

async fn a_child_follows_a_parent_that_was_committed(way: Way) {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let it = Fixture::new(way, &[("a.txt", lines), ("old.txt", "x\n")]).await;
    let parent = it.fork().await;
    it.client.edit(&parent, vec![rename("old.txt", "new.txt")]).await.unwrap();
    let child = it.client.fork(branch(&parent), "").await.unwrap();
    it.client.edit(&child, vec![write("a.txt", lines.replace('1', "one"))]).await.unwrap();
    it.client.edit(&parent, vec![write("a.txt", lines.replace('9', "nine"))]).await.unwrap();
    it.client.commit(&parent, &[]).await.unwrap();
    assert_eq!(it.client.text(branch(&child), "new.txt").await, "x\n", "it took that along");
    assert_eq!(refusal(it.client.commit(&child, &[]).await).reason, "CONFLICT");
    it.client.rebase_branch(rebase(&child, OnConflict::Refuse)).await.unwrap();
    it.client.commit(&child, &[]).await.unwrap();
    assert_eq!(it.text("a.txt"), lines.replace('1', "one").replace('9', "nine"));
    assert_eq!((it.text("new.txt"), it.path("old.txt").exists()), ("x\n".to_owned(), false));
}

async fn a_child_is_rebased_onto_a_base_that_moved_below_it(way: Way) {
    let it =
        Fixture::new(way, &[("b.txt", "1\n2\n3\n4\n5\n"), ("theirs.txt", "x\n"), ("z.txt", "z\n")]).await;
    let parent = it.fork().await;
    it.client.edit(&parent, vec![write("z.txt", "zz\n"), write("theirs.txt", "parent\n")]).await.unwrap();
    let child = it.client.fork(branch(&parent), "").await.unwrap();
    it.client.edit(&child, vec![write("b.txt", "one\n2\n3\n4\n5\n")]).await.unwrap();
    it.write("b.txt", "1\n2\n3\n4\nfive\n");
    let rebase = || it.client.rebase_branch(rebase(&child, OnConflict::Refuse));
    rebase().await.unwrap();
    assert_eq!(it.client.text(branch(&child), "b.txt").await, "one\n2\n3\n4\nfive\n");
    it.write("theirs.txt", "disk\n");
    rebase().await.expect("that is for the parent to settle");
    it.write("b.txt", "uno\n2\n3\n4\nfive\n");
    let refused = refusal(rebase().await);
    assert_eq!((refused.reason.as_str(), obstacles(&refused)), ("CONFLICT", vec![conflict("b.txt")]));
}

async fn nothing_is_committed_to_a_folder_that_was_moved_away(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n")]).await.unwrap();
    let elsewhere = it.folder.path().with_extension("moved");
    std::fs::rename(it.folder.path(), &elsewhere).unwrap();
    std::fs::create_dir(it.folder.path()).unwrap();
    let refused = refusal(it.client.commit(&id, &[]).await);
    assert_eq!(std::fs::read_to_string(elsewhere.join("a.txt")).unwrap(), "1\n");
    assert_eq!(refused.what(), (ErrorKind::NotFound, "WORKSPACE_GONE"));
    std::fs::remove_dir(it.folder.path()).unwrap();
    std::fs::rename(&elsewhere, it.folder.path()).unwrap();
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(it.text("a.txt"), "2\n");
}

async fn an_undo_reaches_back_over_a_commit(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "before\n"), ("old.txt", "x\n")]).await;
    std::fs::set_permissions(it.path("old.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "after\n"), rename("old.txt", "new.txt")]).await.unwrap();
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(std::fs::metadata(it.path("new.txt")).unwrap().permissions().mode() & 0o777, 0o600);
    it.client.undo_branch(undo(&id, 0)).await.unwrap();
    assert_eq!(it.client.text(branch(&id), "a.txt").await, "before\n");
    assert_eq!(it.text("a.txt"), "after\n", "until that is committed, too");
    it.client.commit(&id, &[]).await.unwrap();
    assert_eq!((it.text("a.txt"), it.text("old.txt")), ("before\n".to_owned(), "x\n".to_owned()));
    assert!(!it.path("new.txt").exists());
}

async fn a_commit_writes_what_was_meant_and_nothing_else(way: Way) {
    let it = Fixture::new(way, &[("run.sh", "echo 1\r\n"), ("old.txt", "x\n")]).await;
    std::fs::set_permissions(it.path("run.sh"), std::fs::Permissions::from_mode(0o751)).unwrap();
    let id = it.fork().await;
    let edits = vec![TextEdit { start: 5, end: 6, replacement: "2".to_owned() }];
    let edit = FileEdit::Text { path: "run.sh".to_owned(), edits, if_content_hash: None };
    it.client.edit(&id, vec![edit, remove("old.txt"), write("deep/new.txt", "n\n")]).await.unwrap();
    let would = it.client.commit_branch(CommitRequest { dry_run: true, ..commit(&id) }).await.unwrap();
    assert_eq!(it.text("run.sh"), "echo 1\r\n");
    let done = it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(done.changes, would.changes);
    let paths: Vec<_> = done.changes.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["deep", "deep/new.txt", "old.txt", "run.sh"]);
    assert_eq!((it.text("run.sh"), it.text("deep/new.txt")), ("echo 2\r\n".to_owned(), "n\n".to_owned()));
    assert_eq!(std::fs::metadata(it.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o751);
    assert!(!it.path("old.txt").exists());
    assert_eq!(it.client.get(&id).await.unwrap().info.changed_paths, 0, "it shows the base");
}

async fn a_commit_over_another_change_is_refused_until_it_is_forced(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n"), ("b.txt", "1\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n"), write("b.txt", "2\n")]).await.unwrap();
    it.write("a.txt", "another\n");
    let refused = refusal(it.client.commit(&id, &[]).await);
    assert_eq!(refused.what(), (ErrorKind::Aborted, "CONFLICT"));
    assert_eq!(obstacles(&refused), [conflict("a.txt")]);
    assert_eq!((it.text("a.txt"), it.text("b.txt")), ("another\n".to_owned(), "1\n".to_owned()));
    let misspelt = refusal(it.client.commit(&id, &["a.text"]).await);
    assert_eq!(misspelt.what(), (ErrorKind::Invalid, "INVALID_FIELD"));
    it.client.commit(&id, &["a.txt"]).await.unwrap();
    assert_eq!((it.text("a.txt"), it.text("b.txt")), ("2\n".to_owned(), "2\n".to_owned()));
}

async fn very_many_conflicts_can_be_told(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let path = |number: usize| format!("a folder with a long name/{number:0>60}.txt");
    it.client.edit(&id, (0..500).map(|number| write(&path(number), "1\n")).collect()).await.unwrap();
    (0..500).for_each(|number| it.write(&path(number), "2\n"));
    let refused = refusal(it.client.commit(&id, &[]).await);
    assert_eq!(refused.kind, ErrorKind::Aborted);
    assert!(refused.obstacles.len() > 5, "{refused:?}");
    assert_eq!(it.client.get(&id).await.unwrap().conflicts.len(), 500);
}

async fn what_is_sent_twice_is_done_once(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let request_id = || Some("r1".to_owned());
    let forking = ForkRequest { request_id: request_id(), ..fork(base(&it.workspace)) };
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(it.client.fork_branch(forking.clone()).await.unwrap().id);
    }
    assert_eq!(ids[0], ids[1]);
    let editing = edits(&ids[0], vec![write("a.txt", "1\n")]);
    let editing = EditRequest { if_revision: Some(Revision(0)), request_id: request_id(), ..editing };
    for _ in 0..2 {
        assert_eq!(it.client.edit_files(editing.clone()).await.unwrap().0, 1);
    }
    let again = EditRequest { request_id: Some("r2".to_owned()), ..editing };
    assert_eq!(refusal(it.client.edit_files(again).await).what(), (ErrorKind::Aborted, "STALE_REVISION"));
    let committing = CommitRequest { request_id: request_id(), ..commit(&ids[0]) };
    let first = it.client.commit_branch(committing.clone()).await.unwrap();
    let second = it.client.commit_branch(committing).await.unwrap();
    assert_eq!((&first, first.changes.len()), (&second, 1));
}

async fn an_identifier_is_for_one_request(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let refused = |it: Refusal| {
        assert_eq!(it.what(), (ErrorKind::Invalid, "REQUEST_ID_REUSED"));
        assert_eq!(it.facts["request_id"], "r1");
    };
    let request_id = || Some("r1".to_owned());
    let labels = (0..20).map(|it| (it.to_string(), "x".to_owned())).collect();
    let forking = ForkRequest { labels, request_id: request_id(), ..fork(base(&it.workspace)) };
    let forked = it.client.fork_branch(forking.clone()).await.unwrap();
    // A map has no order on the way, and so each copy may come in another.
    assert_eq!(it.client.fork_branch(forking.clone()).await.unwrap().id, forked.id);
    let other = ForkRequest { labels: [].into(), ..forking.clone() };
    refused(refusal(it.client.fork_branch(other).await));
    refused(refusal(it.client.fork_branch(ForkRequest { name: "x".to_owned(), ..forking }).await));

    let editing = |text: &str| {
        let editing = edits(&forked.id, vec![write("a.txt", text)]);
        EditRequest { request_id: request_id(), ..editing }
    };
    it.client.edit_files(editing("1\n")).await.unwrap();
    refused(refusal(it.client.edit_files(editing("2\n")).await));
    assert_eq!(it.client.text(branch(&forked.id), "a.txt").await, "1\n");

    let committing = CommitRequest { request_id: request_id(), ..commit(&forked.id) };
    it.client.commit_branch(committing.clone()).await.unwrap();
    let forced = CommitRequest { force_paths: vec!["a.txt".to_owned()], ..committing };
    refused(refusal(it.client.commit_branch(forced).await));
}

/// A path in the way, and what kind of obstacle it is.
fn conflict(path: &str) -> (String, String) {
    (path.to_owned(), "CONFLICT".to_owned())
}
