//! Commits and saves that are really killed, again and again: what was promised must hold.
//!
//! The test binary starts itself as the child. `BROKER_KILLS` says how often; the default is 50 times each.

#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks from outside, and stops at what is unexpected"
)]

use std::{
    collections::BTreeMap,
    fs,
    hash::{BuildHasher as _, RandomState},
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use bytes::Bytes;
use overlay::{
    BranchRecord, Committer, ContentHash, Expected, FileOp, NodeRecord, Outcome, Revision, Step, StepKind,
    Store, WorkspacePath,
};
use tempfile::TempDir;

const FOLDER: &str = "BROKER_KILLED_FOLDER";

fn kills() -> usize {
    std::env::var("BROKER_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(50)
}

/// This test binary once more, running only `test`, which finds its folder in the environment.
fn start(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The folder, if this process is the child.
fn folder() -> Option<std::path::PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

/// Kills the child at a random moment: while it starts, or while it works. All that it has said until then.
fn kill_soon(mut child: Child, at_most: Duration) -> Vec<String> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let random = RandomState::new().hash_one(0);
    if !random.is_multiple_of(4) {
        lines.find(|it| it.ends_with("ready")).unwrap();
    }
    // Not to wait for anything: to hit another moment each time.
    std::thread::sleep(Duration::from_micros(random % at_most.as_micros() as u64));
    child.kill().unwrap();
    child.wait().unwrap();
    lines.collect()
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

fn at(path: &str) -> WorkspacePath {
    WorkspacePath::new(path).unwrap()
}

fn step(revision: u64) -> Step {
    let bytes = Bytes::from(format!("text {}", revision % 7));
    let hash = ContentHash::of(&bytes);
    Step {
        revision: Revision(revision),
        at_ms: revision,
        what: "write".into(),
        paths: vec![at("a")],
        nodes: vec![(at("a"), NodeRecord::File { bytes, hash, executable: false, came_from: None })],
        origins: vec![],
        permissions: vec![],
        fork_point: false,
        kind: StepKind::Edit,
    }
}

#[test]
fn saving_child() {
    let Some(folder) = folder() else { return };
    let store = Store::open(&folder).unwrap();
    let next = store.load().unwrap().branches.first().map_or(0, |it| it.steps.len() as u64);
    let record = BranchRecord { name: "b".into(), parent: None, created_ms: 0, labels: BTreeMap::new() };
    store.save("b", Some(record), vec![]).unwrap();
    say("ready");
    for revision in next.. {
        store.save("b", None, vec![step(revision)]).unwrap();
        say(&format!("saved {revision}"));
    }
}

/// Every step that was acknowledged before the kill is there, in order, and at most one more.
#[test]
fn what_was_saved_survives_a_kill() {
    if folder().is_some() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let mut total = 0;
    for _ in 0..kills() {
        let lines = kill_soon(start("saving_child", folder.path()), Duration::from_millis(30));
        let saved = lines.iter().filter_map(|it| it.strip_prefix("saved ")?.parse::<u64>().ok());
        let acknowledged = saved.max().map_or(total, |it| it + 1);
        let loaded = Store::open(folder.path()).unwrap().load().unwrap();
        assert!(loaded.damaged.is_empty(), "{:?}", loaded.damaged);
        let steps = loaded.branches.first().map_or(&[][..], |it| &it.steps);
        let there = steps.len() as u64;
        assert!(there == acknowledged || there == acknowledged + 1, "{there} of {acknowledged}");
        assert_eq!(steps, (0..there).map(step).collect::<Vec<_>>());
        total = there;
    }
    assert!(total > 0);
}

const FILES: usize = 12;

/// From generation `n` to the next: half of the files move to another directory each time.
fn generation(n: u64) -> BTreeMap<String, String> {
    let place = |k: usize| if k.is_multiple_of(2) { format!("d{n}/f{k}") } else { format!("f{k}") };
    (0..FILES).map(|k| (place(k), format!("{n} {k}"))).collect()
}

fn changes(n: u64) -> Vec<FileOp> {
    let (old, new) = (generation(n), generation(n + 1));
    let file = |text: &String| Expected::File(ContentHash::of(text.as_bytes()), false);
    let gone = old.iter().filter(|it| !new.contains_key(it.0));
    let remove = gone.map(|(path, text)| FileOp::Remove { path: at(path), before: file(text) });
    let write = new.iter().map(|(path, text)| FileOp::Write {
        path: at(path),
        bytes: Bytes::from(text.clone()),
        executable: false,
        before: old.get(path).map_or(Expected::Missing, file),
        moved_from: None,
        permissions: None,
    });
    remove.chain(write).chain([FileOp::RemoveDir { path: at(&format!("d{n}")) }]).collect()
}

/// Everything that is in the workspace, hidden files too.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

/// The generation that is in the workspace, whole and with nothing beside it.
fn generation_of(root: &Path) -> u64 {
    let files = files(root);
    let n = files["f1"].split(' ').next().unwrap().parse().unwrap();
    assert_eq!(files, generation(n));
    assert_eq!(fs::read_dir(root).unwrap().count(), FILES / 2 + 1, "a directory was left");
    n
}

fn committer(folder: &Path) -> Committer {
    Committer::new(&folder.join("work"), &folder.join("journal")).unwrap()
}

#[test]
fn committing_child() {
    let Some(folder) = folder() else { return };
    let committer = committer(&folder);
    let first = generation_of(&folder.join("work"));
    say("ready");
    for n in first.. {
        committer.commit(&changes(n)).unwrap();
        say(&format!("committed {}", n + 1));
    }
}

/// After a kill and recovery the workspace is one generation as a whole, and never an older one than was told.
#[test]
fn a_commit_is_all_or_nothing_over_a_kill() {
    if folder().is_some() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("work");
    fs::create_dir_all(root.join("d0")).unwrap();
    generation(0).iter().for_each(|(path, text)| fs::write(root.join(path), text).unwrap());
    let (mut last, mut interrupted) = (0, BTreeMap::new());
    for _ in 0..kills() {
        let lines = kill_soon(start("committing_child", folder.path()), Duration::from_millis(60));
        let told = lines.iter().filter_map(|it| it.strip_prefix("committed ")?.parse::<u64>().ok());
        last = told.max().unwrap_or(last);
        let recovered = committer(folder.path()).recover().unwrap();
        if let Some(recovered) = recovered {
            assert!(recovered.leftovers.is_empty(), "{recovered:?}");
            *interrupted.entry(recovered.outcome == Outcome::Finished).or_insert(0) += 1;
        }
        let now = generation_of(&root);
        assert!(now == last || now == last + 1, "{now} of {last}");
        last = now;
    }
    println!("finished and taken back: {interrupted:?}, {last} commits");
    assert!(!interrupted.is_empty(), "no kill ever hit a commit");
}
