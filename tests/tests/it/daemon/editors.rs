//! Editors: several on one workspace, what each is told, and what goes when one leaves.

use overlay::{ChangeKind, ContentHash};
use tests::{
    api::{
        Answered, Api, BranchChange, Change, Events, RefusalExt as _, base, branch, buffer, commit, fix,
        refusal, remove, undo, write,
    },
    daemon::{TEST_TIMEOUT, until},
};
use tokio_stream::StreamExt as _;
use workspaces::{BufferRequest, CommitRequest, ErrorKind};

use super::{Fixture, Way};

both! {
    the_text_of_the_editor_that_typed_last_is_shown,
    what_an_editor_has_not_saved_goes_when_it_leaves,
    two_paths_of_one_file_have_one_text,
    an_editor_that_is_not_there_is_refused,
    what_becomes_of_branches_is_told,
    a_commit_of_an_open_file_is_told_with_what_is_not_saved,
    a_commit_leaves_texts_to_editors_that_take_them,
    changes_on_the_disk_are_told,
    a_watch_ends_with_its_workspace,
}

/// A client that watches.
struct Editor {
    id: String,
    workspace: String,
    events: Events<Change>,
}

impl Editor {
    async fn new(it: &Fixture, client: &Api, name: &str) -> Self {
        Self::watching(it, client, name, false).await
    }

    async fn watching(it: &Fixture, client: &Api, name: &str, takes_commits: bool) -> Self {
        let mut events = client.watch_workspace(&it.workspace, name, takes_commits).await.unwrap();
        let Change::Started(id) = events.next().await.unwrap().unwrap() else { panic!("it begins") };
        Self { id, workspace: it.workspace.clone(), events }
    }

    fn text(&self, path: &str, content: &str) -> BufferRequest {
        BufferRequest { editor: Some(self.id.clone()), ..buffer(&self.workspace, path, content) }
    }

    fn opened(&self, path: &str, content: &str) -> BufferRequest {
        BufferRequest { is_opened: true, ..self.text(path, content) }
    }

    /// The next event, or the end.
    async fn any(&mut self) -> Answered<Change> {
        let event = tokio::time::timeout(TEST_TIMEOUT, self.events.next()).await.expect("an event");
        event.expect("it ends with an error")
    }

    /// The next that is not of the base, which may be told more often than it changes.
    async fn next(&mut self) -> Answered<Change> {
        loop {
            match self.any().await {
                Ok(Change::Base) => {}
                other => return other,
            }
        }
    }

    async fn branch(&mut self) -> BranchChange {
        match self.next().await.unwrap() {
            Change::Branch(it) => it,
            other => panic!("{other:?}"),
        }
    }
}

fn shown(path: &str, name: &str, text: &str) -> Change {
    Change::Buffer(path.to_owned(), name.to_owned(), ContentHash::of(text.as_bytes()).to_string())
}

fn closed(path: &str) -> Change {
    Change::Buffer(path.to_owned(), String::new(), String::new())
}

async fn the_text_of_the_editor_that_typed_last_is_shown(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n")]).await;
    let text = async || it.client.text(base(&it.workspace), "a.txt").await;
    let mut first = Editor::new(&it, &it.client, "First").await;
    let mut second = Editor::new(&it, &it.client, "").await;
    let set = async |request| it.client.set_buffer(request).await.unwrap().is_hidden;
    assert!(!set(second.opened("a.txt", "disk\n")).await, "the disk is shown");
    assert!(!set(first.opened("a.txt", "restored\n")).await);
    assert_eq!(second.next().await.unwrap(), shown("a.txt", "First", "restored\n"));
    assert!(set(second.opened("a.txt", "disk\n")).await);
    assert!(!set(second.text("a.txt", "second\n")).await);
    assert_eq!(text().await, "second\n");
    assert_eq!(first.next().await.unwrap(), shown("a.txt", "an editor", "second\n"));
    assert!(!set(first.text("a.txt", "first\n")).await);
    assert!(set(second.opened("a.txt", "second again\n")).await, "it keeps its rank");
    assert_eq!(text().await, "first\n");
    assert_eq!(second.next().await.unwrap(), shown("a.txt", "First", "first\n"));

    assert!(it.client.close_buffer(&it.workspace, "a.txt", Some(&first.id)).await.unwrap());
    assert_eq!(text().await, "second again\n");
    assert_eq!(first.next().await.unwrap(), shown("a.txt", "an editor", "second again\n"));
    assert!(!it.client.close_buffer(&it.workspace, "a.txt", Some(&first.id)).await.unwrap());
    assert!(!it.client.close_buffer(&it.workspace, "a.txt", None).await.unwrap(), "it is an editor's");
    it.client.set_buffer(buffer(&it.workspace, "a.txt", "of none\n")).await.unwrap();
    assert_eq!(text().await, "of none\n");
    assert_eq!(second.next().await.unwrap(), shown("a.txt", "an editor", "of none\n"));
    assert!(it.client.close_buffer(&it.workspace, "a.txt", None).await.unwrap());
    assert_eq!(text().await, "second again\n");
}

