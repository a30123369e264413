//! Checks: what they answer, what is new, and how they end early.

use std::{sync::Arc, time::Duration};

use check_engine::{Level, pipeline::Change};
use linters::LinterKind;
use overlay::{ContentHash, Revision};
use tests::{
    api::{
        Api, Checked, Event, Finding, RefusalExt as _, ask, base, branch, refusal, remove, rename, undo,
        write,
    },
    daemon::until,
    guest,
};
use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;
use workspaces::{CheckRequest, ErrorKind, FileEdit};

use super::{Fixture, Way, found};

both! {
    findings_are_bound_to_the_text_that_was_checked,
    a_file_that_is_named_twice_is_checked_once,
    only_what_a_branch_changed_is_new,
    a_file_that_was_moved_is_compared_with_itself,
    what_could_not_be_looked_at_is_not_fixed,
    only_some_files_are_compared_with_the_same_of_the_parent,
    an_older_revision_is_compared_with_its_own_parent,
    a_deadline_is_kept_and_stops_the_work,
    who_leaves_stops_the_work,
    a_full_queue_says_when_to_come_again,
    a_newer_revision_ends_a_check_that_wants_that,
    a_check_that_does_not_want_that_goes_on,
    an_undo_and_a_discard_end_it_too,
    the_rules_of_one_branch_are_not_those_of_another,
    kinds_that_are_left_out_are_not_missed,
    findings_have_tags,
}

async fn kinds_that_are_left_out_are_not_missed(way: Way) {
    let config = "[servers]\nuse = ['gopls']\n";
    let unused = "import os  # broker: ignore[F401] on purpose\nx = 1  # broker: ignore[E501] not needed\n";
    let files = [("a.py", "import os\n"), ("b.py", unused), ("c.go", "package c\n"), ("broker.toml", config)];
    let it = Fixture::new(way, &files).await;
    let of = async |kinds: &[LinterKind], select: &[&str]| {
        let select = select.iter().map(|it| (*it).to_owned()).collect();
        let request = CheckRequest { kinds: kinds.to_vec(), select, ..ask(base(&it.workspace), &[]) };
        it.client.check(request).await
    };
    let all = of(&[], &[]).await.unwrap();
    assert_eq!(all.summary.level, Level::Failed, "{:?}", all.incomplete);
    let plugins = of(&[LinterKind::Plugin, LinterKind::Command], &[]).await.unwrap();
    assert_eq!((plugins.summary.level, &plugins.incomplete[..]), (Level::Complete, &[][..]));
    assert_eq!(found(&plugins.findings), found(&all.findings));
    let commands = of(&[LinterKind::Command], &["F401", "python/E501"]).await.unwrap();
    assert_eq!((commands.summary.level, found(&commands.findings).len()), (Level::Complete, 0));
    let unknown = refusal(of(&[LinterKind::Command], &["F4O1"]).await);
    assert_eq!(unknown.what(), (ErrorKind::Refused, "BAD_CONFIGURATION"));
    let many = refusal(of(&[LinterKind::Command; 101], &[]).await);
    assert_eq!(many.what(), (ErrorKind::Invalid, "LIMIT_EXCEEDED"));
}

async fn findings_have_tags(way: Way) {
    let it =
        Fixture::new(way, &[("a.py", "import os\n"), ("b.py", "def\n"), ("c.py", "x = undefined\n")]).await;
    let checked = it.client.check(ask(base(&it.workspace), &[])).await.unwrap();
    let tags = |path: &str| {
        let mut all: Vec<_> =
            checked.findings.iter().filter(|it| it.path == path).map(|it| it.tags.join(" ")).collect();
        all.dedup();
        all
    };
    assert_eq!(tags("a.py"), ["Unnecessary"]);
    assert_eq!(tags("b.py"), ["SyntaxError"]);
    assert_eq!(tags("c.py"), [""]);
}

/// A daemon with a plugin that never ends for `spin.fault`.
async fn spinning(way: Way) -> Fixture {
    let files = [("spin.fault", "spin"), ("good.fault", "nothing")];
    Fixture::with(way, &[guest("guest_misbehaves")], &files).await
}

