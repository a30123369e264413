//! Tournaments.

use std::{sync::Arc, time::Duration};

use tests::{
    api::{Api, Refusal, base, branch, patch, write},
    daemon::until,
    guest,
};
use workspaces::{
    Candidate, CandidateResult, Criterion, Discard, PageRequest, TestCommand, TestEnd, Tournament,
    TournamentRequest,
};

use super::{Fixture, Way};

both! {
    candidates_are_ranked_by_findings_test_and_size,
    equal_candidates_share_a_rank,
    an_incomplete_candidate_beats_no_complete_one,
    a_refused_edit_and_a_conflict_rank_last,
    losers_are_discarded_on_request,
    a_test_that_does_not_end_is_ended,
    nothing_is_left_if_the_client_leaves,
    an_edited_branch_stays_if_the_client_leaves,
    the_base_and_the_candidates_have_hashes_and_patches,
    what_makes_no_sense_is_refused,
}

fn edited(name: &str, path: &str, text: &str) -> Candidate {
    Candidate::of_edits(name, vec![write(path, text)])
}

fn request(it: &Fixture, candidates: Vec<Candidate>) -> TournamentRequest {
    TournamentRequest::of(base(&it.workspace), candidates)
}

fn shell(script: &str) -> Option<TestCommand> {
    let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    Some(TestCommand { command, time: None })
}

async fn tournament(it: &Fixture, request: TournamentRequest) -> Tournament {
    it.client.tournament(request).await.unwrap()
}

/// `rank name criterion` of each, as ranked.
fn ranked(it: &Tournament) -> Vec<String> {
    let line = |place: &workspaces::Ranked| {
        let decided_by = place.decided_by.map(|it| format!(" {it:?}")).unwrap_or_default();
        format!("{} {}{decided_by}", place.rank, it.candidates[place.candidate].name)
    };
    it.ranking.iter().map(line).collect()
}

fn named<'a>(it: &'a Tournament, name: &str) -> &'a CandidateResult {
    it.candidates.iter().find(|it| it.name == name).unwrap()
}

async fn branches(it: &Fixture) -> Vec<String> {
    let page = it.client.list_branches(&it.workspace, &PageRequest::default()).await.unwrap();
    page.items.into_iter().map(|it| it.name).collect()
}

async fn candidates_are_ranked_by_findings_test_and_size(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n\nX = 1\n")]).await;
    let candidates = vec![
        edited("fails", "a.py", "X = 2\n"),
        edited("undefined", "a.py", "X = 3\nprint(y)\n"),
        edited("long", "a.py", "X = 3\nY = 1\nZ = 1\n"),
        edited("short", "a.py", "X = 3\n"),
        Candidate::of_edits("nothing", Vec::new()),
    ];
    let test = shell("grep -q 3 a.py || { echo no 3; exit 4; }");
    let told = tournament(&it, TournamentRequest { test, ..request(&it, candidates) }).await;
    let expected = [
        "1 short",
        "2 long FewestChangedLines",
        "3 undefined FewestNewErrors",
        "4 fails TestsPass",
        "5 nothing MostFixed",
    ];
    assert_eq!(ranked(&told), expected, "{told:?}");
    let undefined = named(&told, "undefined");
    let new: Vec<_> = undefined.findings.new_listed.iter().map(|it| (&*it.rule, it.at.line)).collect();
    assert_eq!((new, undefined.findings.new_errors), (vec![("python/F821", 2)], 1));
    let fixed: Vec<_> = undefined.findings.fixed_listed.iter().map(|it| &*it.rule).collect();
    assert_eq!((fixed, undefined.findings.fixed), (vec!["python/F401"], 1));
    assert_eq!((undefined.changed.added, undefined.changed.removed), (2, 3));
    let failed = named(&told, "fails").test.as_ref().unwrap();
    assert_eq!((&failed.end, &*failed.output), (&TestEnd::Exited(4), "no 3\n"));
    assert!(told.is_complete() && told.linters.iter().any(|it| it.name == "python"), "{told:?}");
    assert_eq!(told.order, Criterion::ALL);
    assert_eq!(it.text("a.py"), "import os\n\nX = 1\n", "the disk stays as it is");
    assert_eq!(branches(&it).await, ["fails", "long", "nothing", "short", "undefined"]);
}