async fn what_an_editor_has_not_saved_goes_when_it_leaves(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n"), ("b.txt", "disk\n")]).await;
    let text = async |path| it.client.text(base(&it.workspace), path).await;
    let another = it.another_client().await;
    let mut stays = Editor::new(&it, &it.client, "Stays").await;
    let leaves = Editor::new(&it, &another, "Leaves").await;
    it.client.set_buffer(stays.text("a.txt", "stays\n")).await.unwrap();
    another.set_buffer(leaves.text("a.txt", "leaves\n")).await.unwrap();
    another.set_buffer(leaves.text("b.txt", "leaves\n")).await.unwrap();
    assert_eq!(stays.next().await.unwrap(), shown("a.txt", "Leaves", "leaves\n"));
    assert_eq!(stays.next().await.unwrap(), shown("b.txt", "Leaves", "leaves\n"));
    let late = leaves.text("b.txt", "late\n");
    // Dropped like a process that is killed: it closes nothing.
    drop((leaves, another));
    assert_eq!(stays.next().await.unwrap(), closed("b.txt"));
    assert_eq!([text("a.txt").await, text("b.txt").await], ["stays\n", "disk\n"]);
    assert_eq!(refusal(it.client.set_buffer(late).await).what(), (ErrorKind::NotFound, "EDITOR_GONE"));
    drop(stays);
    let mut last = Editor::new(&it, &it.client, "Last").await;
    while text("a.txt").await != "disk\n" {
        last.any().await.unwrap();
    }
}

async fn two_paths_of_one_file_have_one_text(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n")]).await;
    std::os::unix::fs::symlink("a.txt", it.path("link")).unwrap();
    until("the link is seen", async || it.client.read(base(&it.workspace), "link").await.is_ok()).await;
    let mut first = Editor::new(&it, &it.client, "First").await;
    let mut second = Editor::new(&it, &it.client, "Second").await;
    it.client.set_buffer(first.text("a.txt", "first\n")).await.unwrap();
    // Before its own text is shown, after which this is taken back if it waits still.
    assert_eq!(second.next().await.unwrap(), shown("a.txt", "First", "first\n"));
    it.client.set_buffer(second.text("link", "second\n")).await.unwrap();
    assert_eq!(it.client.text(base(&it.workspace), "a.txt").await, "second\n");
    assert_eq!(first.next().await.unwrap(), shown("a.txt", "Second", "second\n"));
    it.client.set_buffer(second.text("a.txt", "second\n")).await.unwrap();
    assert!(it.client.close_buffer(&it.workspace, "a.txt", Some(&second.id)).await.unwrap());
    assert_eq!(it.client.text(base(&it.workspace), "link").await, "second\n", "it is open by the other path");
    assert!(it.client.close_buffer(&it.workspace, "link", Some(&second.id)).await.unwrap());
    assert_eq!(it.client.text(base(&it.workspace), "link").await, "first\n");
}

