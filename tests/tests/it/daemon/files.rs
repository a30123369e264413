//! Files: large ones, buffers, directories in pages, and every kind of edit.

use overlay::{ContentHash, FileKind, Revision};
use tests::api::{
    RefusalExt as _, SetBuffer, base, branch, buffer, next, patch, refusal, remove, rename, write,
};
use workspaces::{BranchRequest, DiffRequest, DiffSide, ErrorKind, Expected, FileEdit, Side};

use super::{Fixture, Way};

both! {
    a_large_file_comes_whole,
    a_commit_writes_beneath_what_an_editor_has_not_saved,
    buffers_outrank_the_disk,
    directories_come_in_pages,
    all_edits_of_a_request_or_none,
    an_edit_may_say_what_it_expects,
    a_difference_is_a_patch_that_applies,
    a_difference_takes_no_save_back,
}

async fn a_large_file_comes_whole(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let content: Vec<u8> =
        (0..(20_u32 << 20) + 1).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    it.client.edit(&id, vec![write("large.bin", content.clone())]).await.unwrap();
    let file = it.client.read(branch(&id), "large.bin").await.unwrap();
    assert_eq!((file.bytes.len(), file.revision.0), (content.len(), 1));
    assert_eq!(file.content_hash, ContentHash::of(&content));
    assert!(file.bytes == content);
}

async fn a_commit_writes_beneath_what_an_editor_has_not_saved(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n"), ("b.txt", "1\n")]).await;
    it.client.set_buffer(buffer(&it.workspace, "a.txt", "buffer\n")).await.unwrap();
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n"), write("b.txt", "2\n")]).await.unwrap();
    let done = it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(done.unsaved, ["a.txt"]);
    assert_eq!((it.text("a.txt"), it.text("b.txt")), ("2\n".to_owned(), "2\n".to_owned()));
    assert_eq!(it.client.text(base(&it.workspace), "a.txt").await, "buffer\n");
}

async fn buffers_outrank_the_disk(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n")]).await;
    let id = it.fork().await;
    let set = it.client.set_buffer(buffer(&it.workspace, "a.txt", "buffer\n")).await.unwrap();
    assert_eq!(set, SetBuffer { hash: ContentHash::of(b"buffer\n"), is_hidden: false });
    it.write("a.txt", "disk again\n");
    for target in [base(&it.workspace), branch(&id)] {
        assert_eq!(it.client.text(target, "a.txt").await, "buffer\n");
    }
    for was_open in [true, false] {
        assert_eq!(it.client.close_buffer(&it.workspace, "a.txt", None).await.unwrap(), was_open);
    }
    assert_eq!(it.client.text(base(&it.workspace), "a.txt").await, "disk again\n");
}

async fn directories_come_in_pages(way: Way) {
    let it = Fixture::new(way, &[("d/a", ""), ("d/b", ""), ("d/sub/c", "")]).await;
    let id = it.fork().await;
    let link = FileEdit::Symlink { path: "d/link".to_owned(), link_target: "a".to_owned() };
    it.client.edit(&id, vec![link]).await.unwrap();
    let (mut entries, mut token) = (Vec::new(), String::new());
    loop {
        let page = it.client.list_directory(&branch(&id), "d", &next(3, &token), Side::Now).await.unwrap();
        entries.extend(page.items);
        token = page.next_token;
        if token.is_empty() {
            break;
        }
    }
    let kinds = [FileKind::File, FileKind::File, FileKind::Symlink, FileKind::Directory];
    let names = ["a", "b", "link", "sub"].map(str::to_owned);
    assert_eq!(entries, names.into_iter().zip(kinds).collect::<Vec<_>>());
}

