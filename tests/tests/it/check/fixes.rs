//! `--fix`, and the patch of it.

use std::{fs, path::PathBuf};

use insta::assert_snapshot;

use super::{MESSY, Workspace, told};

fn ruff() -> PathBuf {
    let path = std::env::var_os("BROKER_TEST_RUFF");
    path.expect("BROKER_TEST_RUFF must name ruff 0.16.4: run the tests with ./dev test").into()
}

#[test]
fn fixes_are_those_of_ruff() {
    for flags in
        [&["--fix"][..], &["--fix", "--unsafe-fixes"], &["--fix", "--unsafe-fixes", "--select", "ALL"]]
    {
        let (ours, theirs) = (Workspace::new(&MESSY), Workspace::new(&MESSY));
        // Ruff's default rules.
        ours.write("pyproject.toml", "[tool.ruff]\n");
        theirs.write("pyproject.toml", "[tool.ruff]\n");
        let arguments = [&["check", "--no-cache", "pkg"], flags].concat();
        let said = told(&ours.run(&arguments));
        assert!(said.contains(" fixed"), "{said}");
        theirs.isolated(ruff(), &arguments).output().unwrap();
        for (path, before) in MESSY {
            let (ours, theirs) = (ours.read(path), theirs.read(path));
            assert!(ours == theirs, "{flags:?} {path}\n{said}\nbroker: {ours:?}\nruff:   {theirs:?}");
            assert!(ours != before || !path.ends_with("a.py"), "{path} is as it was: the test shows nothing");
        }
    }
}

