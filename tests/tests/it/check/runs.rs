//! Consecutive runs of checks.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
};

use insta::assert_snapshot;
use tests::place::Ending;

use super::{MESSY, Workspace};

#[test]
fn a_second_run_says_the_same() {
    let it = Workspace::new(&MESSY);
    let first = it.json(&["."]);
    assert_eq!(it.json(&["."]), first, "from the cache");
    assert_eq!(it.json(&["--no-cache", "."]), first);
    damage(&it.own("cache/answers"));
    assert_eq!(it.json(&["."]), first, "with a cache that is damaged");
    assert_eq!(it.json(&["."]), first, "and after that");
    let fresh = Workspace::new(&MESSY);
    fresh.json(&["--no-cache", "."]);
    assert!(!fresh.own("cache/answers").exists(), "nothing is kept");
}

/// Every byte in the middle of every file is another one.
fn damage(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        if entry.is_dir() {
            damage(&entry);
        } else {
            let mut bytes = fs::read(&entry).unwrap();
            let (from, to) = (bytes.len() / 3, bytes.len() * 2 / 3);
            bytes[from..to].iter_mut().for_each(|it| *it = !*it);
            fs::write(&entry, bytes).unwrap();
        }
    }
}

#[test]
fn a_change_is_checked_while_watching() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    let arguments = ["check", "--watch", "--output-format", "concise"];
    let mut command = it.command(&arguments);
    let mut child = Ending(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "No findings in 2 files.");
    it.write("a.py", "import os\n");
    // A write is several events: what was there in between may be told as well.
    let found = lines.find(|it| it.starts_with("a.py")).unwrap();
    assert_eq!(found, "a.py:1:8: warning python/F401 [*] `os` imported but unused");
    assert_eq!(child.interrupt(), Some(1), "as the last run");
}

/// Sparse, so that only reading it costs anything.
#[test]
fn what_is_too_large_is_left_out_and_counted() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    for name in ["big.bin", "big.py"] {
        std::fs::File::create(it.root().join(name)).unwrap().set_len(3 << 30).unwrap();
    }
    assert_snapshot!(it.told(&["--no-cache"]), @r"
    exit 0
    No findings in 2 files; skipped 2 files larger than `max-file-size`.
    -- stderr
    ");
    // Also where nothing else is asked about.
    assert_snapshot!(it.told(&["--no-cache", "big.py"]), @r"
    exit 0
    No findings in 0 files; skipped 1 file larger than `max-file-size`.
    -- stderr
    warning: no plugin checked any file under `big.py`: the configuration leaves it out, or it is larger than `max-file-size`
    ");
    it.write("broker.toml", "max-file-size = 300\n");
    assert_snapshot!(it.told(&["--no-cache", "a.py"]), @r"
    exit 2
    -- stderr
    error: broker.toml:1:17: files of 300 MiB cannot be checked: it is a number from 1 to 256
    ");
}
