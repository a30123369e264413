//! Refusals of the daemon: the code, the reason, and details that name the fault.

use std::path::PathBuf;

use overlay::{ContentHash, Revision, TextEdit};
use tests::api::{
    Answered, Refusal, RefusalExt as _, ask, base, branch, fork, next, patch, refusal, remove, rename, undo,
    write,
};
use workspaces::{ErrorKind, Expected, FileEdit, ForkRequest, Side, TargetId, UndoRequest};

use super::{Fixture, Way};

both! {
    what_is_not_there_is_named,
    a_field_that_makes_no_sense_is_named,
    limits_are_told,
    the_facts_of_an_error_are_for_programs,
    what_is_in_the_way_is_told,
    a_workspace_that_is_closed_is_gone_and_comes_back,
    plugins_and_rules_are_listed,
    what_a_branch_adds_is_listed_for_the_branch,
    errors_say_what_it_is,
    a_workspace_that_is_another_says_so,
    what_is_too_large_is_refused,
}

async fn what_is_not_there_is_named(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let near = format!("{}.nothing", it.workspace);
    for id in ["nothing", near.as_str()] {
        let refused = refusal(it.client.get(id).await);
        assert_eq!(refused.what(), (ErrorKind::NotFound, "NOT_FOUND"));
        assert_eq!([&refused.facts["resource_type"], &refused.facts["resource_name"]], ["branch", id]);
        assert_eq!(refusal(it.client.edit(id, vec![write("a", "")]).await).kind, ErrorKind::NotFound);
        assert_eq!(refusal(it.client.commit(id, &[]).await).kind, ErrorKind::NotFound);
        assert_eq!(refusal(it.client.discard_branch(id).await).kind, ErrorKind::NotFound);
        assert_eq!(refusal(it.client.check(ask(branch(id), &[])).await).kind, ErrorKind::NotFound);
    }
    let missing = |refused: Refusal| refused.facts["resource_type"].clone();
    assert_eq!(missing(refusal(it.client.fork(base("nothing"), "").await)), "workspace");
    assert_eq!(missing(refusal(it.client.close_workspace("nothing").await)), "workspace");
    assert_eq!(missing(refusal(it.client.list_rules(None, "nothing", &next(0, "")).await)), "plugin");
    assert_eq!(missing(refusal(it.client.server_logs("nothing").await)), "server");
    let refused = refusal(it.client.read(base(&it.workspace), "none.txt").await);
    assert_eq!(refused.what(), (ErrorKind::NotFound, "FILE_NOT_FOUND"));
    assert_eq!(refused.facts["path"], "none.txt");
}

async fn a_field_that_makes_no_sense_is_named(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let field = |refused: Refusal| {
        assert_eq!(refused.what(), (ErrorKind::Invalid, "INVALID_FIELD"));
        refused.facts["field"].clone()
    };
    assert_eq!(field(refusal(it.client.get("").await)), "branch_id");
    assert_eq!(field(refusal(it.client.fork(base(&it.workspace), "a\nb").await)), "name");
    assert_eq!(field(refusal(it.client.read(branch(&id), "../x").await)), "path");
    assert_eq!(field(refusal(it.client.edit(&id, vec![]).await)), "edits");
    assert_eq!(field(refusal(it.client.edit(&id, vec![write("/etc/x", "")]).await)), "edits.write.path");
    assert_eq!(field(refusal(it.client.commit(&id, &["../b"]).await)), "force_paths");
    let mut request = ask(branch(&id), &[]);
    request.revision = Some(Revision(5));
    assert_eq!(field(refusal(it.client.check(request.clone()).await)), "revision");
    assert_eq!(field(refusal(it.client.watch(request).await)), "check.revision");
    assert_eq!(field(refusal(it.client.open_workspace(PathBuf::from("relative")).await)), "root");
    assert_eq!(field(refusal(it.client.end_servers(PathBuf::from("relative")).await)), "root");
    assert_eq!(field(refusal(it.client.list_branches(&it.workspace, &next(0, "x")).await)), "page_token");
    let of_base = it.client.read_file(&base(&it.workspace), "a", Side::Revision(Revision(0)), None).await;
    assert_eq!(field(refusal(of_base)), "revision");
}