/// Waits until so many tasks run.
async fn until_running(it: &Fixture, count: usize) {
    let running = async || it.client.work().await.unwrap().running == count;
    until(&format!("{count} tasks run"), running).await;
}

async fn findings_are_bound_to_the_text_that_was_checked(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n"), ("pkg/b.py", "y = 1\n")]).await;
    let of_base = it.client.check(ask(base(&it.workspace), &[])).await.unwrap();
    assert_eq!(found(&of_base.findings), ["a.py:1 F401"]);
    assert_eq!((of_base.summary.revision.0, of_base.summary.files, of_base.summary.findings), (0, 2, 1));
    assert_eq!(of_base.summary.level, Level::Complete);
    let id = it.fork().await;
    let text = "\nprint(undefined)\n";
    it.client.edit(&id, vec![write("pkg/b.py", text)]).await.unwrap();
    let of_branch = it.client.check(ask(branch(&id), &[])).await.unwrap();
    assert_eq!(found(&of_branch.findings), ["a.py:1 F401", "pkg/b.py:2 F821"]);
    let finding = of_branch.findings.iter().find(|it| it.path == "pkg/b.py").unwrap();
    assert_eq!(finding.content, Some(ContentHash::of(text.as_bytes())));
    assert_eq!((of_branch.started.0, of_branch.summary.revision), (Revision(1), Revision(1)));
    assert_ne!(of_branch.summary.content, of_base.summary.content);
    assert_eq!(of_branch.summary.cached["python"], 1, "the file that no one changed");
    let mut older = ask(branch(&id), &[]);
    older.revision = Some(Revision(0));
    let older = it.client.check(older).await.unwrap();
    assert_eq!(older.summary.content, of_base.summary.content);
    let mut chosen = ask(branch(&id), &[]);
    chosen.select = vec!["F821".to_owned()];
    assert_eq!(found(&it.client.check(chosen).await.unwrap().findings), ["pkg/b.py:2 F821"]);
}

async fn a_file_that_is_named_twice_is_checked_once(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n")]).await;
    let answer = it.client.check(ask(base(&it.workspace), &["a.py", "./a.py", "a.py"])).await.unwrap();
    assert_eq!(found(&answer.findings), ["a.py:1 F401"]);
    assert_eq!((answer.started.1, answer.summary.files, answer.summary.findings), (1, 1, 1));
}

async fn only_what_a_branch_changed_is_new(way: Way) {
    let text = "import os\n\n\ndef f():\n    return undefined\n";
    let it = Fixture::new(way, &[("a.py", text), ("old.py", "import sys\n")]).await;
    let id = it.fork().await;
    let moved = "# one\n# two\n\n\ndef f():\n    return undefined\n\n\nprint(other)\n";
    it.client.edit(&id, vec![write("a.py", moved), rename("old.py", "new.py")]).await.unwrap();
    let mut request = ask(branch(&id), &[]);
    request.new_only = true;
    let answer = it.client.check(request).await.unwrap();
    assert_eq!(compared(&answer), [vec!["a.py:9 F821"], vec!["a.py:1 F401"]]);
    assert_eq!((answer.summary.findings, answer.summary.fixed), (1, 1));
    let mut of_base = ask(base(&it.workspace), &[]);
    of_base.new_only = true;
    assert_eq!(refusal(it.client.check(of_base).await).kind, ErrorKind::Invalid);
}

/// Returns the new and the fixed findings.
fn compared(answer: &Checked) -> [Vec<String>; 2] {
    [Change::New, Change::Fixed].map(|change| {
        let is = |it: &&Finding| it.change == Some(change);
        found(&answer.findings.iter().filter(is).cloned().collect::<Vec<_>>())
    })
}