async fn all_edits_of_a_request_or_none(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n2\n3\n"), ("x/y.txt", "y\n")]).await;
    let id = it.fork().await;
    let second = patch("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n");
    let edits = vec![
        second.clone(),
        rename("x", "z"),
        FileEdit::CreateDirectory { path: "empty".to_owned() },
        FileEdit::SetExecutable { path: "z/y.txt".to_owned(), executable: true },
    ];
    assert_eq!(it.client.edit(&id, edits).await.unwrap(), 1);
    let moved = it.client.read(branch(&id), "z/y.txt").await.unwrap();
    assert_eq!((moved.executable, &moved.bytes[..]), (true, &b"y\n"[..]));
    assert_eq!(it.client.text(branch(&id), "a.txt").await, "1\ntwo\n3\n");
    let twice = vec![write("b.txt", "b\n"), second];
    assert_eq!(
        refusal(it.client.edit(&id, twice).await).what(),
        (ErrorKind::Invalid, "PATCH_DOES_NOT_APPLY")
    );
    assert_eq!(
        refusal(it.client.read(branch(&id), "b.txt").await).what(),
        (ErrorKind::NotFound, "FILE_NOT_FOUND")
    );
    assert_eq!(it.client.get(&id).await.unwrap().info.revision.0, 1);
}

async fn an_edit_may_say_what_it_expects(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    let write = |expected| {
        let (path, content) = ("a.txt".to_owned(), "2\n".into());
        vec![FileEdit::Write { path, content, expected }]
    };
    for wrong in [Expected::Missing, Expected::Content("0".repeat(64))] {
        let refused = refusal(it.client.edit(&id, write(wrong)).await);
        assert_eq!(refused.what(), (ErrorKind::Refused, "OTHER_CONTENT"));
    }
    let right = Expected::Content(ContentHash::of(b"1\n").to_string());
    assert_eq!(it.client.edit(&id, write(right)).await.unwrap(), 1);
}

async fn a_difference_takes_no_save_back(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n2\n3\n"), ("b.txt", "b\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "one\n2\n3\n"), write("b.txt", "ours\n")]).await.unwrap();
    it.write("a.txt", "1\n2\nthree\n");
    it.client.edit(&id, vec![write("c.txt", "c\n")]).await.unwrap();
    let request = |against| DiffRequest { against, context_lines: Some(0), ..DiffRequest::of(&*id) };
    for (against, paths) in
        [(DiffSide::Parent, 3), (DiffSide::Revision(Revision(0)), 3), (DiffSide::Revision(Revision(1)), 1)]
    {
        let diff = it.client.diff_branch(request(against)).await.unwrap();
        assert_eq!(diff.changes.len(), paths, "{diff:?}");
        assert!(!diff.patch.contains("three"), "{diff:?}");
    }
    let diff = it.client.diff_branch(request(DiffSide::Parent)).await.unwrap();
    assert!(diff.patch.contains("-1\n+one\n"), "{diff:?}");
    assert_eq!(diff.outdated, ["a.txt"]);
    let diff = it.client.diff_branch(request(DiffSide::Base)).await.unwrap();
    assert!(diff.patch.contains("-three\n+3\n"), "as they are now: {diff:?}");
}

async fn a_difference_is_a_patch_that_applies(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n2\n3\n"), ("b.txt", "b\n")]).await;
    let (first, second) = (it.fork().await, it.fork().await);
    it.client
        .edit(&first, vec![write("a.txt", "1\ntwo\n3\n"), remove("b.txt"), write("c.txt", "c\n")])
        .await
        .unwrap();
    let against = DiffSide::Parent;
    let diff = DiffRequest { branch: first.clone(), against, with_patch: true, context_lines: None };
    let diff = it.client.diff_branch(diff).await.unwrap();
    assert_eq!(diff.changes.len(), 3);
    it.client.edit(&second, vec![patch(&diff.patch)]).await.unwrap();
    let hash = async |id: &str| {
        let request = BranchRequest {
            workspace: None,
            branch: id.to_owned(),
            with_tree_hash: true,
            with_conflicts: false,
        };
        it.client.get_branch(request).await.unwrap().tree_hash.unwrap()
    };
    assert_eq!(hash(&first).await, hash(&second).await);
}
