//! Branches whose work is done, as clients ask for them.

use tests::api::{Refusal, buffer, commit, undo, write};
use workspaces::{DiscardMergedRequest, ErrorKind, JudgedBranch};

use super::{Fixture, Way};

both! {
    branches_are_judged_by_name,
    an_unsaved_text_is_not_on_the_disk,
    only_the_branch_of_an_ending_session_is_judged,
    a_workspace_and_a_branch_that_are_not_there_are_refused,
}

fn all(it: &Fixture) -> DiscardMergedRequest {
    DiscardMergedRequest { workspace: it.workspace.clone(), branch: None, dry_run: false }
}

async fn judged(it: &Fixture, request: DiscardMergedRequest) -> Vec<(String, Option<String>)> {
    let judged = it.client.discard_merged(request).await.unwrap();
    judged.into_iter().map(|JudgedBranch { id, kept, .. }| (id.to_string(), kept)).collect()
}

/// A branch with an edit of `a`.
async fn edited(it: &Fixture, text: &str) -> String {
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a", text)]).await.unwrap();
    id
}

const KEPT: &str = "edits that the disk does not have: a";

async fn branches_are_judged_by_name(way: Way) {
    let it = Fixture::new(way, &[("a", "old")]).await;
    let (done, other) = (edited(&it, "new").await, edited(&it, "other").await);
    it.client.commit_branch(commit(&done)).await.unwrap();
    let mut want = vec![(done.clone(), None), (other.clone(), Some(KEPT.to_owned()))];
    // Names are made of handles.
    want.sort_by_key(|it| it.0.clone());
    assert_eq!(judged(&it, DiscardMergedRequest { dry_run: true, ..all(&it) }).await, want);
    assert_eq!(judged(&it, all(&it)).await, want);
    assert_eq!(judged(&it, all(&it)).await, [(other.clone(), Some(KEPT.to_owned()))]);
    it.client.undo_branch(undo(&other, 0)).await.unwrap();
    let undone = "undone edits, of revision 1: the disk does not have a";
    assert_eq!(judged(&it, all(&it)).await, [(other, Some(undone.to_owned()))]);
}

async fn an_unsaved_text_is_not_on_the_disk(way: Way) {
    let it = Fixture::new(way, &[("a", "old")]).await;
    let id = edited(&it, "new").await;
    it.client.set_buffer(buffer(&it.workspace, "a", "new")).await.unwrap();
    assert_eq!(judged(&it, all(&it)).await, [(id.clone(), Some(KEPT.to_owned()))]);
    it.write("a", "new");
    assert_eq!(judged(&it, all(&it)).await, [(id, None)]);
}

async fn only_the_branch_of_an_ending_session_is_judged(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let (first, second) = (it.fork().await, it.fork().await);
    let request = DiscardMergedRequest { branch: Some(first.clone()), ..all(&it) };
    assert_eq!(judged(&it, request).await, [(first, None)]);
    assert_eq!(judged(&it, all(&it)).await, [(second, None)]);
}

async fn a_workspace_and_a_branch_that_are_not_there_are_refused(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let nowhere = DiscardMergedRequest { workspace: "none".to_owned(), ..all(&it) };
    let unknown = DiscardMergedRequest { branch: Some("none".to_owned()), ..all(&it) };
    for request in [nowhere, unknown] {
        let refused: Refusal = it.client.discard_merged(request).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::NotFound, "{refused:?}");
    }
}
