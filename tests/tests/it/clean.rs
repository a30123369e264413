//! Folders of the program: their sizes and limits in the status, and what `broker daemon clean` removes of them.

use std::{
    fs::{self, File},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use serde_json::Value;
use tests::place::{Place, told};

fn json(it: &Place, arguments: &[&str]) -> Value {
    let output = it.run(&[arguments, &["--output-format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Makes a file among the program's own that was used so many days ago.
fn put(it: &Place, path: &str, bytes: usize, days: u32) -> PathBuf {
    let path = it.own(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, vec![b'x'; bytes]).unwrap();
    let used = SystemTime::now() - Duration::from_secs(24 * 60 * 60) * days;
    File::options().write(true).open(&path).unwrap().set_modified(used).unwrap();
    path
}

/// Removed and left folders of a report: name or path, and bytes or reason.
fn report(it: &Place, arguments: &[&str]) -> (Vec<(String, u64)>, Vec<String>) {
    let report = json(it, &[&["daemon", "clean"], arguments].concat());
    let removed = report["removed"].as_array().unwrap().iter();
    let removed = removed.map(|it| (it["kind"].as_str().unwrap().to_owned(), it["bytes"].as_u64().unwrap()));
    let left = report["left"].as_array().unwrap().iter();
    (removed.collect(), left.map(|it| it["why"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn the_status_has_every_folder_with_its_limit() {
    let it = Place::new(&[("a.py", "import os\n"), ("ruff.toml", "")]);
    assert_eq!(json(&it, &["daemon", "status"])["folders"], serde_json::json!([]));
    it.run(&["check"]);
    it.run(&["branch", "fork", "try"]);
    put(&it, "cache/copies/x.size", 0, 0);
    fs::write(it.own("cache/copies/x.size"), "1000").unwrap();
    put(&it, "cache/unknown/file", 10, 0);
    put(&it, "state/agents.jsonl", 20, 0);
    put(&it, "data/tools/x.lock", 30, 0);
    let status = json(&it, &["daemon", "status"]);
    let folders = status["folders"].as_array().unwrap();
    let find = |name: &str| {
        folders.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {status:#}"))
    };
    for name in ["machine-code", "answers", "run-copies", "workspaces", "daemon-log", "agents-log"] {
        let path = find(name)["path"].as_str().unwrap();
        assert!(PathBuf::from(path).exists() && find(name)["limit"] != "none", "{name}: {status:#}");
    }
    assert_eq!(
        (&find("run-copies")["bytes"], &find("run-copies")["limit"]),
        (&1000.into(), &"20 GiB".into())
    );
    assert_eq!(
        (&find("other-caches")["bytes"], &find("other-caches")["limit_bytes"]),
        (&10.into(), &Value::Null)
    );
    assert_eq!(
        (&find("tools")["bytes"], &find("tools")["limit"]),
        (&30.into(), &"90 days without use".into())
    );
    assert_eq!(find("answers")["limit"], "512 MiB, 30 days without use");
    assert_eq!(find("workspaces")["limit"], "1 GiB for each branch");
    let (_, text, _) = told(it.run(&["daemon", "status"]));
    let line = text.lines().find(|it| it.starts_with("folder      agents-log")).unwrap();
    assert!(line.contains("20 bytes") && line.ends_with("(limit: 32 MiB)"), "{text}");
    assert_eq!(find("other-runtime")["path"], it.own("run").to_str().unwrap());
}

#[test]
fn caches_are_cleaned_beyond_their_limits_or_wholly() {
    let it = Place::new(&[]);
    let kept = put(&it, "cache/machine-code/new.cwasm", 5, 0);
    let old = put(&it, "cache/machine-code/old.cwasm", 6, 31);
    let answers =
        [put(&it, "cache/answers/a-00.answers", 7, 31), put(&it, "cache/answers/b-00.answers", 8, 1)];
    let orphan = put(&it, "cache/search/0123456789abcdef/x.grams", 9, 0);
    let log = put(&it, "state/agents.jsonl", 20, 0);
    let surplus = [("machine-code", 6), ("answers", 7), ("search-indexes", 9)];
    let surplus = surplus.map(|(name, bytes)| (name.to_owned(), bytes)).to_vec();
    assert_eq!(report(&it, &["--dry-run"]), (surplus.clone(), vec![]));
    assert!([&old, &answers[0], &orphan].iter().all(|it| it.exists()));
    assert_eq!(report(&it, &[]), (surplus, vec![]));
    assert!(![&old, &answers[0], &orphan].iter().any(|it| it.exists()));
    assert!([&kept, &answers[1], &log].iter().all(|it| it.exists()));
    assert_eq!(report(&it, &[]), (vec![], vec![]));
    assert_eq!(report(&it, &["--all", "--only", "answers"]).0, [("answers".to_owned(), 8)]);
    assert!(kept.exists());
    let text = told(it.run(&["daemon", "clean", "--all", "--dry-run"])).1;
    let folder = it.own("cache/machine-code");
    let want = format!("would remove machine-code {}: 5 bytes\nwould free 5 bytes\n", folder.display());
    assert_eq!(text, want);
    assert_eq!(told(it.run(&["daemon", "clean", "--force"])).0, 2);
}

#[test]
fn what_is_in_use_is_left_and_a_running_daemon_goes_on() {
    let it = Place::new(&[("a.py", "import os\n"), ("ruff.toml", "lint.select = [\"F\"]\n")]);
    let check = || told(it.run(&["check", "--branch", "try", "--output-format", "concise"])).1;
    it.run(&["branch", "fork", "try"]);
    let found = check();
    assert!(found.contains("F401"), "{found}");
    for (name, is_locked) in [("free", false), ("used", true)] {
        put(&it, &format!("cache/caches/{name}/file"), 1, 0);
        fs::write(it.own(&format!("cache/caches/{name}.size")), "1000").unwrap();
        let lock = File::create(it.own(&format!("cache/caches/{name}.lock"))).unwrap();
        if is_locked {
            lock.lock().unwrap();
            std::mem::forget(lock);
        }
    }
    let output = it.run(&["daemon", "clean", "--all"]);
    let (exit, text, notes) = told(output);
    assert_eq!(exit, 0);
    let used = it.own("cache/caches/used");
    assert!(text.contains(&format!("left {}: a command uses it\n", used.display())), "{text}");
    assert!(text.contains("removed run-caches ") && text.contains("removed machine-code "), "{text}");
    assert!(notes.contains("keeps what it has read until it ends"), "{notes}");
    assert!(used.exists() && !it.own("cache/caches/free").exists());
    assert_eq!(check(), found);
    it.write("a.py", "import sys\n");
    assert!(check().contains("`sys` imported but unused"));
    let removed = report(&it, &["--all", "--only", "run-copies"]);
    assert_eq!(removed, (vec![], vec![]));
}

#[test]
fn what_is_kept_of_a_workspace_that_is_gone_is_removed_if_asked_for() {
    let it = Place::new(&[("ruff.toml", "")]);
    let (edited, empty) = (it.own("edited"), it.own("empty"));
    for folder in [&edited, &empty] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("ruff.toml"), "").unwrap();
        let fork = it.command(&["branch", "fork", "try"]).current_dir(folder).output().unwrap();
        assert_eq!(told(fork).0, 0);
    }
    let mut write = it.command(&["branch", "write", "try", "a.py", "ruff.toml"]);
    assert_eq!(told(write.current_dir(&edited).output().unwrap()).0, 0);
    assert_eq!(told(it.run(&["branch", "fork", "here"])).0, 0);
    fs::remove_dir_all(&edited).unwrap();
    fs::remove_dir_all(&empty).unwrap();
    let states = || fs::read_dir(it.own("state/workspaces")).unwrap().count();
    assert_eq!(report(&it, &["--only", "answers"]), (vec![], vec![]), "not without `--gone`");
    let (removed, left) = report(&it, &["--gone", "--force", "--only", "answers"]);
    assert!(
        removed.is_empty() && left.len() == 2 && left[0].contains("`broker daemon stop` first"),
        "{left:?}"
    );
    assert_eq!(told(it.run(&["daemon", "stop"])).0, 0);
    let text = told(it.run(&["daemon", "clean", "--gone", "--dry-run", "--only", "answers"])).1;
    assert!(text.contains(&format!("would remove workspace {}: ", empty.display())), "{text}");
    assert!(text.contains(&format!("left {}: it has edits: branch try\n", edited.display())), "{text}");
    assert_eq!(states(), 3);
    let (would, _) = report(&it, &["--gone", "--dry-run", "--only", "answers"]);
    let (removed, left) = report(&it, &["--gone", "--only", "answers"]);
    assert_eq!(removed, would);
    assert_eq!((removed.len(), left), (1, vec!["it has edits: branch try".to_owned()]));
    assert_eq!(states(), 2);
    let text = told(it.run(&["daemon", "clean", "--gone", "--force", "--only", "answers"])).1;
    assert!(text.starts_with(&format!("removed workspace {}: ", edited.display())), "{text}");
    assert!(text.contains(", with branch try\n"), "{text}");
    assert_eq!(states(), 1);
    assert!(told(it.run(&["branch", "list"])).1.contains("here"));
}
