//! What the daemon refuses: the code, the reason, and details that name what was wrong.

use std::collections::HashMap;

use broker_proto::v1::{self as pb, file_edit::Edit};
use tests::daemon::{ask, base, branch, refusal, write};
use tonic::Code;

use super::Fixture;

#[tokio::test]
async fn what_is_not_there_is_named() {
    let it = Fixture::new(&[]).await;
    let near = format!("{}.nothing", it.workspace);
    for id in ["nothing", near.as_str()] {
        let (code, reason, details) = refusal(it.client.get(id).await);
        assert_eq!((code, reason.as_str()), (Code::NotFound, "NOT_FOUND"));
        let resource = details.resource_info().unwrap();
        assert_eq!((resource.resource_type.as_str(), resource.resource_name.as_str()), ("branch", id));
        assert_eq!(refusal(it.client.edit(id, vec![write("a", "")]).await).0, Code::NotFound);
        assert_eq!(refusal(it.client.commit(id, &[]).await).0, Code::NotFound);
        assert_eq!(refusal(it.client.discard(id).await).0, Code::NotFound);
        assert_eq!(refusal(it.client.check(ask(branch(id), &[])).await).0, Code::NotFound);
    }
    let (_, _, details) = refusal(it.client.fork(base("nothing"), "").await);
    assert_eq!(details.resource_info().unwrap().resource_type, "workspace");
    let close = pb::CloseWorkspaceRequest { workspace_id: "nothing".to_owned() };
    assert_eq!(refusal(it.client.workspaces().close_workspace(close).await).0, Code::NotFound);
    let rules = pb::ListRulesRequest { linter: "nothing".to_owned(), ..pb::ListRulesRequest::default() };
    let (_, _, details) = refusal(it.client.rules().list_rules(rules).await);
    assert_eq!(details.resource_info().unwrap().resource_type, "plugin");
    let (code, reason, details) = refusal(it.client.read(base(&it.workspace), "none.txt").await);
    assert_eq!((code, reason.as_str()), (Code::NotFound, "FILE_NOT_FOUND"));
    assert_eq!(details.resource_info().unwrap().resource_name, "none.txt");
}

#[tokio::test]
async fn a_field_that_makes_no_sense_is_named() {
    let it = Fixture::new(&[]).await;
    let id = it.fork().await;
    let field = |refused: (Code, String, tonic_types::ErrorDetails)| {
        let (code, reason, details) = refused;
        assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "INVALID_FIELD"));
        details.bad_request().unwrap().field_violations[0].field.clone()
    };
    assert_eq!(field(refusal(it.client.get("").await)), "branch_id");
    assert_eq!(field(refusal(it.client.fork(pb::Target::default(), "").await)), "target");
    assert_eq!(field(refusal(it.client.fork(base(&it.workspace), "a\nb").await)), "name");
    assert_eq!(field(refusal(it.client.read(branch(&id), "../x").await)), "path");
    assert_eq!(field(refusal(it.client.edit(&id, vec![]).await)), "edits");
    assert_eq!(field(refusal(it.client.edit(&id, vec![write("/etc/x", "")]).await)), "edits.write.path");
    assert_eq!(field(refusal(it.client.commit(&id, &["../b"]).await)), "force_paths");
    let mut request = ask(branch(&id), &[]);
    request.priority = 77;
    assert_eq!(field(refusal(it.client.check(request).await)), "priority");
    let mut request = ask(branch(&id), &[]);
    request.revision = Some(5);
    assert_eq!(field(refusal(it.client.check(request).await)), "revision");
    let root = pb::OpenWorkspaceRequest { root: "relative".to_owned(), environment: None };
    assert_eq!(field(refusal(it.client.workspaces().open_workspace(root).await)), "root");
    let watch = it.client.checks().watch(pb::WatchRequest::default()).await;
    assert_eq!(field(refusal(watch)), "check");
    let list = pb::ListBranchesRequest {
        workspace_id: it.workspace.clone(),
        page_token: "x".to_owned(),
        ..pb::ListBranchesRequest::default()
    };
    assert_eq!(field(refusal(it.client.branches().list_branches(list).await)), "page_token");
}