async fn a_file_that_was_moved_is_compared_with_itself(way: Way) {
    let text = "import os\nimport sys\n\n\ndef f():\n    return undefined\n";
    let it = Fixture::new(way, &[("pkg/old.py", text), ("pkg/away.py", "import re\n"), ("b.py", "")]).await;
    let id = it.fork().await;
    // Moved and edited: no text is where it was, and half of the lines are the same.
    let edited = text.replace("import os\n", "") + "\n\nprint(other)\n";
    let edits = vec![
        rename("pkg/old.py", "new.py"),
        write("new.py", edited.as_str()),
        rename("pkg/away.py", "gone.py"),
    ];
    it.client.edit(&id, edits).await.unwrap();
    for paths in [&[][..], &["new.py"], &["new.py", "b.py"]] {
        let mut request = ask(branch(&id), paths);
        request.new_only = true;
        let answer = it.client.check(request).await.unwrap();
        assert_eq!(compared(&answer), [vec!["new.py:8 F821"], vec!["pkg/old.py:1 F401"]], "{paths:?}");
    }
    let mut request = ask(branch(&id), &["pkg"]);
    request.new_only = true;
    let none: [Vec<String>; 2] = Default::default();
    assert_eq!(compared(&it.client.check(request).await.unwrap()), none, "it lives on elsewhere");
}

/// Findings that could not be computed are neither fixed nor new.
async fn what_could_not_be_looked_at_is_not_fixed(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n"), ("b.py", "import re\n")]).await;
    let id = it.fork().await;
    let compare = async |id: &str| {
        let mut request = ask(branch(id), &[]);
        request.new_only = true;
        it.client.check(request).await.unwrap()
    };
    it.client.edit(&id, vec![write("ruff.toml", "[bad")]).await.unwrap();
    let answer = compare(&id).await;
    let bad = || vec!["ruff.toml:1 invalid-syntax".to_owned()];
    assert_eq!(compared(&answer), [bad(), vec![]]);
    assert_eq!(answer.summary.level, Level::Failed);

    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.py", "import os\n)\n")]).await.unwrap();
    let answer = compare(&id).await;
    let none: Vec<String> = vec![];
    assert_eq!(compared(&answer)[1], none, "the file cannot be parsed any more");
    assert!(compared(&answer)[0].contains(&"a.py:2 invalid-syntax".to_owned()), "{answer:?}");

    // Neither if that is suppressed; nor is a suppression in use because nothing is known of it.
    let base = "x = 1  # broker: ignore[python/F401]\n";
    it.write("c.py", base);
    let id = it.fork().await;
    let hidden = |text: &str| format!("# broker: ignore-file[invalid-syntax]\n{text})\n");
    let edits = vec![write("a.py", hidden("import os\n")), write("c.py", hidden(base))];
    it.client.edit(&id, edits).await.unwrap();
    assert_eq!(compared(&compare(&id).await), [none.clone(), none.clone()]);
    std::fs::remove_file(it.path("c.py")).unwrap();

    // Nor what a linter leaves out now.
    let id = it.fork().await;
    it.client.edit(&id, vec![write("ruff.toml", "exclude = [\"a.py\"]\n")]).await.unwrap();
    assert_eq!(compared(&compare(&id).await), [none.clone(), none.clone()]);

    // Nor what the branch does not ask for any more: a linter, or one of its rules.
    for config in ["select = [\"toml/ALL\"]\n", "ignore = [\"python/F401\"]\n"] {
        let id = it.fork().await;
        it.client.edit(&id, vec![write("broker.toml", config)]).await.unwrap();
        assert_eq!(compared(&compare(&id).await), [none.clone(), none.clone()], "{config}");
    }

    // Files that the parent excluded were not checked there.
    it.write("ruff.toml", "exclude = [\"a.py\"]\n");
    let id = it.fork().await;
    it.client.edit(&id, vec![write("ruff.toml", "")]).await.unwrap();
    let answer = compare(&id).await;
    assert_eq!(compared(&answer), [vec!["a.py:1 F401".to_owned()], none.clone()]);
    let reasons: Vec<_> = answer.incomplete.iter().map(|it| (it.path.as_str(), it.reason.as_str())).collect();
    let why = "in the parent, so that what is new here may not be: python left the file out";
    assert_eq!(reasons, [("a.py", why)]);

    it.write("ruff.toml", "[bad");
    let id = it.fork().await;
    it.client.edit(&id, vec![write("ruff.toml", "")]).await.unwrap();
    let answer = compare(&id).await;
    assert_eq!(compared(&answer), [vec!["a.py:1 F401".to_owned(), "b.py:1 F401".to_owned()], bad()]);
    assert_ne!(answer.summary.level, Level::Complete);
    assert!(answer.incomplete.iter().all(|it| it.reason.starts_with("in the parent")), "{answer:?}");
}

