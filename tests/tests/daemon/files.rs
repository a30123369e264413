//! Files: large ones, buffers, directories in pages, and every kind of edit.

use broker_proto::v1::{self as pb, file_edit::Edit};
use overlay::ContentHash;
use tests::daemon::{base, branch, refusal, write};
use tonic::Code;

use super::Fixture;

#[tokio::test]
async fn a_large_file_comes_whole() {
    let it = Fixture::new(&[]).await;
    let id = it.fork().await;
    let content: Vec<u8> =
        (0..(20_u32 << 20) + 1).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    it.client.edit(&id, vec![write("large.bin", content.clone())]).await.unwrap();
    let (info, read) = it.client.read(branch(&id), "large.bin").await.unwrap();
    assert_eq!((info.size, info.revision), (content.len() as u64, 1));
    assert_eq!(info.content_hash, ContentHash::of(&content).to_string());
    assert!(read == content);
}

#[tokio::test]
async fn a_commit_writes_beneath_what_an_editor_has_not_saved() {
    let it = Fixture::new(&[("a.txt", "1\n"), ("b.txt", "1\n")]).await;
    let (workspace_id, path) = (it.workspace.clone(), "a.txt".to_owned());
    let set = pb::SetBufferRequest { workspace_id, path, content: b"buffer\n".to_vec().into() };
    it.client.files().set_buffer(set).await.unwrap();
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n"), write("b.txt", "2\n")]).await.unwrap();
    let done = it.client.commit(&id, &[]).await.unwrap();
    assert_eq!(done.unsaved_paths, ["a.txt"]);
    assert_eq!((it.text("a.txt"), it.text("b.txt")), ("2\n".to_owned(), "2\n".to_owned()));
    assert_eq!(it.client.read(base(&it.workspace), "a.txt").await.unwrap().1, b"buffer\n");
}

#[tokio::test]
async fn buffers_outrank_the_disk() {
    let it = Fixture::new(&[("a.txt", "disk\n")]).await;
    let id = it.fork().await;
    let (workspace_id, path) = (it.workspace.clone(), "a.txt".to_owned());
    let set = pb::SetBufferRequest { workspace_id, path, content: b"buffer\n".to_vec().into() };
    let set = it.client.files().set_buffer(set).await.unwrap().into_inner();
    assert_eq!(set.content_hash, ContentHash::of(b"buffer\n").to_string());
    it.write("a.txt", "disk again\n");
    for target in [base(&it.workspace), branch(&id)] {
        assert_eq!(it.client.read(target, "a.txt").await.unwrap().1, b"buffer\n");
    }
    let close = pb::CloseBufferRequest { workspace_id: it.workspace.clone(), path: "a.txt".to_owned() };
    for was_open in [true, false] {
        let closed = it.client.files().close_buffer(close.clone()).await.unwrap().into_inner();
        assert_eq!(closed.was_open, was_open);
    }
    assert_eq!(it.client.read(base(&it.workspace), "a.txt").await.unwrap().1, b"disk again\n");
}

