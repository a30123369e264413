//! Measures the cost of a branch, for reading: `cargo test -p overlay --release --test cost -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, reason = "a test stops at what is unexpected")]
#![allow(clippy::print_stdout, reason = "to print is what it is for")]

use std::{sync::Arc, time::Instant};

use overlay::{Branch, Memory, Snapshot, View as _, WorkspacePath, unified};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// 1,000 edited files in 20 directories.
fn edited() -> Branch {
    let mut branch = Branch::new(Arc::new(Memory::default()));
    for n in 0..1000 {
        branch.write(&path(&format!("src/d{}/f{n}.py", n % 20)), format!("{n}\n").into()).unwrap();
    }
    branch
}

fn print(what: &str, times: u32, run: impl Fn()) {
    let start = Instant::now();
    (0..times).for_each(|_| run());
    println!("{what}: {:?}", start.elapsed() / times);
}

fn patch(lines: usize, before: &str, after: &str) -> usize {
    let text = |word: &str| (0..lines).map(|n| format!("{word} {n}\n")).collect::<String>();
    let mut branch = Branch::new(Arc::new(Memory::from_files([("a", text(before))]).unwrap()));
    branch.write(&path("a"), text(after).into()).unwrap();
    let (before, after): (Snapshot, _) = (branch.snapshot().base_of(), branch.snapshot());
    unified(&after.changes(&before).unwrap(), &before, &after, 3).unwrap().len()
}

fn resident() -> usize {
    let statm =
        std::process::Command::new("ps").args(["-o", "rss=", "-p", &std::process::id().to_string()]).output();
    String::from_utf8(statm.unwrap().stdout).unwrap().trim().parse().unwrap()
}

#[test]
#[ignore = "prints times, checks nothing"]
fn costs() {
    let branch = edited();
    print("fork with 1,000 edits", 10_000, || drop(branch.fork()));
    print("snapshot", 10_000, || drop(branch.snapshot()));
    let mut one = branch.fork();
    one.write(&path("src/d3/f3.py"), "x".into()).unwrap();
    print("changed paths since the fork", 1000, || drop(one.snapshot().changed_paths(&branch.snapshot())));
    print("steps since the fork", 1000, || drop(one.steps_since(overlay::Revision(0))));
    print("changes of 1,000 files", 100, || drop(branch.snapshot().changes(&branch.snapshot().base_of())));
    for lines in [1000, 5000, 20_000] {
        print(&format!("a patch of {lines} lines that all differ"), 1, || {
            drop(patch(lines, "a", "b").to_string())
        });
    }
    let files =
        (0..50_000).map(|n| (format!("src/d{}/s{}/__init__.py", n % 200, n / 2000), format!("{}", n % 3)));
    let files: Vec<_> = files.collect();
    let base = Memory::from_files(files.iter().map(|(path, text)| (path.as_str(), text.clone()))).unwrap();
    let mut moved = Branch::new(Arc::new(base));
    let start = Instant::now();
    moved.rename(&path("src"), &path("source")).unwrap();
    println!("a rename of 50,000 files: {:?}", start.elapsed());
    print("its changes", 1, || drop(moved.snapshot().changes(&moved.snapshot().base_of())));
    print("its steps", 1, || drop(moved.steps_since(overlay::Revision(0))));
    let start = Instant::now();
    moved.rename(&path("source"), &path("again")).unwrap();
    println!("again: {:?}", start.elapsed());
    moved.committed();
    print("the state before its commit", 1, || drop(moved.at(overlay::Revision(0))));
    let before = resident();
    let forks: Vec<Branch> = (0..1000)
        .map(|n| {
            let mut fork = branch.fork();
            for file in 0..5 {
                fork.write(&path(&format!("src/d{file}/f{file}.py")), n.to_string().into()).unwrap();
            }
            fork
        })
        .collect();
    println!("a fork with 5 edits: {} KiB", (resident() - before) / forks.len());
    assert!(forks[7].snapshot().read(&path("src/d0/f0.py")).is_ok());
}