async fn only_some_files_are_compared_with_the_same_of_the_parent(way: Way) {
    let files = [("old/y.py", "import os\n"), ("gone.py", "import re\n"), ("build/x.py", "import re\n")];
    let it = Fixture::new(way, &files).await;
    it.write(".brokerignore", "build/\n");
    let id = it.fork().await;
    let make = FileEdit::CreateDirectory { path: "src".to_owned() };
    let moved = [rename("old/y.py", "src/y.py"), rename("build/x.py", "src/x.py")];
    let edits = [make].into_iter().chain(moved).chain([remove("gone.py")]).collect();
    it.client.edit(&id, edits).await.unwrap();
    let compare = async |paths: &[&str], only: &[&str]| {
        let mut request = ask(branch(&id), paths);
        request.only_paths = only.iter().map(|it| (*it).to_owned()).collect();
        request.new_only = true;
        let answer = it.client.check(request).await.unwrap();
        assert_eq!(answer.summary.level, Level::Complete, "{paths:?} {only:?}");
        compared(&answer)
    };
    let (new, fixed) = (vec!["src/x.py:1 F401".to_owned()], vec!["gone.py:1 F401".to_owned()]);
    assert_eq!(compare(&[], &[]).await, [new.clone(), fixed.clone()], "what was left out is looked at now");
    assert_eq!(compare(&["src"], &[]).await, [new.clone(), vec![]]);
    assert_eq!(compare(&["gone.py"], &[]).await, [vec![], fixed.clone()]);
    assert_eq!(compare(&[], &["src/y.py"]).await, [vec![], fixed]);
}

async fn an_older_revision_is_compared_with_its_own_parent(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("b.py", "import sys\n")]).await.unwrap();
    it.client.edit(&id, vec![write("b.py", "")]).await.unwrap();
    let mut request = ask(branch(&id), &[]);
    (request.new_only, request.revision) = (true, Some(Revision(1)));
    let answer = it.client.check(request).await.unwrap();
    assert_eq!(compared(&answer), [vec!["b.py:1 F401".to_owned()], vec![]]);
}

async fn a_deadline_is_kept_and_stops_the_work(way: Way) {
    let it = spinning(way).await;
    let deadline = Some(Duration::from_millis(300));
    let request = CheckRequest { deadline, ..ask(base(&it.workspace), &["spin.fault"]) };
    assert_eq!(refusal(it.client.check(request).await).kind, ErrorKind::DeadlineExceeded);
    until_running(&it, 0).await;
}

async fn who_leaves_stops_the_work(way: Way) {
    let it = spinning(way).await;
    let request = ask(base(&it.workspace), &["spin.fault"]);
    let mut events = it.client.begin_check(request).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    assert!(matches!(first, Event::Started { .. }), "{first:?}");
    until_running(&it, 1).await;
    let good = it.client.check(ask(base(&it.workspace), &["good.fault"])).await.unwrap();
    assert_eq!(good.findings.len(), 1, "another question is answered meanwhile");
    drop(events);
    until_running(&it, 0).await;
    assert!(it.client.work().await.unwrap().cancelled >= 1);
}

/// Two spinning tasks hold the two workers; then work of one branch piles up beyond what may wait.
async fn a_full_queue_says_when_to_come_again(way: Way) {
    const REQUESTS: usize = 2_100;
    let it = spinning(way).await;
    let id = it.fork().await;
    let spin = ["a.fault", "b.fault"].map(|it| write(it, "spin"));
    let rest = (0..REQUESTS).map(|it| write(&format!("{it}.fault"), format!("{it}")));
    it.client.edit(&id, spin.into_iter().chain(rest).collect()).await.unwrap();
    let mut checks = JoinSet::new();
    let check = |client: &Arc<Api>, path: &str| {
        let (client, request) = (Arc::clone(client), ask(branch(&id), &[path]));
        async move { client.check(request).await }
    };
    for path in ["a.fault", "b.fault"] {
        checks.spawn(check(&it.client, path));
    }
    until_running(&it, 2).await;
    // No connection carries more than 200 requests at once.
    for requests in (0..REQUESTS).collect::<Vec<_>>().chunks(150) {
        let client = it.another_client().await;
        for number in requests {
            checks.spawn(check(&client, &format!("{number}.fault")));
        }
    }
    let refused = checks.join_next().await.unwrap().unwrap();
    let refused = refusal(refused);
    assert_eq!(refused.what(), (ErrorKind::Exhausted, "QUEUE_FULL"));
    let delay = Duration::from_millis(refused.facts["retry_after_ms"].parse().unwrap());
    assert!((Duration::from_millis(10)..=Duration::from_secs(10)).contains(&delay), "{delay:?}");
    checks.shutdown().await;
    until_running(&it, 0).await;
    let answer = it.client.check(ask(branch(&id), &["7.fault"])).await.unwrap();
    assert_eq!(answer.summary.files, 1, "there is room again");
}