async fn equal_candidates_share_a_rank(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n")]).await;
    let candidates = vec![
        edited("one", "a.txt", "1\n"),
        edited("two", "a.txt", "2\n"),
        edited("three", "a.txt", "1\n2\n"),
    ];
    let told = tournament(&it, request(&it, candidates)).await;
    assert_eq!(ranked(&told), ["1 one", "1 two", "3 three FewestChangedLines"]);
    assert_eq!(told.winners().map(|it| &*it.name).collect::<Vec<_>>(), ["one", "two"]);
    let candidates = vec![edited("a", "a.txt", "1\n2\n"), edited("b", "a.txt", "1\n")];
    let order = vec![Criterion::MostFixed];
    let told = tournament(&it, TournamentRequest { order, ..request(&it, candidates) }).await;
    assert_eq!(ranked(&told), ["1 a", "1 b"]);
}

async fn an_incomplete_candidate_beats_no_complete_one(way: Way) {
    let files = [("a.py", "X = 1\n"), ("b.fault", "nothing")];
    let it = Fixture::with(way, &[guest("guest_misbehaves")], &files).await;
    let candidates = vec![edited("unknown", "b.fault", "panic"), edited("error", "a.py", "print(x)\n")];
    let told = tournament(&it, request(&it, candidates)).await;
    assert_eq!(ranked(&told), ["1 error", "2 unknown FewestNewErrors"], "{told:?}");
    let unknown = named(&told, "unknown");
    assert!(!unknown.not_computed.is_empty() && !told.is_complete(), "{told:?}");
    assert_eq!((unknown.findings.new_errors, named(&told, "error").findings.new_errors), (0, 1));
}

async fn a_refused_edit_and_a_conflict_rank_last(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n2\n3\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "1\nbranch\n3\n")]).await.unwrap();
    it.write("a.txt", "1\ndisk\n3\n");
    let text = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-gone\n+new\n";
    let candidates = vec![
        Candidate::of_edits("refused", vec![patch(text)]),
        Candidate::of_branch("conflict", &*id),
        edited("error", "a.py", "print(x)\n"),
    ];
    let told = tournament(&it, request(&it, candidates)).await;
    assert_eq!(ranked(&told), ["1 error", "2 conflict Applies", "3 refused Applies"], "{told:?}");
    let (refused, conflict) = (named(&told, "refused"), named(&told, "conflict"));
    assert!(refused.refused.as_ref().unwrap().contains("a.txt"), "{refused:?}");
    assert_eq!((refused.branch.as_ref(), refused.changed.patch.as_deref()), (None, Some(text)));
    assert!(conflict.conflict.as_ref().unwrap().contains("both sides changed"), "{conflict:?}");
    assert!(told.is_complete());
    assert_eq!(branches(&it).await.len(), 2, "the branch of the refused edit is gone");
}

async fn losers_are_discarded_on_request(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "1\n2\n3\n")]).await.unwrap();
    let own = branches(&it).await;
    let candidates = || {
        let branch = Candidate::of_branch("own", &*id);
        vec![branch, edited("loser", "a.txt", "1\n2\n"), edited("winner", "a.txt", "1\n")]
    };
    let discard = |discard| TournamentRequest { discard, ..request(&it, candidates()) };
    let told = tournament(&it, discard(Discard::Made)).await;
    assert_eq!(told.discarded, ["winner", "loser"]);
    assert_eq!(branches(&it).await, own);
    let told = tournament(&it, discard(Discard::MadeLosers)).await;
    assert_eq!(told.discarded, ["loser"]);
    assert_eq!(branches(&it).await.len(), 2);
    it.client.discard_branch(named(&told, "winner").branch.as_ref().unwrap()).await.unwrap();
    let told = tournament(&it, discard(Discard::Losers)).await;
    assert_eq!(told.discarded, ["loser", "own"]);
    assert_eq!(branches(&it).await, ["winner"]);
}