#[tokio::test]
async fn directories_come_in_pages() {
    let it = Fixture::new(&[("d/a", ""), ("d/b", ""), ("d/sub/c", "")]).await;
    let id = it.fork().await;
    let link = pb::CreateSymlink { path: "d/link".to_owned(), link_target: "a".to_owned() };
    it.client.edit(&id, vec![Edit::CreateSymlink(link)]).await.unwrap();
    let (mut names, mut token) = (Vec::new(), String::new());
    loop {
        let (target, path) = (Some(branch(&id)), "d".to_owned());
        let list =
            pb::ListDirectoryRequest { target, path, page_size: 3, page_token: token, of_parent: false };
        let page = it.client.files().list_directory(list).await.unwrap().into_inner();
        names.extend(page.entries.into_iter().map(|it| (it.name, it.kind)));
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    let kinds = [pb::FileKind::File, pb::FileKind::File, pb::FileKind::Symlink, pb::FileKind::Directory];
    let expected: Vec<_> = ["a", "b", "link", "sub"].into_iter().zip(kinds).collect();
    assert_eq!(names, expected.into_iter().map(|(a, b)| (a.to_owned(), i32::from(b))).collect::<Vec<_>>());
}

#[tokio::test]
async fn all_edits_of_a_request_or_none() {
    let it = Fixture::new(&[("a.txt", "1\n2\n3\n"), ("x/y.txt", "y\n")]).await;
    let id = it.fork().await;
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n".to_owned();
    let rename = pb::RenamePath { from_path: "x".to_owned(), to_path: "z".to_owned() };
    let edits = vec![
        Edit::Patch(pb::ApplyPatch { patch: patch.clone() }),
        Edit::Rename(rename),
        Edit::CreateDirectory(pb::CreateDirectory { path: "empty".to_owned() }),
        Edit::SetExecutable(pb::SetExecutable { path: "z/y.txt".to_owned(), executable: true }),
    ];
    assert_eq!(it.client.edit(&id, edits).await.unwrap(), 1);
    let (info, text) = it.client.read(branch(&id), "z/y.txt").await.unwrap();
    assert_eq!((info.executable, text.as_slice()), (true, b"y\n".as_slice()));
    assert_eq!(it.client.read(branch(&id), "a.txt").await.unwrap().1, b"1\ntwo\n3\n");
    let twice = vec![write("b.txt", "b\n"), Edit::Patch(pb::ApplyPatch { patch })];
    let (code, reason, _) = refusal(it.client.edit(&id, twice).await);
    assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "PATCH_DOES_NOT_APPLY"));
    let (code, reason, _) = refusal(it.client.read(branch(&id), "b.txt").await);
    assert_eq!((code, reason.as_str()), (Code::NotFound, "FILE_NOT_FOUND"));
    assert_eq!(it.client.get(&id).await.unwrap().branch.unwrap().revision, 1);
}

#[tokio::test]
async fn an_edit_may_say_what_it_expects() {
    let it = Fixture::new(&[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    let write = |if_content_hash: String| {
        let (path, content) = ("a.txt".to_owned(), b"2\n".to_vec().into());
        vec![Edit::Write(pb::WriteFile { path, content, if_content_hash })]
    };
    for wrong in ["missing".to_owned(), "0".repeat(64)] {
        let (code, reason, _) = refusal(it.client.edit(&id, write(wrong)).await);
        assert_eq!((code, reason.as_str()), (Code::FailedPrecondition, "OTHER_CONTENT"));
    }
    assert_eq!(it.client.edit(&id, write(ContentHash::of(b"1\n").to_string())).await.unwrap(), 1);
}

#[tokio::test]
async fn a_difference_is_a_patch_that_applies() {
    let it = Fixture::new(&[("a.txt", "1\n2\n3\n"), ("b.txt", "b\n")]).await;
    let (first, second) = (it.fork().await, it.fork().await);
    let remove = Edit::Remove(pb::RemovePath { path: "b.txt".to_owned() });
    it.client.edit(&first, vec![write("a.txt", "1\ntwo\n3\n"), remove, write("c.txt", "c\n")]).await.unwrap();
    let diff = pb::DiffBranchRequest { branch_id: first.clone(), ..pb::DiffBranchRequest::default() };
    let mut parts = it.client.branches().diff_branch(diff).await.unwrap().into_inner();
    let (mut changes, mut patch) = (Vec::new(), String::new());
    while let Some(part) = parts.message().await.unwrap() {
        match part.part.unwrap() {
            pb::diff_branch_response::Part::Changes(it) => changes.extend(it.changes),
            pb::diff_branch_response::Part::Patch(it) => patch += &it,
        }
    }
    assert_eq!(changes.len(), 3);
    it.client.edit(&second, vec![Edit::Patch(pb::ApplyPatch { patch })]).await.unwrap();
    let request = |id: &str| pb::GetBranchRequest {
        branch_id: id.to_owned(),
        with_tree_hash: true,
        ..pb::GetBranchRequest::default()
    };
    let hash =
        async |id: &str| it.client.branches().get_branch(request(id)).await.unwrap().into_inner().tree_hash;
    assert_eq!(hash(&first).await, hash(&second).await);
}
