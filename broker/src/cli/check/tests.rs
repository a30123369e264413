//! The command without plugins.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use check_engine::{Incomplete, Level, Report, Subject};
use clap::Parser;
use lint::Cancel;
use parking_lot::Mutex;
use tempfile::TempDir;

use super::{
    round::tests::finding,
    show::{Those, exit, warn_of_unchecked},
    *,
};
use crate::ProcessContext;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

fn args(words: &str) -> Args {
    Line::try_parse_from(std::iter::once("check").chain(words.split_whitespace())).unwrap().args
}

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the whole program without plugins in `cwd`; what it printed to both outputs.
fn broker(cwd: &Path, words: &str) -> (Exit, String, String) {
    let (stdout, stderr) = (Captured::default(), Captured::default());
    let process_context = ProcessContext {
        stdin: Box::new(io::empty()),
        stdout: Box::new(stdout.clone()),
        stderr: Box::new(stderr.clone()),
        color_stdout: false,
        color_stderr: false,
        watched: false,
        is_terminal: false,
        cwd: Ok(cwd.to_owned()),
        home: None,
        cache_dir: None,
        bundle: &[],
        compiler: plugin_host::Compiler::Here,
        cancel: Cancel::default(),
    };
    let words = std::iter::once("broker").chain(words.split_whitespace());
    let exit = crate::run(words.map(Into::into), process_context);
    (exit, stdout.text(), stderr.text())
}

#[test]
fn mistakes_are_told_with_a_way_out() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.py"), "").unwrap();
    for (words, message) in [
        ("check", "error: this build of broker carries no plugins\nhint: build it with ./dev build\n"),
        ("plugin list", "error: this build of broker carries no plugins\nhint: build it with ./dev build\n"),
        ("check none.py", "error: cannot check none.py: no such file or directory\n"),
        ("check --stdin-filename new/ -", "error: cannot use new/: it names a directory\n"),
        (
            "check --select , a.py",
            "error: --select names no rule\nhint: without --select, the configuration decides\n",
        ),
        (
            "check -",
            "error: the text on standard input has no name\nhint: say what file it is: `--stdin-filename PATH -`\n",
        ),
        (
            "check --stdin-filename a.py b.py",
            "error: --stdin-filename leaves no room for paths\nhint: give `-` as the path\n",
        ),
        (
            "check --statistics --output-format sarif",
            "error: --statistics has no such format\nhint: it has full, concise, grouped, agent, json and jsonl\n",
        ),
    ] {
        let (exit, stdout, stderr) = broker(dir.path(), words);
        assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Exit::Abnormal, "", message), "{words}");
    }
}

#[test]
fn a_plugin_that_cannot_be_used_is_no_clean_run() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.py"), "").unwrap();
    fs::write(dir.path().join("bad.wasm"), "hello").unwrap();
    let bad = "check --plugin bad.wasm a.py --output-format json";
    let (exit, stdout, stderr) = broker(dir.path(), bad);
    assert_eq!(exit, Exit::Abnormal);
    assert!(stderr.starts_with("error: bad.wasm: "), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["incomplete"][0]["linter"], "bad.wasm");

    let (exit, _, stderr) = broker(dir.path(), &format!("{bad} --allow-incomplete"));
    assert_eq!(exit, Exit::Clean);
    assert!(stderr.starts_with("warning: bad.wasm: "), "{stderr}");
}

#[test]
fn a_watch_does_not_begin_with_a_rule_that_no_linter_has() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.py"), "").unwrap();
    let x = use_plugin(&dir, "x.wasm", "x");
    let (exit, stdout, stderr) = broker(dir.path(), &format!("check {x} --watch --select unknown/X1 a.py"));
    assert_eq!((exit, stdout.as_str()), (Exit::Abnormal, ""));
    assert!(stderr.contains("error: no plugin or language server named `unknown`\n"), "{stderr}");
}

/// A component that consists of its manifest.
fn empty_plugin(name: &str) -> Vec<u8> {
    const SECTION: &str = "broker:plugin";
    let manifest = format!("name='{name}'\nversion='1.0.0'\napi='0.1.0'\ndescription=''\nglobs=['*.py']\n");
    let length = |it: usize| u8::try_from(it).unwrap();
    let size = 1 + SECTION.len() + manifest.len();
    let mut wasm = b"\0asm\x0d\0\x01\0\0".to_vec();
    // A number of two groups of seven bits.
    wasm.extend([length(size & 0x7f) | 0x80, length(size >> 7), length(SECTION.len())]);
    wasm.extend([SECTION.as_bytes(), manifest.as_bytes()].concat());
    wasm
}