async fn a_test_that_does_not_end_is_ended(way: Way) {
    let it = Fixture::new(way, &[("run.sh", "")]).await;
    let candidates = vec![
        edited("endless", "run.sh", "echo begins; sleep 1000\n"),
        edited("kills", "run.sh", "kill -9 $$\n"),
    ];
    let test = shell(". ./run.sh").map(|it| TestCommand { time: Some(Duration::from_secs(1)), ..it });
    let told = tournament(&it, TournamentRequest { test, ..request(&it, candidates) }).await;
    let end = |name| named(&told, name).test.clone().unwrap();
    assert!(matches!(&end("endless").end, TestEnd::Ended(why) if why.contains("time")), "{told:?}");
    assert_eq!(
        (&*end("endless").output, end("kills").end),
        ("begins\n", TestEnd::Ended("signal 9".to_owned()))
    );
    assert!(told.is_complete() && told.winners().all(|it| !it.is_good()));
    let test = Some(TestCommand { command: vec!["no-such-program".to_owned()], time: None });
    let candidates = vec![edited("a", "run.sh", "a"), edited("b", "run.sh", "b\nb\n")];
    let discard = Discard::MadeLosers;
    let told = tournament(&it, TournamentRequest { test, discard, ..request(&it, candidates) }).await;
    assert!(matches!(told.candidates[0].test.as_ref().unwrap().end, TestEnd::NotRun(_)), "{told:?}");
    assert!(!told.is_complete());
    assert_eq!((told.ranking[1].rank, told.discarded), (2, Vec::new()), "who has lost is not known");
    assert_eq!(branches(&it).await, ["a", "b", "endless", "kills"]);
}

async fn nothing_is_left_if_the_client_leaves(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n")]).await;
    let candidates = vec![edited("one", "a.txt", "1\n"), edited("two", "a.txt", "2\n")];
    let request = TournamentRequest { test: shell("sleep 1000"), ..request(&it, candidates) };
    let another = it.another_client().await;
    let left = tokio::spawn(async move { another.tournament(request).await.map(drop) });
    until("a test runs", async || !it.client.list_runs(None).await.unwrap().is_empty()).await;
    left.abort();
    until("all is gone", async || {
        it.client.list_runs(None).await.unwrap().is_empty() && branches(&it).await.is_empty()
    })
    .await;
}

async fn an_edited_branch_stays_if_the_client_leaves(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n")]).await;
    let candidates = vec![edited("gone", "a.txt", "1\n"), edited("mine", "a.txt", "2\n")];
    let request = TournamentRequest { test: shell("sleep 1000"), ..request(&it, candidates) };
    let another = it.another_client().await;
    let left = tokio::spawn(async move { another.tournament(request).await.map(drop) });
    until("a test runs", async || !it.client.list_runs(None).await.unwrap().is_empty()).await;
    let page = it.client.list_branches(&it.workspace, &PageRequest::default()).await.unwrap();
    let mine = page.items.iter().find(|it| it.name == "mine").unwrap();
    it.client.edit(&mine.id, vec![write("b.txt", "mine\n")]).await.unwrap();
    left.abort();
    until("the other is gone", async || branches(&it).await == ["mine"]).await;
    until("no test runs", async || it.client.list_runs(None).await.unwrap().is_empty()).await;
    assert_eq!(branches(&it).await, ["mine"]);
}

/// A user's own branches, the winners of an earlier tournament and a candidate that its user edited stay.
#[tokio::test]
async fn what_a_killed_daemon_made_is_gone() {
    let mut it = Fixture::new(Way::OverGrpc, &[("a.txt", "a\n")]).await;
    let own = it.client.fork(base(&it.workspace), "own").await.unwrap();
    it.client.edit(&own, vec![write("a.txt", "own\n")]).await.unwrap();
    let earlier = vec![edited("first", "a.txt", "1\n"), Candidate::of_edits("unedited", Vec::new())];
    tournament(&it, request(&it, earlier)).await;
    let made = ["gone", "mine"].map(|it| edited(it, "a.txt", "1\n"));
    let candidates = made.into_iter().chain([Candidate::of_branch("own", &*own)]).collect();
    let running = TournamentRequest { test: shell("sleep 1000"), ..request(&it, candidates) };
    let another = it.another_client().await;
    let left = tokio::spawn(async move { another.tournament(running).await.map(drop) });
    until("a test runs", async || !it.client.list_runs(None).await.unwrap().is_empty()).await;
    let page = it.client.list_branches(&it.workspace, &PageRequest::default()).await.unwrap();
    let mine = page.items.iter().find(|it| it.name == "mine").unwrap();
    it.client.edit(&mine.id, vec![write("b.txt", "mine\n")]).await.unwrap();
    let (mut daemon, home) = it.process.take().unwrap();
    daemon.kill();
    left.await.unwrap().unwrap_err();
    let daemon = home.start(&[]);
    it.client = Arc::new(Api::over(&daemon.client().await));
    it.client.open(it.folder.path()).await;
    assert_eq!(branches(&it).await, ["first", "mine", "own", "unedited"]);
    it.process = Some((daemon, home));
}