async fn limits_are_told(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let expect = |refused: Refusal| {
        assert_eq!(refused.what(), (ErrorKind::Invalid, "LIMIT_EXCEEDED"));
        assert!(["what", "limit", "actual"].iter().all(|it| refused.facts.contains_key(*it)), "{refused:?}");
    };
    expect(refusal(it.client.fork(base(&it.workspace), &"x".repeat(201)).await));
    expect(refusal(it.client.edit(&id, vec![write("a", ""); 10_001]).await));
    let mut request = ask(branch(&id), &[]);
    request.paths = vec!["a".to_owned(); 100_001];
    expect(refusal(it.client.check(request).await));
    let mut request = ask(branch(&id), &[]);
    request.ignore = vec!["x".repeat(201)];
    expect(refusal(it.client.check(request).await));
    let labels = (0..65).map(|it| (it.to_string(), String::new())).collect();
    expect(refusal(it.client.fork_branch(ForkRequest { labels, ..fork(base(&it.workspace)) }).await));
}

/// The reason of an error, and its facts by name.
#[track_caller]
fn facts<T>(answer: Answered<T>, wanted: (&str, &[(&str, &str)])) {
    let refused = refusal(answer);
    let facts: Vec<_> = refused.facts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!((refused.reason.as_str(), facts.as_slice()), wanted);
}

async fn the_facts_of_an_error_are_for_programs(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n"), ("dir/b.txt", "1\n")]).await;
    let id = it.client.fork(base(&it.workspace), "taken").await.unwrap();
    let edit = |edits| it.client.edit(&id, edits);
    it.client.edit(&id, vec![write("new.txt", "")]).await.unwrap();

    let stale = UndoRequest { if_revision: Some(Revision(7)), ..undo(&id, 0) };
    let stale = it.client.undo_branch(stale).await;
    facts(stale, ("STALE_REVISION", &[("actual_revision", "1"), ("expected_revision", "7")]));
    facts(it.client.fork(base(&it.workspace), "taken").await, ("NAME_TAKEN", &[("name", "taken")]));
    let unknown = [("resource_name", "x"), ("resource_type", "branch")];
    facts(it.client.get("x").await, ("NOT_FOUND", &unknown));
    let long = it.client.fork(base(&it.workspace), &"x".repeat(201)).await;
    let limit = [("actual", "201"), ("limit", "200"), ("what", "bytes of a branch's name")];
    facts(long, ("LIMIT_EXCEEDED", &limit));
    facts(it.client.read(branch(&id), "x").await, ("FILE_NOT_FOUND", &[("path", "x")]));

    let second = edit(vec![write("x", ""), remove("y")]).await;
    facts(second, ("FILE_NOT_FOUND", &[("edit_index", "1"), ("path", "y")]));
    let second = edit(vec![write("x", ""), write("../y", "")]).await;
    facts(second, ("INVALID_FIELD", &[("edit_index", "1"), ("field", "edits.write.path")]));
    let wrong = edit(vec![write("dir", "")]).await;
    facts(wrong, ("EDIT_REFUSED", &[("edit_index", "0"), ("path", "dir")]));
    let wrong = edit(vec![patch("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-2\n+3\n")]).await;
    let place =
        [("edit_index", "0"), ("file_line", "1"), ("hunk", "1"), ("patch_line", "3"), ("path", "a.txt")];
    facts(wrong, ("PATCH_DOES_NOT_APPLY", &place));

    let hash = ContentHash::of(b"1\n").to_string();
    let other = ContentHash::of(b"2\n").to_string();
    for (wanted, expected) in
        [(other.as_str(), Expected::Content(other.clone())), ("missing", Expected::Missing)]
    {
        let both = [
            ("actual_content_hash", hash.as_str()),
            ("edit_index", "0"),
            ("expected_content_hash", wanted),
            ("path", "a.txt"),
        ];
        let (path, content) = ("a.txt".to_owned(), Default::default());
        let write = FileEdit::Write { path, content, expected };
        facts(edit(vec![write]).await, ("OTHER_CONTENT", &both));
    }
    edit(vec![write("a.txt", "branch\n")]).await.unwrap();
    it.write("a.txt", "disk\n");
    facts(it.client.commit(&id, &[]).await, ("CONFLICT", &[("conflicts", "1")]));
}