#[test]
fn a_fixed_file_is_told_of() {
    let it = Workspace::new(&[
        ("a.py", "import os\nx = undefined\n"),
        ("b.py", "x = 1  # broker: ignore[F401]\n"),
    ]);
    assert_snapshot!(it.told(&["--fix", "--unsafe-fixes"]), @"
    exit 1
    a.py:1:5: error python/F821 Undefined name `undefined`
    1 finding in 3 files (1 error, 2 fixed).
    -- stderr
    ");
    assert_eq!((it.read("a.py").as_str(), it.read("b.py").as_str()), ("x = undefined\n", "x = 1\n"));
    assert_snapshot!(it.told(&["--fix"]), @"
    exit 1
    a.py:1:5: error python/F821 Undefined name `undefined`
    1 finding in 3 files (1 error).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--unsafe-fixes"]), @r#"
exit 2
-- stderr
error: --unsafe-fixes says which fixes to make, not to make any
hint: give `--fix` as well, or `--diff`
"#);
}

#[test]
fn what_is_known_or_suppressed_or_off_is_not_fixed() {
    let text = "import os  # broker: ignore[F401]\nimport sys\n";
    let it = Workspace::new(&[("a.py", text)]);
    it.run(&["check", "--baseline", "known.json", "--baseline-update"]);
    assert_eq!(it.run(&["check", "--fix", "--baseline", "known.json"]).status.code(), Some(0));
    assert_eq!(it.read("a.py"), text);
    it.write("broker.toml", "[severity]\nF401 = \"off\"\n");
    assert_eq!(it.run(&["check", "--fix"]).status.code(), Some(0));
    assert_eq!(it.read("a.py"), text);
}

#[test]
fn the_patch_is_what_would_be_fixed() {
    let it = Workspace::new(&MESSY);
    it.git(&["init", "-q"]);
    let output = it.run(&["check", "--diff"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    MESSY.iter().for_each(|(path, text)| assert_eq!(it.read(path), *text, "{path} was written"));
    fs::write(it.own("patch"), &output.stdout).unwrap();
    let patch = it.own("patch");
    it.git(&["apply", patch.to_str().unwrap()]);
    let fixed = Workspace::new(&MESSY);
    fixed.run(&["check", "--fix"]);
    MESSY.iter().for_each(|(path, _)| assert_eq!(it.read(path), fixed.read(path), "{path}"));
    let nothing = it.run(&["check", "--diff"]);
    assert_eq!(told(&nothing), "exit 0\n-- stderr\n0 fixes would be made.\n");
}

#[test]
fn standard_input_is_fixed_to_standard_output() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    let arguments = ["check", "--output-format", "concise", "--fix", "--stdin-filename", "a.py", "-"];
    assert_snapshot!(told(&it.run_with_input(&arguments, "import os\nx = undefined\n")), @"
    exit 1
    x = undefined
    -- stderr
    a.py:1:5: error python/F821 Undefined name `undefined`
    1 finding in 1 file (1 error, 1 fixed).
    ");
    assert_eq!(it.read("a.py"), "x = 1\n");
}

#[test]
fn a_notebook_is_left_alone() {
    let notebook = r##"{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["import os"]}], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}"##;
    let it = Workspace::new(&[("a.ipynb", notebook)]);
    assert_snapshot!(it.told(&["--fix"]), @"
    exit 1
    a.ipynb:cell 1:1:8: warning python/F401 [*] `os` imported but unused
    1 finding in 2 files (1 warning, 1 fixable).
    -- stderr
    warning: notebooks are not fixed: 1 finding in them could be
    ");
    assert_eq!(it.read("a.ipynb"), notebook);
}

/// Temporary names of new texts until they are put in place.
fn hidden(it: &Workspace) -> Vec<String> {
    let names = fs::read_dir(it.root()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    names.filter(|it| it.starts_with(".broker-")).collect()
}

fn journal(it: &Workspace) -> PathBuf {
    let workspaces = fs::read_dir(it.own("state/workspaces")).unwrap();
    let workspaces: Vec<_> = workspaces.map(|it| it.unwrap().path().join("journal")).collect();
    workspaces.into_iter().next().expect("one workspace has a state")
}

/// Kills `--fix` while new texts lie beside the files; where that was too late, once more.
fn kill_a_fix(it: &Workspace, files: &[String]) {
    for _ in 0..200 {
        files.iter().for_each(|file| it.write(file, "import os\nx = 1\n"));
        let mut fixing = it.command(&["check", "--fix", "--select", "F401", "."]);
        let fixing = fixing.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn();
        let mut fixing = tests::place::Ending(fixing.unwrap());
        while hidden(it).is_empty() && fixing.0.try_wait().unwrap().is_none() {}
        drop(fixing);
        if !hidden(it).is_empty() {
            return;
        }
    }
    panic!("never killed while new texts were there");
}

#[test]
fn a_killed_fix_leaves_nothing_behind() {
    let files: Vec<_> = (0..150).map(|it| format!("f{it}.py")).collect();
    for then in [&["check"][..], &["check", "--fix", "--select", "E713"], &["check", "--diff", "f1.py"]] {
        let it = Workspace::new(&[]);
        kill_a_fix(&it, &files);
        let said = told(&it.run(then));
        assert_eq!(hidden(&it), [""; 0], "{then:?}: {said}");
        let fixed = files.iter().filter(|file| it.read(file) == "x = 1\n").count();
        assert!(fixed == 0 || fixed == files.len(), "{fixed} files are fixed");
        let left: Vec<_> = fs::read_dir(journal(&it)).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["lock"], "{said}");
    }
}

#[test]
fn what_cannot_be_recovered_is_told() {
    let it = Workspace::new(&[("a.py", "import os\nx = 1\n")]);
    it.run(&["check", "--fix"]);
    it.write("a.py", "import os\nx = 1\n");
    let damaged = journal(&it).join("commit.decided");
    fs::write(&damaged, "damaged").unwrap();
    let said = it.told(&[]);
    let want = format!("the journal {} is damaged", damaged.display());
    assert!(said.starts_with("exit 1\n") && said.contains("warning: ") && said.contains(&want), "{said}");
    let said = it.told(&["--fix"]);
    assert!(
        said.starts_with("exit 2\n") && said.contains(&format!("error: cannot write the fixes: {want}")),
        "{said}"
    );
    assert_eq!(it.read("a.py"), "import os\nx = 1\n");
}