async fn the_base_and_the_candidates_have_hashes_and_patches(way: Way) {
    let it = Fixture::new(way, &[("ruff.toml", "lint.select = [\"F\"]\n"), ("a.py", "X = 1\n")]).await;
    let candidates = || vec![edited("a", "a.py", "X = 2\n"), edited("b", "new.bin", "\0")];
    let again = |base_paths: &[&str]| TournamentRequest {
        discard: Discard::Made,
        base_paths: base_paths.iter().map(|it| (*it).to_owned()).collect(),
        ..request(&it, candidates())
    };
    let first = tournament(&it, again(&[])).await;
    let files: Vec<_> = first.base.files.iter().map(|(path, hash)| (path.as_str(), hash.is_some())).collect();
    assert_eq!(files, [("a.py", true), ("new.bin", false), ("ruff.toml", true)], "{first:?}");
    let patch = named(&first, "a").changed.patch.clone().unwrap();
    assert!(patch.contains("-X = 1\n+X = 2\n"), "{patch}");
    let binary = &named(&first, "b").changed;
    assert_eq!((binary.patch.as_ref(), binary.uncounted.len(), binary.files.len()), (None, 1, 1));
    let second = tournament(&it, again(&["a.py"])).await;
    assert_eq!((&second.base.tree, &second.linters), (&first.base.tree, &first.linters));
    assert_eq!(second.base.files.len(), 1);
    assert_eq!(named(&second, "a").changed, named(&first, "a").changed);
    it.write("a.py", "X = 1  # other\n");
    let third = tournament(&it, again(&[])).await;
    assert_ne!(third.base.tree, first.base.tree);
    assert_eq!(named(&third, "a").changed.tree, named(&first, "a").changed.tree, "the same files");
}

async fn what_makes_no_sense_is_refused(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n")]).await;
    let id = it.fork().await;
    let refused =
        async |request: TournamentRequest| -> Refusal { it.client.tournament(request).await.unwrap_err() };
    let own = |name: &str| Candidate::of_branch(name, &*id);
    let new = |name: &str| edited(name, "a.txt", "1");
    for candidates in
        [vec![], vec![own("a")], vec![own("a"), own("b")], vec![new("a"), new("a")], vec![new(""), new("a")]]
    {
        let error = refused(request(&it, candidates)).await;
        assert_eq!(error.fact("field"), Some("candidates"), "{error:?}");
    }
    let two = || vec![new("a"), new("b")];
    let order = vec![Criterion::Applies, Criterion::Applies];
    let error = refused(TournamentRequest { order, ..request(&it, two()) }).await;
    assert_eq!(error.fact("field"), Some("order"));
    let test = Some(TestCommand { command: Vec::new(), time: None });
    let error = refused(TournamentRequest { test, ..request(&it, two()) }).await;
    assert_eq!(error.fact("field"), Some("test.command"));
    let gone = vec![Candidate::of_branch("gone", "1.gone"), new("a")];
    assert_eq!(refused(request(&it, gone)).await.reason, "NOT_FOUND");
    let taken = vec![new("b"), edited(&branches(&it).await[0], "a.txt", "1")];
    assert_eq!(refused(request(&it, taken)).await.reason, "NAME_TAKEN");
    let parent = branch("1.gone");
    assert_eq!(refused(TournamentRequest { parent, ..request(&it, two()) }).await.reason, "NOT_FOUND");
    until("what was made is gone", async || branches(&it).await.len() == 1).await;
}