/// Puts such a plugin into the folder and says how to use it.
fn use_plugin(dir: &TempDir, file: &str, name: &str) -> String {
    let file = dir.path().join(file);
    fs::write(&file, empty_plugin(name)).unwrap();
    format!("--plugin {}", file.display())
}

#[test]
fn one_plugin_is_not_given_twice() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.py"), "").unwrap();
    let x = use_plugin(&dir, "x.wasm", "x");
    let also = use_plugin(&dir, "also.wasm", "x");
    let y = use_plugin(&dir, "y.wasm", "y");
    let (exit, _, stderr) = broker(dir.path(), &format!("check --show-files a.py {x} {also}"));
    let folder = dir.path().display();
    let twice = format!("error: `{folder}/x.wasm` and `{folder}/also.wasm` are both the plugin `x`\n");
    assert_eq!((exit, stderr), (Exit::Abnormal, format!("{twice}hint: use one of them\n")));
    let (exit, stdout, stderr) = broker(dir.path(), &format!("check --show-files a.py {x} {y}"));
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Exit::Clean, "a.py (x, y)\n", ""));
}

#[test]
fn files_that_cannot_be_shown_are_told() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.py"), "").unwrap();
    let x = use_plugin(&dir, "x.wasm", "x");
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("f.py")).unwrap();
    for (more, message) in [
        ("none.py", "error: none.py not checked: no such file or directory\n"),
        ("f.py", "error: f.py not checked: not a regular file\n"),
        (
            "--plugin none.wasm",
            "error: none.wasm: cannot read the plugin none.wasm: No such file or directory (os error 2)\n",
        ),
    ] {
        let words = format!("check --show-files {x} a.py {more}");
        let (exit, stdout, stderr) = broker(dir.path(), &words);
        assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Exit::Abnormal, "a.py (x)\n", message));
        let (exit, ..) = broker(dir.path(), &format!("{words} --allow-incomplete"));
        assert_eq!(exit, Exit::Clean);
    }
}

#[test]
fn a_named_file_that_is_no_file_is_incomplete() {
    let dir = TempDir::new().unwrap();
    let x = use_plugin(&dir, "x.wasm", "x");
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("f.py")).unwrap();
    let (exit, stdout, stderr) = broker(dir.path(), &format!("check {x} f.py"));
    assert_eq!(exit, Exit::Abnormal);
    assert_eq!(stdout, "No findings in 0 files; 1 path could not be read.\n");
    assert_eq!(stderr, "error: f.py not checked: not a regular file\n");
}

#[test]
fn a_configuration_from_elsewhere_is_not_checked_itself() {
    let (dir, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(dir.path().join("a.py"), "").unwrap();
    let x = use_plugin(&dir, "x.wasm", "x");
    let config = outside.path().join("config.py");
    fs::write(&config, "").unwrap();
    let words = format!("check --show-files {x} --config {}", config.display());
    let (exit, stdout, stderr) = broker(dir.path(), &words);
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Exit::Clean, "a.py (x)\n", ""));
}

#[test]
fn what_is_left_out_is_warned_of() {
    let left_out = ["gen", ""].map(|it| overlay::WorkspacePath::new(it).unwrap());
    let report = Report { left_out: left_out.into(), ..Report::default() };
    let stderr = Captured::default();
    let messages = crate::console::Messages::new(Box::new(stderr.clone()), false);
    warn_of_unchecked(
        &messages,
        &config::root::WorkspaceRoot::new("/w".into(), "/w".into()),
        Those::default(),
        &report,
    );
    assert_eq!(
        stderr.text(),
        "warning: no plugin checked any file under `.`: the configuration leaves it out\n\
         warning: no plugin checked any file under `gen`: the configuration leaves it out\n"
    );
}