#[tokio::test]
async fn limits_are_told() {
    let it = Fixture::new(&[]).await;
    let id = it.fork().await;
    let expect = |(code, reason, details): (Code, String, tonic_types::ErrorDetails)| {
        assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "LIMIT_EXCEEDED"));
        assert_eq!(details.bad_request().unwrap().field_violations.len(), 1);
    };
    expect(refusal(it.client.fork(base(&it.workspace), &"x".repeat(201)).await));
    expect(refusal(it.client.edit(&id, vec![write("a", ""); 10_001]).await));
    let mut request = ask(branch(&id), &[]);
    request.paths = vec!["a".to_owned(); 100_001];
    expect(refusal(it.client.check(request).await));
    let mut request = ask(branch(&id), &[]);
    request.ignore = vec!["x".repeat(201)];
    expect(refusal(it.client.check(request).await));
    let labels: HashMap<_, _> = (0..65).map(|it| (it.to_string(), String::new())).collect();
    let parent = Some(base(&it.workspace));
    let fork = pb::ForkBranchRequest { parent, labels, ..pb::ForkBranchRequest::default() };
    expect(refusal(it.client.branches().fork_branch(fork).await));
}

/// The metadata of an error, sorted.
#[track_caller]
fn facts<T: std::fmt::Debug>(answer: Result<T, tonic::Status>, wanted: (&str, &[(&str, &str)])) {
    let (_, reason, details) = refusal(answer);
    let mut facts: Vec<_> = details.error_info().unwrap().metadata.iter().collect();
    facts.sort();
    let facts: Vec<_> = facts.into_iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!((reason.as_str(), facts.as_slice()), wanted);
}

#[tokio::test]
async fn the_facts_of_an_error_are_for_programs() {
    let it = Fixture::new(&[("a.txt", "1\n"), ("dir/b.txt", "1\n")]).await;
    let id = it.client.fork(base(&it.workspace), "taken").await.unwrap();
    let edit = |edits| it.client.edit(&id, edits);
    it.client.edit(&id, vec![write("new.txt", "")]).await.unwrap();

    let undo = pb::UndoBranchRequest {
        branch_id: id.clone(),
        to_revision: 0,
        if_revision: Some(7),
        step_back: false,
    };
    let stale = it.client.branches().undo_branch(undo).await;
    facts(stale, ("STALE_REVISION", &[("actual_revision", "1"), ("expected_revision", "7")]));
    facts(it.client.fork(base(&it.workspace), "taken").await, ("NAME_TAKEN", &[("name", "taken")]));
    let unknown = [("resource_name", "x"), ("resource_type", "branch")];
    facts(it.client.get("x").await, ("NOT_FOUND", &unknown));
    let long = it.client.fork(base(&it.workspace), &"x".repeat(201)).await;
    let limit = [("actual", "201"), ("limit", "200"), ("what", "bytes of a branch's name")];
    facts(long, ("LIMIT_EXCEEDED", &limit));
    facts(it.client.read(branch(&id), "x").await, ("FILE_NOT_FOUND", &[("path", "x")]));

    let remove = |path: &str| Edit::Remove(pb::RemovePath { path: path.to_owned() });
    let second = edit(vec![write("x", ""), remove("y")]).await;
    facts(second, ("FILE_NOT_FOUND", &[("edit_index", "1"), ("path", "y")]));
    let second = edit(vec![write("x", ""), write("../y", "")]).await;
    facts(second, ("INVALID_FIELD", &[("edit_index", "1"), ("field", "edits.write.path")]));
    let wrong = edit(vec![write("dir", "")]).await;
    facts(wrong, ("EDIT_REFUSED", &[("edit_index", "0"), ("path", "dir")]));
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-2\n+3\n".to_owned();
    let patch = edit(vec![Edit::Patch(pb::ApplyPatch { patch })]).await;
    let place =
        [("edit_index", "0"), ("file_line", "1"), ("hunk", "1"), ("patch_line", "3"), ("path", "a.txt")];
    facts(patch, ("PATCH_DOES_NOT_APPLY", &place));

    let hash = overlay::ContentHash::of(b"1\n").to_string();
    let other = overlay::ContentHash::of(b"2\n").to_string();
    let expecting = |hash: &str| {
        let if_content_hash = hash.to_owned();
        Edit::Write(pb::WriteFile { path: "a.txt".to_owned(), if_content_hash, ..pb::WriteFile::default() })
    };
    for wanted in [other.as_str(), "missing"] {
        let both = [
            ("actual_content_hash", hash.as_str()),
            ("edit_index", "0"),
            ("expected_content_hash", wanted),
            ("path", "a.txt"),
        ];
        facts(edit(vec![expecting(wanted)]).await, ("OTHER_CONTENT", &both));
    }
    edit(vec![write("a.txt", "branch\n")]).await.unwrap();
    it.write("a.txt", "disk\n");
    facts(it.client.commit(&id, &[]).await, ("CONFLICT", &[("conflicts", "1")]));
}