async fn what_is_in_the_way_is_told(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n"), ("d/b.txt", "1\n")]).await;
    let id = it.client.fork(base(&it.workspace), "taken").await.unwrap();
    assert_eq!(
        refusal(it.client.fork(base(&it.workspace), "taken").await).what(),
        (ErrorKind::AlreadyExists, "NAME_TAKEN")
    );
    assert_eq!(
        refusal(it.client.read(branch(&id), "d").await).what(),
        (ErrorKind::Refused, "WRONG_KIND_OF_FILE")
    );
    assert_eq!(
        refusal(it.client.edit(&id, vec![rename("none", "x")]).await).what(),
        (ErrorKind::NotFound, "FILE_NOT_FOUND")
    );
    let directory = FileEdit::CreateDirectory { path: "a.txt".to_owned() };
    assert_eq!(
        refusal(it.client.edit(&id, vec![directory]).await).what(),
        (ErrorKind::AlreadyExists, "FILE_EXISTS")
    );
    let refused = refusal(it.client.edit(&id, vec![write("a.txt/x", "")]).await);
    assert_eq!(refused.kind, ErrorKind::Refused);
    let mut request = ask(branch(&id), &["a.txt"]);
    request.select = vec!["nonsense".to_owned()];
    assert_eq!(refusal(it.client.check(request).await).what(), (ErrorKind::Refused, "BAD_CONFIGURATION"));
}

async fn a_workspace_that_is_closed_is_gone_and_comes_back(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n")]).await.unwrap();
    let all = async || it.client.list_workspaces().await.unwrap();
    let listed = all().await;
    assert_eq!((listed.len(), listed[0].branches), (1, 1));
    it.client.close_workspace(&it.workspace).await.unwrap();
    assert!(all().await.is_empty());
    assert_eq!(refusal(it.client.get(&id).await).kind, ErrorKind::NotFound);
    assert_eq!(it.client.open(it.folder.path()).await, it.workspace);
    assert_eq!(it.client.text(branch(&id), "a.txt").await, "2\n");
}

async fn plugins_and_rules_are_listed(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let mut names = it.client.list_plugins(None).await.unwrap().usable;
    names.sort();
    assert_eq!(names, tests::plugins());
    let rules = async |linter: &str, size, token: &str| {
        it.client.list_rules(None, linter, &next(size, token)).await.unwrap()
    };
    let first = rules("python", 500, "").await;
    let rest = rules("python", 10_000, &first.next_token).await;
    let all = rules("python", 10_000, "").await.items;
    assert_eq!([first.items, rest.items].concat(), all);
    assert!(all.iter().any(|it| it.code == "F401" && it.default));
    let list = async |linter: &str| rules(linter, 10_000, "").await.items;
    let own = list("broker").await;
    let codes: Vec<_> = own.iter().map(|it| it.code.as_str()).collect();
    assert!(codes.contains(&"unused-suppression") && codes.contains(&"invalid-suppression"), "{codes:?}");
    assert_eq!(list("").await[..own.len()], own);
}

async fn what_a_branch_adds_is_listed_for_the_branch(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let rule = "id: no-print\nlanguage: python\nrule: { pattern: print($A) }\nmessage: no\n";
    let declared = "[plugins.mine]\nsource = 'mine.wasm'\n";
    let edits = vec![write(".broker/rules/no-print.yml", rule), write("broker.toml", declared)];
    it.client.edit(&id, edits).await.unwrap();
    let codes = async |target: Option<&TargetId>| {
        let rules = it.client.list_rules(target, "pattern", &next(0, "")).await.unwrap().items;
        rules.into_iter().map(|it| it.code).collect::<Vec<_>>()
    };
    let branch = branch(&id);
    assert!(codes(Some(&branch)).await.contains(&"no-print".to_owned()));
    assert!(!codes(None).await.contains(&"no-print".to_owned()));
    let unusable = async |target: Option<&TargetId>| it.client.list_plugins(target).await.unwrap().unusable;
    let reason =
        "plugin `mine` from mine.wasm is not in broker.lock; `broker plugin update mine` puts it there";
    assert_eq!(unusable(Some(&branch)).await, [("mine".to_owned(), reason.to_owned())]);
    assert_eq!(unusable(None).await, [] as [(String, String); 0]);
}

