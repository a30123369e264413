//! Options that affect one check in addition to the workspace's configuration.

use check_engine::ListedFile;
use overlay::WorkspacePath;
use tests::api::{RefusalExt as _, ask, base, fix, refusal};
use workspaces::{BaselineRequest, CheckOptions, CheckRequest, ErrorKind, FileText, FixRequest};

use super::{Fixture, Way, found};

both! {
    a_text_is_shown_to_one_check_alone,
    options_take_the_place_of_the_configuration,
    the_files_of_a_check_are_listed,
    a_baseline_is_made_and_pruned,
    options_that_make_no_sense_are_refused,
}

fn text(path: &str, content: &str) -> FileText {
    FileText { path: path.to_owned(), content: content.to_owned().into() }
}

fn with(it: &Fixture, options: CheckOptions) -> CheckRequest {
    CheckRequest { options, ..ask(base(&it.workspace), &[]) }
}

async fn a_text_is_shown_to_one_check_alone(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n")]).await;
    let texts = vec![text("a.py", "import sys\nimport re\n"), text("new/b.py", "import json\n")];
    let shown = with(&it, CheckOptions { texts, ..CheckOptions::default() });
    let checked = it.client.check(shown).await.unwrap();
    assert_eq!(found(&checked.findings), ["a.py:1 F401", "a.py:2 F401", "new/b.py:1 F401"]);
    let checked = it.client.check(with(&it, CheckOptions::default())).await.unwrap();
    assert_eq!(found(&checked.findings), ["a.py:1 F401"]);
}

async fn options_take_the_place_of_the_configuration(way: Way) {
    let files = [
        ("ruff.toml", "[lint]\nselect = ['E401']\n"),
        ("a.py", "import os, re\n"),
        ("b.py", "import os\n"),
        (".ignore", "hidden\n"),
        ("hidden/c.py", "import os, re\n"),
    ];
    let it = Fixture::new(way, &files).await;
    let checked = async |options: CheckOptions| {
        let checked = it.client.check(with(&it, options)).await.unwrap();
        found(&checked.findings)
    };
    assert_eq!(checked(CheckOptions::default()).await, ["a.py:1 E401"]);
    let isolated = checked(CheckOptions { isolated: true, ..CheckOptions::default() }).await;
    assert_eq!(isolated, ["a.py:1 F401", "a.py:1 F401", "b.py:1 F401"]);
    let own =
        vec![text("given/ruff.toml", "lint.select = ['I002']\nlint.isort.required-imports = ['import x']\n")];
    let config = Some("given/ruff.toml".to_owned());
    let own = checked(CheckOptions { texts: own, config, ..CheckOptions::default() }).await;
    assert_eq!(own, ["a.py:1 I002", "b.py:1 I002"]);
    let no_ignore_files = checked(CheckOptions { no_ignore_files: true, ..CheckOptions::default() }).await;
    assert_eq!(no_ignore_files, ["a.py:1 E401", "hidden/c.py:1 E401"]);
    let exclude = vec!["a.*".to_owned()];
    assert!(checked(CheckOptions { exclude, ..CheckOptions::default() }).await.is_empty());
    // Repeats the same check, without the cache and with one job.
    let options = CheckOptions { no_cache: true, jobs: Some(1), timing: true, ..CheckOptions::default() };
    assert_eq!(checked(options).await, ["a.py:1 E401"]);
}

async fn the_files_of_a_check_are_listed(way: Way) {
    let it = Fixture::new(way, &[("a.py", ""), ("b.css", ""), ("c.bin", "\0")]).await;
    let exclude = vec!["b.css".to_owned()];
    let listed = with(&it, CheckOptions { exclude, ..CheckOptions::default() });
    let listed = it.client.list_checked_files(listed).await.unwrap();
    let linters = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
    let file = |path: &str, names: &[&str]| ListedFile {
        path: WorkspacePath::new(path).unwrap(),
        linters: linters(names),
    };
    assert_eq!(listed.files, [file("a.py", &["python", "text"]), file("c.bin", &["text"])]);
    assert!(listed.incomplete.is_empty());
}

async fn a_baseline_is_made_and_pruned(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n"), ("b.py", "import os\n")]).await;
    let check = with(&it, CheckOptions::default());
    let unnamed = refusal(it.client.update_baseline(BaselineRequest { check, prune: false }).await);
    assert_eq!(unnamed.what(), (ErrorKind::Refused, "BAD_CONFIGURATION"));
    // A list that cannot be looked at is not taken for none.
    let named = text("broker.toml", "[baseline]\nfile = 'a.py/known.json'\n");
    let check = with(&it, CheckOptions { texts: vec![named], ..CheckOptions::default() });
    let unreadable = refusal(it.client.update_baseline(BaselineRequest { check, prune: false }).await);
    assert_eq!(unreadable.what(), (ErrorKind::Refused, "BAD_CONFIGURATION"));
    let empty = text("known.json", r#"{"version": 1, "entries": []}"#);
    let check = with(&it, CheckOptions { baseline: Some(empty), ..CheckOptions::default() });
    let made = it.client.update_baseline(BaselineRequest { check, prune: false }).await.unwrap();
    assert_eq!((&made.path, made.findings, &made.incomplete[..]), (&None, 2, &[][..]));

    let known = FileText { path: "known.json".to_owned(), content: made.content };
    let texts = vec![text("b.py", "import re\nimport os\n")];
    let options = CheckOptions { baseline: Some(known), texts, ..CheckOptions::default() };
    let checked = it.client.check(with(&it, options.clone())).await.unwrap();
    assert_eq!(found(&checked.findings), ["b.py:1 F401"], "the others are known");
    let options = CheckOptions { texts: vec![text("b.py", "")], ..options };
    let request = BaselineRequest { check: with(&it, options), prune: true };
    let pruned = it.client.update_baseline(request).await.unwrap();
    assert_eq!(pruned.findings, 1);
}

async fn options_that_make_no_sense_are_refused(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n")]).await;
    let branch = it.fork().await;
    let refused = async |request: CheckRequest| refusal(it.client.check(request).await).message().to_owned();
    let options = CheckOptions::default;
    let both = CheckOptions { isolated: true, config: Some("ruff.toml".to_owned()), ..options() };
    assert!(refused(with(&it, both)).await.contains("`isolated`"));
    let relative = CheckOptions { plugins: vec!["x.wasm".into()], ..options() };
    assert!(refused(with(&it, relative)).await.contains("absolute"));
    let damaged = CheckOptions { baseline: Some(text("known.json", "{")), ..options() };
    assert!(refused(with(&it, damaged)).await.contains("known.json"));
    let texts = vec![text("a.py", "")];
    let compared =
        CheckRequest { new_only: true, ..with(&it, CheckOptions { texts: texts.clone(), ..options() }) };
    assert!(refused(compared).await.contains("`new_only`"));
    let outside = CheckOptions { texts: vec![text("../a.py", "")], ..options() };
    assert!(refused(with(&it, outside)).await.contains("texts"));
    let options = CheckOptions { texts, ..options() };
    let request = FixRequest::of(CheckRequest { options, ..fix(&branch, &[]).check });
    assert!(refusal(it.client.fix_files(request).await).message().contains("`dry_run`"));
}