#[test]
fn what_is_left_out_for_its_content_says_so() {
    let path = |it: &str| overlay::WorkspacePath::new(it).unwrap();
    let excluded = |it: &str| check_engine::Excluded {
        path: path(it),
        linter: "css".into(),
        in_part: false,
        reason: "it is a template".into(),
    };
    let excluded = vec![excluded("a.css"), excluded("b/x.css"), excluded("b/y.css")];
    let warned = |report: &Report, those: Those| {
        let stderr = Captured::default();
        let messages = crate::console::Messages::new(Box::new(stderr.clone()), false);
        warn_of_unchecked(
            &messages,
            &config::root::WorkspaceRoot::new("/w".into(), "/w".into()),
            those,
            report,
        );
        stderr.text()
    };
    let named = Report { left_out: ["a.css", "b"].map(path).into(), excluded, ..Report::default() };
    assert_eq!(
        warned(&named, Those::default()),
        "warning: no plugin checked any file under `a.css`: css leaves it out: it is a template\n\
         warning: no plugin checked any file under `b`: 2 files are left out for their content, which -v tells\n"
    );
    let all = Report { left_out: [].into(), ..named };
    let text =
        "warning: no plugin checked any file: 3 files are left out for their content, which -v tells\n";
    assert_eq!(warned(&all, Those::default()), text);
    let unchanged = Those { are_of_changes: true, is_unchanged: true, has_excludes: false };
    assert_eq!(warned(&Report::default(), unchanged), "warning: nothing to check: no file changed\n");
    let excluded = Those { has_excludes: true, ..Those::default() };
    assert_eq!(warned(&Report::default(), excluded), "warning: all files were excluded\n");
    let changed = Those { are_of_changes: true, ..Those::default() };
    let text = "warning: no plugin is interested in any file that changed\n";
    assert_eq!(warned(&Report::default(), changed), text);
}

#[test]
fn help_is_no_mistake() {
    let (exit, stdout, stderr) = broker(Path::new("/"), "check --help");
    assert_eq!((exit, stderr.as_str()), (Exit::Clean, ""));
    assert!(stdout.contains("--stdin-filename"));
    let (exit, stdout, stderr) = broker(Path::new("/"), "check --nonsense");
    assert_eq!((exit, stdout.as_str()), (Exit::Abnormal, ""));
    assert!(stderr.contains("--nonsense"));
}

#[test]
fn exit_codes_tell_findings_from_what_was_not_checked() {
    let clean = Report::default();
    let incomplete = Incomplete {
        subject: Subject::Everything,
        linter: None,
        level: Level::Partial,
        reason: "why".to_owned(),
    };
    let found = vec![finding(None)];
    let findings = Report { findings: found.clone(), ..Report::default() };
    let failed = Report { incomplete: vec![incomplete.clone()], ..Report::default() };
    let both = Report { findings: found, incomplete: vec![incomplete], ..Report::default() };
    for (words, [of_clean, of_findings, of_failed, of_both]) in [
        ("", [Exit::Clean, Exit::Findings, Exit::Abnormal, Exit::Abnormal]),
        ("--exit-zero", [Exit::Clean, Exit::Clean, Exit::Abnormal, Exit::Abnormal]),
        ("--allow-incomplete", [Exit::Clean, Exit::Findings, Exit::Clean, Exit::Findings]),
        ("--exit-zero --allow-incomplete", [Exit::Clean, Exit::Clean, Exit::Clean, Exit::Clean]),
    ] {
        let args = args(words);
        assert_eq!(exit(&args, &clean), of_clean, "{words}");
        assert_eq!(exit(&args, &findings), of_findings, "{words}");
        assert_eq!(exit(&args, &failed), of_failed, "{words}");
        assert_eq!(exit(&args, &both), of_both, "{words}");
    }
}

#[test]
fn arguments_are_understood() {
    let parsed = args("--select F,E501 --select W --timeout 0.5 -j 3");
    assert_eq!(parsed.select.unwrap(), ["F", "E501", "W"]);
    assert_eq!((parsed.timeout, parsed.jobs), (Duration::from_millis(500), Some(3)));
    assert_eq!(parsed.paths, [Path::new(".")]);
    for (bad, why) in [
        ("0", "no file can be checked in no time"),
        ("-1", "no file can be checked in no time"),
        ("x", "not a number of seconds"),
        ("nan", "not a number of seconds"),
        ("inf", "a year, which is 31536000 seconds, is the longest there is"),
        ("1e30", "a year, which is 31536000 seconds, is the longest there is"),
    ] {
        assert_eq!(seconds(bad).unwrap_err(), why, "{bad}");
    }
}