async fn a_newer_revision_ends_a_check_that_wants_that(way: Way) {
    let it = spinning(way).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("x.fault", "spin")]).await.unwrap();
    let mut request = ask(branch(&id), &["x.fault"]);
    request.supersede = true;
    let client = Arc::clone(&it.client);
    let check = tokio::spawn(async move { client.check(request).await });
    until_running(&it, 1).await;
    it.client.edit(&id, vec![write("x.fault", "nothing")]).await.unwrap();
    assert_eq!(refusal(check.await.unwrap()).what(), (ErrorKind::Aborted, "SUPERSEDED"));
    until_running(&it, 0).await;
}

async fn a_check_that_does_not_want_that_goes_on(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let files = (0..60).map(|it| write(&format!("f{it}.py"), "import os\n")).collect();
    it.client.edit(&id, files).await.unwrap();
    for round in 0..5 {
        let edits = async {
            for number in 0..10 {
                it.client.edit(&id, vec![write("other", format!("{round} {number}\n"))]).await.unwrap();
            }
        };
        let (answer, ()) = tokio::join!(it.client.check(ask(branch(&id), &[])), edits);
        assert_eq!(answer.unwrap().summary.findings, 60, "round {round}");
    }
}

async fn an_undo_and_a_discard_end_it_too(way: Way) {
    let it = spinning(way).await;
    for discard in [false, true] {
        let id = it.fork().await;
        it.client.edit(&id, vec![write("x.fault", "spin")]).await.unwrap();
        let mut request = ask(branch(&id), &["x.fault"]);
        request.supersede = true;
        let client = Arc::clone(&it.client);
        let check = tokio::spawn(async move { client.check(request).await });
        until_running(&it, 1).await;
        if discard {
            it.client.discard_branch(&id).await.unwrap();
        } else {
            it.client.undo_branch(undo(&id, 0)).await.unwrap();
        }
        until_running(&it, 0).await;
        let ended = check.await.unwrap();
        assert!(discard || ended.is_err(), "{ended:?}");
    }
}

/// `sgconfig.yml` names folders of rules, which are read only to find out which rules there are.
async fn the_rules_of_one_branch_are_not_those_of_another(way: Way) {
    let config = [("sgconfig.yml", "ruleDirs: [rules]\n"), ("a.py", "foo()\n")];
    let it = Fixture::new(way, &config).await;
    let (with, without) = (it.fork().await, it.fork().await);
    let rule = "id: no-foo\nlanguage: python\nmessage: no foo\nrule:\n  pattern: foo()\n";
    it.client.edit(&with, vec![write("rules/no-foo.yml", rule)]).await.unwrap();
    let chosen =
        |target| CheckRequest { select: vec!["pattern/no-foo".to_owned()], ..ask(target, &["a.py"]) };
    for _ in 0..2 {
        let found_there = it.client.check(chosen(branch(&with))).await.unwrap();
        assert_eq!(found(&found_there.findings), ["a.py:1 no-foo"]);
        for target in [branch(&without), base(&it.workspace)] {
            assert_eq!(
                refusal(it.client.check(chosen(target)).await).what(),
                (ErrorKind::Refused, "BAD_CONFIGURATION")
            );
        }
    }
    it.client.edit(&without, vec![write("rules/no-foo.yml", rule)]).await.unwrap();
    let found_now = it.client.check(chosen(branch(&without))).await.unwrap();
    assert_eq!(found(&found_now.findings), ["a.py:1 no-foo"]);
}