async fn an_editor_that_is_not_there_is_refused(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n")]).await;
    let unknown = BufferRequest { editor: Some("none".to_owned()), ..buffer(&it.workspace, "a.txt", "") };
    let refused = refusal(it.client.set_buffer(unknown).await);
    assert_eq!(refused.what(), (ErrorKind::NotFound, "EDITOR_GONE"));
    assert_eq!(refused.facts["editor_id"], "none");
    let refused = refusal(it.client.close_buffer(&it.workspace, "a.txt", Some("none")).await);
    assert_eq!(refused.what(), (ErrorKind::NotFound, "EDITOR_GONE"));
    let refused = async |workspace: &str, name: &str| {
        let mut events = it.client.watch_workspace(workspace, name, false).await?;
        events.next().await.unwrap().map(drop)
    };
    let what = refusal(refused("none", "").await);
    assert_eq!(what.what(), (ErrorKind::NotFound, "NOT_FOUND"));
    let what = refusal(refused(&it.workspace, &"x".repeat(101)).await);
    assert_eq!(what.what(), (ErrorKind::Invalid, "LIMIT_EXCEEDED"));
    let what = refusal(refused(&it.workspace, "a\nb").await);
    assert_eq!(what.facts["field"], "client_name");
}

async fn what_becomes_of_branches_is_told(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n")]).await;
    let mut editor = Editor::new(&it, &it.client, "Editor").await;
    let client = it.another_client().await;
    let id = client.fork(base(&it.workspace), "").await.unwrap();
    client.edit(&id, vec![write("b.txt", "new\n")]).await.unwrap();
    client.undo_branch(undo(&id, 0)).await.unwrap();
    client.undo_branch(undo(&id, 1)).await.unwrap();
    client.edit(&id, vec![write("c.py", "import os\n")]).await.unwrap();
    client.fix_files(fix(&id, &["c.py"])).await.unwrap();
    client.edit(&id, vec![remove("c.py")]).await.unwrap();
    let dry = CommitRequest { dry_run: true, ..commit(&id) };
    client.commit_branch(dry).await.unwrap();
    client.commit(&id, &[]).await.unwrap();
    client.commit(&id, &[]).await.unwrap();
    client.discard_branch(&id).await.unwrap();
    let change = |kind, revision| BranchChange {
        kind,
        branch: id.clone(),
        revision,
        changes: Vec::new(),
        unsaved: Vec::new(),
        left: Vec::new(),
    };
    assert_eq!(editor.branch().await, change("forked", 0));
    for revision in 1..=6 {
        assert_eq!(editor.branch().await, change("edited", revision));
    }
    let changes = vec![("b.txt".to_owned(), ChangeKind::Added)];
    assert_eq!(editor.branch().await, BranchChange { changes, ..change("committed", 7) });
    assert_eq!(editor.branch().await, change("discarded", 7), "nothing was left to commit");
}

/// The branch keeps what the editor has not saved, and is as good as another after that.
async fn a_commit_leaves_texts_to_editors_that_take_them(way: Way) {
    let names = ["typed.txt", "hidden.txt", "other.txt"];
    let it = Fixture::new(way, &names.map(|it| (it, "1\n"))).await;
    let mut taking = Editor::watching(&it, &it.client, "Taking", true).await;
    let other = Editor::new(&it, &it.client, "Other").await;
    let set = async |request| _ = it.client.set_buffer(request).await.unwrap();
    set(taking.text("typed.txt", "typed\n")).await;
    set(taking.text("hidden.txt", "typed\n")).await;
    set(other.text("hidden.txt", "later\n")).await;
    let id = it.fork().await;
    it.client.edit(&id, names.iter().map(|it| write(it, "2\n")).collect()).await.unwrap();
    let dry = it.client.commit_branch(CommitRequest { dry_run: true, ..commit(&id) }).await.unwrap();
    let done = it.client.commit(&id, &[]).await.unwrap();
    assert_eq!((&dry.changes, &dry.unsaved, &dry.left), (&done.changes, &done.unsaved, &done.left));
    let changed: Vec<_> = done.changes.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(
        (changed, done.unsaved, &*done.left),
        (vec!["hidden.txt", "other.txt"], vec!["hidden.txt".to_owned()], &["typed.txt".to_owned()][..])
    );
    let told = loop {
        if let Change::Branch(it) = taking.next().await.unwrap()
            && it.kind == "committed"
        {
            break it;
        }
    };
    assert_eq!(told.left, done.left);
    let on_disk = |name: &str| std::fs::read_to_string(it.path(name)).unwrap();
    assert_eq!(names.map(on_disk), ["1\n", "2\n", "2\n"]);
    assert_eq!(it.client.text(branch(&id), "typed.txt").await, "2\n");
    assert_eq!(it.client.text(branch(&id), "other.txt").await, "2\n");
    // With the editor, what it has not saved goes, and the branch writes it.
    drop(taking);
    until("its text is gone", async || it.client.text(base(&it.workspace), "typed.txt").await == "1\n").await;
    assert_eq!(it.client.commit(&id, &[]).await.unwrap().left, [""; 0]);
    assert_eq!(on_disk("typed.txt"), "2\n");
}