#[tokio::test]
async fn what_is_in_the_way_is_told() {
    let it = Fixture::new(&[("a.txt", "1\n"), ("d/b.txt", "1\n")]).await;
    let id = it.client.fork(base(&it.workspace), "taken").await.unwrap();
    let (code, reason, _) = refusal(it.client.fork(base(&it.workspace), "taken").await);
    assert_eq!((code, reason.as_str()), (Code::AlreadyExists, "NAME_TAKEN"));
    let (code, reason, _) = refusal(it.client.read(branch(&id), "d").await);
    assert_eq!((code, reason.as_str()), (Code::FailedPrecondition, "WRONG_KIND_OF_FILE"));
    let rename = |from: &str, to: &str| {
        vec![Edit::Rename(pb::RenamePath { from_path: from.to_owned(), to_path: to.to_owned() })]
    };
    let (code, reason, _) = refusal(it.client.edit(&id, rename("none", "x")).await);
    assert_eq!((code, reason.as_str()), (Code::NotFound, "FILE_NOT_FOUND"));
    let directory = Edit::CreateDirectory(pb::CreateDirectory { path: "a.txt".to_owned() });
    let (code, reason, _) = refusal(it.client.edit(&id, vec![directory]).await);
    assert_eq!((code, reason.as_str()), (Code::AlreadyExists, "FILE_EXISTS"));
    let (code, _, _) = refusal(it.client.edit(&id, vec![write("a.txt/x", "")]).await);
    assert_eq!(code, Code::FailedPrecondition);
    let mut request = ask(branch(&id), &["a.txt"]);
    request.select = vec!["nonsense".to_owned()];
    let (code, reason, _) = refusal(it.client.check(request).await);
    assert_eq!((code, reason.as_str()), (Code::FailedPrecondition, "BAD_CONFIGURATION"));
}

#[tokio::test]
async fn a_workspace_that_is_closed_is_gone_and_comes_back() {
    let it = Fixture::new(&[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n")]).await.unwrap();
    let all = async || {
        it.client
            .workspaces()
            .list_workspaces(pb::ListWorkspacesRequest {})
            .await
            .unwrap()
            .into_inner()
            .workspaces
    };
    let listed = all().await;
    assert_eq!((listed.len(), listed[0].branches), (1, 1));
    let close = pb::CloseWorkspaceRequest { workspace_id: it.workspace.clone() };
    it.client.workspaces().close_workspace(close).await.unwrap();
    assert_eq!(all().await, []);
    assert_eq!(refusal(it.client.get(&id).await).0, Code::NotFound);
    assert_eq!(it.client.open(it.folder.path()).await, it.workspace);
    assert_eq!(it.client.read(branch(&id), "a.txt").await.unwrap().1, b"2\n");
}

#[tokio::test]
async fn plugins_and_rules_are_listed() {
    let it = Fixture::new(&[]).await;
    let plugins =
        it.client.rules().list_plugins(pb::ListPluginsRequest::default()).await.unwrap().into_inner().plugins;
    let mut names: Vec<_> = plugins.into_iter().map(|it| it.linter.unwrap().name).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "css",
            "dockerfile",
            "javascript",
            "json",
            "lua",
            "markdown",
            "pattern",
            "python",
            "shell",
            "sql",
            "syntax",
            "text",
            "toml",
            "yaml"
        ]
    );
    let request = pb::ListRulesRequest { linter: "python".to_owned(), ..pb::ListRulesRequest::default() };
    let mut client = it.client.rules();
    let first = pb::ListRulesRequest { page_size: 500, ..request.clone() };
    let first = client.list_rules(first).await.unwrap().into_inner();
    let rest =
        pb::ListRulesRequest { page_token: first.next_page_token, page_size: 10_000, ..request.clone() };
    let rest = client.list_rules(rest).await.unwrap().into_inner();
    let all =
        client.list_rules(pb::ListRulesRequest { page_size: 10_000, ..request }).await.unwrap().into_inner();
    assert_eq!([first.rules, rest.rules].concat(), all.rules);
    assert!(all.rules.iter().any(|it| it.code == "F401" && it.default_on));
    let list = |linter: &str| {
        let linter = linter.to_owned();
        let request = pb::ListRulesRequest { linter, page_size: 10_000, ..pb::ListRulesRequest::default() };
        let mut client = client.clone();
        async move { client.list_rules(request).await.unwrap().into_inner().rules }
    };
    let own = list("broker").await;
    let codes: Vec<_> = own.iter().map(|it| it.code.as_str()).collect();
    assert!(codes.contains(&"unused-suppression") && codes.contains(&"invalid-suppression"), "{codes:?}");
    assert_eq!(list("").await[..own.len()], own);
}

