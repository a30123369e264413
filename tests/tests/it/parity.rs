//! Comparison with the `ruff` program of the same version, which must have the same findings on a few hundred files and a project
//! with configuration, stubs and a notebook. `./dev bench parity` does it on whole packages.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tests::broker;

fn ruff() -> PathBuf {
    let path = std::env::var_os("BROKER_TEST_RUFF");
    path.expect("BROKER_TEST_RUFF must name ruff 0.16.4: run the tests with ./dev test").into()
}

/// Path, cell, line, column, code.
type Place = (String, Option<u64>, u64, u64, String);

fn json(mut command: Command) -> Value {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn theirs(root: &Path, arguments: &[&str]) -> BTreeSet<Place> {
    let mut command = Command::new(ruff());
    command.args(["check", "--no-cache", "--output-format=json"]).args(arguments).current_dir(root);
    let report = json(command);
    let place = |it: &Value| {
        let path = Path::new(it["filename"].as_str()?).strip_prefix(root).ok()?.to_str()?.to_owned();
        let (line, column) = (it["location"]["row"].as_u64()?, it["location"]["column"].as_u64()?);
        Some((path, it["cell"].as_u64(), line, column, it["code"].as_str()?.to_owned()))
    };
    report.as_array().unwrap().iter().map(|it| place(it).unwrap_or_else(|| panic!("{it:#}"))).collect()
}

fn ours(root: &Path, arguments: &[&str]) -> BTreeSet<Place> {
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(broker());
    command.args(["check", "--output-format=json"]).args(arguments).current_dir(root);
    command.env("BROKER_CACHE_DIR", cache.path());
    let report = json(command);
    assert_eq!(report["incomplete"].as_array().unwrap().len(), 0, "{:#}", report["incomplete"]);
    let place = |it: &Value| {
        let text = |key: &str| it[key].as_str().map(str::to_owned);
        Some((
            text("path")?,
            it["cell"].as_u64(),
            it["line"].as_u64()?,
            it["column"].as_u64()?,
            text("code")?,
        ))
    };
    let findings = report["findings"].as_array().unwrap().iter().filter(|it| it["linter"] == "python");
    findings.map(|it| place(it).unwrap_or_else(|| panic!("{it:#}"))).collect()
}

/// The two sets must be the same, but for the rules that look at file modes.
fn same(root: &Path, arguments: &[&str], at_least: usize) {
    let root = fs::canonicalize(root).unwrap();
    let mut theirs = theirs(&root, arguments);
    theirs.retain(|it| !matches!(it.4.as_str(), "EXE001" | "EXE002"));
    let ours = ours(&root, arguments);
    let missing: Vec<_> = theirs.difference(&ours).take(10).collect();
    let surplus: Vec<_> = ours.difference(&theirs).take(10).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "only ruff: {missing:#?}\nonly broker: {surplus:#?}");
    assert!(ours.len() >= at_least, "only {} findings: the test shows nothing", ours.len());
}

#[test]
fn packages_of_the_standard_library() {
    let show = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let output = Command::new("python3").args(["-c", show]).output().unwrap();
    let stdlib = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    let folder = tempfile::tempdir().unwrap();
    for package in ["asyncio", "email", "json", "unittest", "xml", "importlib", "multiprocessing", "tkinter"]
    {
        copy(&stdlib.join(package), &folder.path().join(package));
    }
    same(folder.path(), &["--isolated", "--select", "ALL", "."], 5_000);
    write(folder.path(), &[("ruff.toml", "")]);
    same(folder.path(), &["."], 500);
}

/// Whether a rule of ruff's defaults is on in a project that does not configure ruff, as listed in
/// `docs/reference/linters/python.md`.
fn is_about_what_is_broken(code: &str) -> bool {
    const CERTAIN: &str = "B002 B012 B015 B016 B021 B022 B025 B029 B030 B031 B032 B033 B035";
    let linter = code.trim_end_matches(|it: char| it.is_ascii_digit());
    match linter {
        "F" => code != "F541",
        "YTT" => code == "YTT101" || code == "YTT102" || code == "YTT103",
        "invalid-syntax" => true,
        "PLE" => code != "PLE0704",
        "E" => code.starts_with("E9"),
        _ => CERTAIN.split(' ').any(|it| it == code),
    }
}