async fn a_commit_of_an_open_file_is_told_with_what_is_not_saved(way: Way) {
    let names = ["opened.txt", "saved.txt", "typed.txt", "same.txt", "closed.txt"];
    let it = Fixture::new(way, &names.map(|it| (it, "1\n"))).await;
    let mut editor = Editor::new(&it, &it.client, "Editor").await;
    let hidden = Editor::new(&it, &it.client, "Hidden").await;
    let set = async |request| _ = it.client.set_buffer(request).await.unwrap();
    set(editor.opened("opened.txt", "1\n")).await;
    set(editor.text("saved.txt", "12\n")).await;
    it.write("saved.txt", "12\n");
    set(editor.opened("saved.txt", "12\n")).await;
    set(editor.text("typed.txt", "typed\n")).await;
    set(hidden.text("same.txt", "typed\n")).await;
    set(editor.text("same.txt", "2\n")).await;
    let id = it.fork().await;
    it.client.edit(&id, names.iter().map(|it| write(it, "2\n")).collect()).await.unwrap();
    let done = it.client.commit(&id, &[]).await.unwrap();
    let told = loop {
        if let Change::Branch(it) = editor.next().await.unwrap()
            && it.kind == "committed"
        {
            break it;
        }
    };
    assert_eq!((&told.changes, &told.unsaved), (&done.changes, &done.unsaved));
    assert_eq!(told.unsaved, ["typed.txt"]);
    for path in names {
        let text = if path == "typed.txt" { "typed\n" } else { "2\n" };
        assert_eq!(it.text(path), "2\n");
        assert_eq!(it.client.text(base(&it.workspace), path).await, text);
        assert_eq!(it.client.text(branch(&id), path).await, text, "the branch shows the base");
    }
    it.client.close_buffer(&it.workspace, "typed.txt", Some(&editor.id)).await.unwrap();
    assert_eq!(it.client.text(branch(&id), "typed.txt").await, "2\n");
    assert!(it.client.get(&id).await.unwrap().conflicts.is_empty());
}

async fn changes_on_the_disk_are_told(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n")]).await;
    let mut editor = Editor::new(&it, &it.client, "Editor").await;
    it.write("b.txt", "new\n");
    assert_eq!(editor.any().await.unwrap(), Change::Base);
    it.client.set_buffer(editor.text("a.txt", "typed\n")).await.unwrap();
    assert_eq!(editor.any().await.unwrap(), Change::Base);
}

async fn a_watch_ends_with_its_workspace(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk\n")]).await;
    let mut editor = Editor::new(&it, &it.client, "Editor").await;
    it.client.set_buffer(editor.text("a.txt", "typed\n")).await.unwrap();
    it.client.close_workspace(&it.workspace).await.unwrap();
    let end = loop {
        if let Err(refused) = editor.any().await {
            break refused;
        }
    };
    assert_eq!(end.what(), (ErrorKind::NotFound, "NOT_FOUND"));
    it.client.open(it.folder.path()).await;
    assert_eq!(it.client.text(base(&it.workspace), "a.txt").await, "disk\n");
    let late = it.client.set_buffer(editor.text("a.txt", "late\n")).await;
    assert_eq!(refusal(late).what(), (ErrorKind::NotFound, "EDITOR_GONE"));
}
