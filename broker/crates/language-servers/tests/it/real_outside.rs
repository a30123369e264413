//! Real servers and what is outside of the view: what is installed and removed, files that come to be on the disk, and
//! what they would fetch. Where they are named, as in `isolation.rs`.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use language_servers::{LanguageServer, Pool, Setup};
use lint::{Cancel, Completeness, Job, Linter, Outcome, Unit};
use overlay::{Branch, View};

use crate::{bench::path, real_queries::setup};

/// For the program that a variable names.
fn program(variable: &str) -> Option<OsString> {
    let program = std::env::var_os(variable);
    if program.is_none() {
        println!("skipped: {variable} does not name a server");
    }
    program
}

fn ask(linter: &LanguageServer, view: Arc<dyn View>, unit: &str) -> Outcome {
    let units = vec![Unit { path: path(unit), named: path("") }];
    let job =
        Job { view, units, cancel: Cancel::default(), timeout: Duration::from_secs(60), is_awaited: false };
    let mut outcomes = Vec::new();
    linter.check(&job, &mut |_, it| outcomes.push(it));
    outcomes.remove(0)
}

fn codes(outcome: &Outcome) -> Vec<&str> {
    outcome.diagnostics.iter().map(|it| it.code.as_str()).collect()
}

/// An environment of Python that is only in `PATH`, with its folder of packages.
fn environment(folder: &Path, setup: &mut Setup) -> PathBuf {
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(folder).status().unwrap();
    assert!(made.success());
    let rest = std::env::var_os("PATH").unwrap();
    let all = [folder.join("bin")].into_iter().chain(std::env::split_paths(&rest));
    setup.launch.env.push(("PATH".into(), Some(std::env::join_paths(all).unwrap())));
    let lib = fs::read_dir(folder.join("lib")).unwrap().next().unwrap().unwrap().path();
    lib.join("site-packages")
}

#[test]
fn ty_sees_what_is_installed_and_removed() {
    let Some(ty) = program("BROKER_TEST_TY") else { return };
    let (folder, python) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("a.py"), "import zzmod\n").unwrap();
    let mut setup = setup("ty", ty, folder.path());
    let packages = environment(python.path(), &mut setup);
    let pool = Pool::default();
    let finds = || {
        let linter = LanguageServer::in_pool(&pool, setup.clone()).unwrap();
        let outcome = ask(&linter, Arc::clone(&setup.disk), "a.py");
        assert_eq!(outcome.completeness, Completeness::Complete, "{outcome:?}");
        outcome.diagnostics.len()
    };
    for _ in 0..2 {
        assert_eq!(finds(), 1);
        fs::create_dir(packages.join("zzmod")).unwrap();
        fs::write(packages.join("zzmod/__init__.py"), "").unwrap();
        assert_eq!(finds(), 0);
        fs::remove_dir_all(packages.join("zzmod")).unwrap();
    }
    assert_eq!(finds(), 1);
}

/// Checks ty's findings in a new module and in its importer, on a branch and once the module is on the disk.
#[test]
fn ty_finds_a_new_file_that_was_committed() {
    let Some(ty) = program("BROKER_TEST_TY") else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("other.py"), "import os\n").unwrap();
    let setup = setup("ty", ty, folder.path());
    let pool = Pool::default();
    let linter = LanguageServer::in_pool(&pool, setup.clone()).unwrap();
    let files = [
        ("newm.py", "def f() -> int: return 1\n"),
        ("user.py", "from newm import f\nimport no_such_module\ns: str = f()\n"),
    ];
    let mut branch = Branch::new(Arc::clone(&setup.disk));
    for (name, text) in files {
        branch.write(&path(name), text.into()).unwrap();
    }
    let view: Arc<dyn View> = Arc::new(branch.snapshot());
    let user = ask(&linter, Arc::clone(&view), "user.py");
    let why = "`newm.py` is not on the disk, and ty may not see it from other files".to_owned();
    assert_eq!(user.completeness, Completeness::Partial(why));
    let lines: Vec<_> = user.diagnostics.iter().map(|it| it.message.contains("no_such_module")).collect();
    assert_eq!(lines, [true], "{user:?}");
    assert_eq!(ask(&linter, view, "other.py").completeness, Completeness::Complete);
    ask(&linter, Arc::clone(&setup.disk), "other.py");
    // Committed, or made by hand.
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    let user = ask(&linter, Arc::clone(&setup.disk), "user.py");
    assert_eq!(user.completeness, Completeness::Complete);
    assert_eq!(codes(&user).last(), Some(&"invalid-assignment"), "{user:?}");
    assert_eq!(user.diagnostics.len(), 2, "{user:?}");
}

/// Longer than it takes until it would be run.
const LONG_ENOUGH: Duration = Duration::from_secs(5);

#[test]
fn typescript_runs_no_npm() {
    let Some(tsc) = program("BROKER_TEST_TYPESCRIPT") else { return };
    let (folder, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = [
        ("tsconfig.json", "{\"include\": [\"src\"]}"),
        ("package.json", "{\"dependencies\": {\"express\": \"4\"}}"),
        ("outside.js", "const express = require('express');\nexpress();\n"),
    ];
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    let log = bin.path().join("log");
    fs::write(bin.path().join("npm"), format!("#!/bin/sh\necho $* >> '{}'\nexit 1\n", log.display()))
        .unwrap();
    fs::set_permissions(bin.path().join("npm"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut setup = setup("typescript", tsc, folder.path());
    let rest = std::env::var_os("PATH").unwrap();
    let all = [bin.path().to_owned()].into_iter().chain(std::env::split_paths(&rest));
    setup.launch.env.push(("PATH".into(), Some(std::env::join_paths(all).unwrap())));
    setup.launch.env.push(("XDG_CACHE_HOME".into(), Some(bin.path().into())));
    let pool = Pool::default();
    let linter = LanguageServer::in_pool(&pool, setup.clone()).unwrap();
    let end = Instant::now() + LONG_ENOUGH;
    // Nothing tells that it is not run.
    while Instant::now() < end {
        ask(&linter, Arc::clone(&setup.disk), "outside.js");
        assert!(!log.exists(), "npm {}", fs::read_to_string(&log).unwrap());
        thread::sleep(Duration::from_millis(100));
    }
}