#[test]
fn a_project_without_configuration() {
    let text = "import os\nimport socket\nimport sys\nfrom itertools import tee\nfrom typing import List, Optional, Union\n\n\n\
        def f(a: List[int], b: Optional[int], c: Union[int, str]) -> str:\n    a.sort\n    a = a\n    a == b\n\
        \x20   first = sorted(a)[0]\n    name = \"ab\"\n    if name.startswith(\"a\"):\n        name = name[1:]\n\
        \x20   if sys.version_info < (3, 8) or sys.version[0] == \"2\":\n        raise socket.timeout\n\
        \x20   return name, bin(first).count(\"1\"), list(zip(a, a[1:])), b, c, tee, undefined\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.py", text)]);
    let root = fs::canonicalize(folder.path()).unwrap();
    let broken = || -> BTreeSet<Place> {
        theirs(&root, &["."]).into_iter().filter(|it| is_about_what_is_broken(&it.4)).collect()
    };
    assert_eq!(ours(&root, &["."]), broken());
    assert!(broken().len() > 2, "the test shows nothing");
    write(&root, &[("pyproject.toml", "[project]\nname = \"x\"\nrequires-python = \">=3.10\"\n")]);
    assert_eq!(ours(&root, &["."]), broken());
    write(&root, &[("pyproject.toml", "[tool.ruff]\n")]);
    same(&root, &["."], 10);
}

/// Python files only; a distribution may lack some packages.
fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    fs::create_dir_all(to).unwrap();
    for entry in entries.map(|it| it.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if target.extension().is_some_and(|it| it == "py") {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

const NOTEBOOK: &str = r##"{"cells": [
 {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
 {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["import os\n", "%matplotlib inline\n", "x = 1"]},
 {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["import sys\n", "def f(a=[]): return undefined"]}],
 "metadata": {"kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python"}},
 "nbformat": 4, "nbformat_minor": 5}"##;

#[test]
fn a_project_with_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "pyproject.toml",
            "[project]\nname = \"x\"\nrequires-python = \">=3.9\"\n[tool.ruff.lint]\nselect = [\"ALL\"]\n[tool.ruff.lint.per-file-ignores]\n\"tests/*\" = [\"D\", \"S101\"]\n",
        ),
        ("src/app/__init__.py", ""),
        (
            "src/app/main.py",
            "import os, sys\nfrom typing import List\nfrom app import other\n\ndef f(x: List[int]) -> None:\n\tassert x\n",
        ),
        ("src/app/other.py", "# ruff: noqa: D100\nimport re  # noqa: F401\nx = 1  # noqa: E501\n"),
        ("src/app/stub.pyi", "import os\ndef f(x: int = 1000000000000) -> None: ...\n"),
        ("tests/test_a.py", "def test_a():\n    assert 'a𐐀b' == u'x'; y = 1\n"),
        (
            "nested/ruff.toml",
            "extend = \"../pyproject.toml\"\nlint.ignore = [\"I\"]\nexclude = [\"skip_*.py\"]\n",
        ),
        ("nested/kept.py", "import sys, os\r\nif True :\r\n  pass\r\n"),
        ("nested/skip_me.py", "import os\n"),
        ("alone/.ruff.toml", "line-length = 20\nlint.select = [\"E501\", \"W\"]\n"),
        ("alone/long.py", "x = 'a line that is far too long for that' \n"),
        ("bom.py", "\u{feff}import os\n"),
        ("broken.py", "def f(:\n    x = (1,\n"),
        ("tool", "#!/usr/bin/env python\nimport os\n"),
        ("note.ipynb", NOTEBOOK),
        ("build/generated.py", "import os\n"),
        ("mode.py", "#!/usr/bin/env python\n# ruff: noqa: EXE001\n"),
    ];
    write(folder.path(), &files);
    same(folder.path(), &["."], 50);
    same(folder.path(), &["--select", "F,E,W", "--ignore", "E501", "."], 5);
    same(folder.path(), &["build/generated.py", "nested/skip_me.py"], 2);
    same(folder.path(), &["--config", "nested/ruff.toml", "."], 50);
}

#[test]
fn folders_that_are_named_by_patterns() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "ruff.toml",
            "src = ['packages/*/lib', 'plain']\nnamespace-packages = ['space', 'packages/o*']\n\
             lint.select = ['I', 'INP', 'F']\n",
        ),
        ("packages/one/lib/own/__init__.py", ""),
        ("packages/two/lib/mine.py", "import re\n"),
        ("plain/ours.py", ""),
        ("space/inner/m.py", "import os\nimport own\nimport zlib\n"),
        ("use.py", "import mine\nimport os\nimport ours\nimport own\nimport requests\n"),
        ("sorted.py", "import os\n\nimport requests\n\nimport mine\nimport ours\nimport own\n"),
    ];
    write(folder.path(), &files);
    same(folder.path(), &["."], 12);
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}
