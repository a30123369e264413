//! Language servers that are confined, with one that does what its documents say under the name of one that Broker knows.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use tests::broker;

use super::*;

/// A Python project for which a server under the name of ty is there. It says on its standard error what it could write.
fn place(files: &[(&str, &str)]) -> Hostile {
    let it = Hostile::new(&[&[("ty.toml", "")], files].concat());
    let model = it.place.own("bin/model");
    fs::create_dir_all(model.parent().unwrap()).unwrap();
    fs::copy(broker().with_file_name("language-servers-testkit"), &model).unwrap();
    let script =
        format!("#!/bin/bash\n{{ {}; }} 2>/dev/null\nexec {} model\n", it.trace("server"), model.display());
    program(&it.place.own("bin/ty"), &script);
    it
}

fn reads(it: &Hostile, files: &[&str]) -> String {
    let paths = files.iter().map(|file| match *file {
        inside if inside.starts_with("./") => it.place.root().join(&inside[2..]),
        file => it.place.own(file),
    });
    let words: Vec<_> = paths.map(|it| format!("reads {}", it.display())).collect();
    format!("# {}\n", words.join(" "))
}

const ASK: [&str; 3] = ["--select", "ty/ALL", "a.py"];

#[test]
fn a_confined_server_reads_the_workspace_and_no_secret() {
    let it = place(&[("data.txt", "shown")]);
    let files = [&SECRETS[..], &["state/trusted.json", "./leak", "./data.txt"]].concat();
    it.place.write("a.py", reads(&it, &files));
    let (messages, told, exit) = it.check(&ASK);
    assert_eq!((messages.len(), exit), (1, Some(1)), "{told}");
    let nothing = " {nothing}".repeat(SECRETS.len() + 2);
    assert!(messages[0].ends_with(&format!("{nothing} {{shown}}")), "{messages:?}");
    it.expect_no_trace();
}

#[test]
fn a_confined_server_sees_what_people_save() {
    let it = place(&[("data.txt", "before")]);
    it.place.write("a.py", reads(&it, &["./data.txt"]));
    it.run(&["branch", "fork", "try"]);
    let pid = || {
        let listed = it.run(&["server", "list", "--output-format", "json"]).stdout;
        let all: Value = serde_json::from_slice(&listed).unwrap();
        all[0]["pid"].as_u64()
    };
    let ask = [&ASK[..], &["--branch", "try"]].concat();
    assert!(it.check(&ask).0[0].ends_with("{before}"));
    let first = pid();
    // As editors save: a new file in the place of the old one.
    it.place.write("data.new", "after");
    fs::rename(it.place.root().join("data.new"), it.place.root().join("data.txt")).unwrap();
    let text = format!("{}# another\n", reads(&it, &["./data.txt"]));
    assert!(it.place.run_with_input(&["branch", "write", "try", "a.py"], &text).status.success());
    let (messages, told, _) = it.check(&ask);
    assert!(messages[0].ends_with("{after}"), "{messages:?} {told}");
    assert!(first.is_some() && first == pid(), "it is the same process");
    it.expect_no_trace();
}

#[test]
fn settings_and_programs_of_the_workspace_do_not_count() {
    let define =
        "[servers.define.ty]\ncommand = ['sh', '-c', 'touch pwned-define']\nenv = { BASH_ENV = 'evil.sh' }\n";
    let it = place(&[("broker.toml", define), ("a.py", "x\n")]);
    it.place.write("evil.sh", it.trace("env"));
    for shim in [".venv/bin/ty", "venv/bin/ty", "node_modules/.bin/ty", ".venv/bin/python", "bin/python3"] {
        it.shim(shim);
    }
    let (messages, told, _) = it.check(&ASK);
    assert_eq!(messages.len(), 1, "{told}");
    assert!(told.contains("[servers.define.ty] of broker.toml"), "{told}");
    it.expect_no_trace();
}

#[test]
fn no_confined_server_outlives_a_daemon_that_is_killed() {
    let it = place(&[("a.py", "x\n")]);
    it.run(&["branch", "fork", "try"]);
    let (messages, told, _) = it.check(&[&ASK[..], &["--branch", "try"]].concat());
    assert_eq!(messages.len(), 1, "{told}");
    let status: Value =
        serde_json::from_slice(&it.run(&["daemon", "status", "--output-format", "json"]).stdout).unwrap();
    let model = it.place.own("bin").display().to_string();
    let processes = || Command::new("pgrep").args(["-f", &model]).output().unwrap().stdout;
    assert!(!processes().is_empty());
    let pid = status["pid"].as_u64().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let begun = Instant::now();
    while !processes().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(10), "{}", String::from_utf8_lossy(&processes()));
        std::thread::yield_now();
    }
}