#[tokio::test]
async fn what_a_branch_adds_is_listed_for_the_branch() {
    let it = Fixture::new(&[]).await;
    let id = it.fork().await;
    let rule = "id: no-print\nlanguage: python\nrule: { pattern: print($A) }\nmessage: no\n";
    let declared = "[plugins.mine]\nsource = 'mine.wasm'\n";
    let edits = vec![write(".broker/rules/no-print.yml", rule), write("broker.toml", declared)];
    it.client.edit(&id, edits).await.unwrap();
    let codes = |target| {
        let linter = "pattern".to_owned();
        let request = pb::ListRulesRequest { linter, target, ..pb::ListRulesRequest::default() };
        let mut client = it.client.rules();
        async move {
            let rules = client.list_rules(request).await.unwrap().into_inner().rules;
            rules.into_iter().map(|it| it.code).collect::<Vec<_>>()
        }
    };
    assert!(codes(Some(branch(&id))).await.contains(&"no-print".to_owned()));
    assert!(!codes(None).await.contains(&"no-print".to_owned()));
    let unusable = |target| {
        let mut client = it.client.rules();
        async move {
            let listed = client.list_plugins(pb::ListPluginsRequest { target }).await.unwrap().into_inner();
            listed.unusable.into_iter().map(|it| (it.name, it.reason)).collect::<Vec<_>>()
        }
    };
    let reason =
        "plugin `mine` from mine.wasm is not in broker.lock; `broker plugin update mine` puts it there";
    assert_eq!(unusable(Some(branch(&id))).await, [("mine".to_owned(), reason.to_owned())]);
    assert_eq!(unusable(None).await, []);
}

/// What a person reads: what it is, and what helps.
#[tokio::test]
async fn errors_say_what_it_is() {
    let it = Fixture::new(&[("d/a.txt", "1\n")]).await;
    let id = it.fork().await;
    let words = |it: tonic::Status| it.message().to_owned();
    let read = async |path: &str| words(it.client.read(branch(&id), path).await.unwrap_err());
    assert_eq!(read("none.txt").await, "`none.txt`: no such file or directory");
    assert_eq!(read("d").await, "`d`: it is a directory");
    assert!(std::process::Command::new("mkfifo").arg(it.path("pipe")).status().unwrap().success());
    assert_eq!(read("pipe").await, "`pipe`: it is not a regular file");
    let nul = words(it.client.get("a\0b").await.unwrap_err());
    assert_eq!(nul, "there is no branch `a\\u{0}b`");
}

#[tokio::test]
async fn a_workspace_that_is_another_says_so() {
    let it = Fixture::new(&[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    let root = std::fs::canonicalize(it.path(".")).unwrap();
    let away = root.with_extension("away");
    std::fs::rename(&root, &away).unwrap();
    let gone = async || {
        let (code, reason, _) = refusal(it.client.read(branch(&id), "a.txt").await);
        assert_eq!((code, reason.as_str()), (Code::NotFound, "WORKSPACE_GONE"));
        let (_, reason, _) = refusal(it.client.edit(&id, vec![write("a.txt", "2\n")]).await);
        assert_eq!(reason, "WORKSPACE_GONE");
        it.client.read(base(&it.workspace), "a.txt").await.unwrap_err().message().to_owned()
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
    assert_eq!(it.client.read(branch(&id), "a.txt").await.unwrap().1, b"2\n");
    std::fs::remove_dir_all(away).unwrap();
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let it = Fixture::new(&[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    let refused = it.client.edit(&id, vec![write("b.txt", vec![b'x'; 73 << 20])]).await.unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange);
    std::fs::File::create(it.path("big.bin")).unwrap().set_len(3 << 30).unwrap();
    let (code, reason, details) = refusal(it.client.edit(&id, vec![write("big.bin", "x")]).await);
    assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "LIMIT_EXCEEDED"));
    assert_eq!(details.error_info().unwrap().metadata["limit"], (256 << 20).to_string());
    let (_, reason, details) = refusal(it.client.read(branch(&id), "big.bin").await);
    assert_eq!(reason, "LIMIT_EXCEEDED");
    assert_eq!(details.error_info().unwrap().metadata["actual"], (3_u64 << 30).to_string());
    let piece = pb::TextEdit { span: Some(pb::Span { start: 0, end: 0 }), replacement: "x".to_owned() };
    let text = pb::EditText { path: "a.txt".to_owned(), edits: vec![piece; 100_001], ..Default::default() };
    let (_, reason, details) = refusal(it.client.edit(&id, vec![Edit::Text(text)]).await);
    assert_eq!(reason, "LIMIT_EXCEEDED");
    assert_eq!(details.error_info().unwrap().metadata["actual"], "100001");
    assert_eq!(it.client.get(&id).await.unwrap().branch.unwrap().revision, 0);
}