/// Messages for people: the fault, and a remedy.
async fn errors_say_what_it_is(way: Way) {
    let it = Fixture::new(way, &[("d/a.txt", "1\n")]).await;
    let id = it.fork().await;
    let read = async |path: &str| refusal(it.client.read(branch(&id), path).await).sentence;
    assert_eq!(read("none.txt").await, "`none.txt`: no such file or directory");
    assert_eq!(read("d").await, "`d`: it is a directory");
    assert!(std::process::Command::new("mkfifo").arg(it.path("pipe")).status().unwrap().success());
    assert_eq!(read("pipe").await, "`pipe`: it is not a regular file");
    let nul = refusal(it.client.get("a\0b").await).sentence;
    assert_eq!(nul, "there is no branch `a\\u{0}b`");
}

async fn a_workspace_that_is_another_says_so(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    let root = std::fs::canonicalize(it.path(".")).unwrap();
    let away = root.with_extension("away");
    std::fs::rename(&root, &away).unwrap();
    let gone = async || {
        assert_eq!(
            refusal(it.client.read(branch(&id), "a.txt").await).what(),
            (ErrorKind::NotFound, "WORKSPACE_GONE")
        );
        let refused = refusal(it.client.edit(&id, vec![write("a.txt", "2\n")]).await);
        assert_eq!(refused.reason, "WORKSPACE_GONE");
        refusal(it.client.read(base(&it.workspace), "a.txt").await).sentence
    };
    let at = root.display();
    let moved = "was moved or deleted since it was opened; call OpenWorkspace again when it is there";
    assert_eq!(gone().await, format!("the workspace {at} {moved}"));
    std::fs::create_dir(&root).unwrap();
    let replaced = "was replaced by another folder since it was opened; call OpenWorkspace again";
    assert_eq!(gone().await, format!("the workspace {at} {replaced}"));
    // The very same folder is there again.
    std::fs::remove_dir(&root).unwrap();
    std::fs::rename(&away, &root).unwrap();
    it.client.edit(&id, vec![write("a.txt", "2\n")]).await.unwrap();
    // Another one, after it was opened anew.
    std::fs::rename(&root, &away).unwrap();
    std::fs::create_dir(&root).unwrap();
    assert_eq!(it.client.open(&root).await, it.workspace);
    assert_eq!(it.client.text(branch(&id), "a.txt").await, "2\n");
    std::fs::remove_dir_all(away).unwrap();
}

async fn what_is_too_large_is_refused(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    std::fs::File::create(it.path("big.bin")).unwrap().set_len(3 << 30).unwrap();
    let refused = refusal(it.client.edit(&id, vec![write("big.bin", "x")]).await);
    assert_eq!(refused.what(), (ErrorKind::Invalid, "LIMIT_EXCEEDED"));
    assert_eq!(refused.facts["limit"], (256 << 20).to_string());
    let refused = refusal(it.client.read(branch(&id), "big.bin").await);
    assert_eq!(refused.reason, "LIMIT_EXCEEDED");
    assert_eq!(refused.facts["actual"], (3_u64 << 30).to_string());
    let pieces = vec![TextEdit { start: 0, end: 0, replacement: "x".to_owned() }; 100_001];
    let text = FileEdit::Text { path: "a.txt".to_owned(), edits: pieces, if_content_hash: None };
    let refused = refusal(it.client.edit(&id, vec![text]).await);
    assert_eq!((refused.reason.as_str(), refused.facts["actual"].as_str()), ("LIMIT_EXCEEDED", "100001"));
    assert_eq!(it.client.get(&id).await.unwrap().info.revision.0, 0);
}
