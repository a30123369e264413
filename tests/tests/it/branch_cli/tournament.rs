//! Tournaments: candidates compared, and receipts that are computed again.

use super::*;

/// A module with an unused import and a defect, and a test of it.
fn place() -> Place {
    Place::new(&[
        ("calc.py", "import os\n\n\ndef add(a, b):\n    return a - b\n"),
        ("test_calc.py", "from calc import add\n\nassert add(2, 3) == 5\n"),
    ])
}

const PYTHON: &str = "python3 -B test_calc.py";

fn patched(from: &str, to: &str) -> String {
    format!("--- a/calc.py\n+++ b/calc.py\n@@ -5 +5 @@\n-{from}\n+{to}\n")
}

/// Writes patches beside the workspace, and returns their paths.
fn patches(it: &Place, all: &[(&str, &str)]) -> Vec<String> {
    let write = |(name, line): &(&str, &str)| {
        let file = it.own(&format!("{name}.patch"));
        fs::write(&file, patched("    return a - b", line)).unwrap();
        file.to_str().unwrap().to_owned()
    };
    all.iter().map(write).collect()
}

/// Candidates as arguments.
fn arguments<'a>(patches: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let patches = patches.iter().flat_map(|it| ["--patch", it]);
    ["branch", "tournament"].into_iter().chain(patches).chain(more.iter().copied()).collect()
}

#[test]
fn the_best_candidate_is_first_and_losers_go() {
    let it = place();
    let files = patches(
        &it,
        &[
            ("wrong", "    return a * b"),
            ("right", "    return a + b"),
            ("undefined", "    return a + b + (c if False else 0)"),
            ("same", "    return b + a"),
        ],
    );
    let told = it.told(&arguments(&files, &["--test", PYTHON, "--discard-losers"]));
    let (exit, stdout, stderr) = &told;
    assert_eq!((*exit, stderr.as_str()), (0, ""), "{stdout}");
    let lines: Vec<_> = stdout.lines().filter(|it| it.starts_with(|it: char| it.is_ascii_digit())).collect();
    let begins = [
        "1 (tie) right  test passed",
        "1 (tie) same  test passed",
        "3 undefined  test passed",
        "4 wrong  test failed with 1",
    ];
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{stdout}");
    }
    assert!(
        lines[2]
            .contains("1 new error, 1 new finding, 0 fixed, +1 -1 in 1 file  behind by: fewest new errors"),
        "{stdout}"
    );
    assert!(stdout.contains("  new calc.py:5:21 python/F821 Undefined name `c`"), "{stdout}");
    assert!(stdout.contains("  | AssertionError"), "{stdout}");
    let order = "order: no refused edit and no conflict; test passed; fewest new errors; fewest new findings; most fixed; fewest changed lines\n";
    assert!(stdout.contains(order), "{stdout}");
    assert!(stdout.ends_with("discarded undefined\ndiscarded wrong\n"), "{stdout}");
    let left = it.json(&["branch", "list"]);
    let left: Vec<_> = left.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(left, ["right", "same"]);
    it.ok(&["branch", "commit", "right"]);
    assert!(it.read("calc.py").contains("return a + b\n"));
}

#[test]
fn a_receipt_is_computed_again_and_a_changed_byte_is_told() {
    let it = place();
    it.ok(&["branch", "fork", "own"]);
    it.ok_with_input(&["branch", "write", "own", "calc.py"], "def add(a, b):\n    return a + b\n");
    let files = patches(&it, &[("right", "    return a + b"), ("wrong", "    return a")]);
    let mut command = arguments(&files, &["own", "--timeout", "60s", "--output-format", "json", "--"]);
    command.extend(PYTHON.split(' '));
    let (exit, receipt, stderr) = it.told(&command);
    assert_eq!((exit, stderr.as_str()), (0, ""), "{receipt}");
    let parsed: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!((&parsed["format"], &parsed["ranking"][0]["candidate"]), (&1.into(), &"own".into()));
    assert_eq!(parsed["candidates"][2]["test"]["exit_code"], 1);
    let (compared, _) = receipt.split_once("\"observed\"").unwrap();
    assert!(!compared.contains(it.root().to_str().unwrap()), "it is of no machine: {receipt}");

    // The branches may be gone, and the workspace be elsewhere.
    it.ok(&["branch", "discard", "own", "right", "wrong"]);
    let verify = |it: &Place, receipt: &str| {
        let file = it.own("receipt.json");
        fs::write(&file, receipt).unwrap();
        it.told(&["branch", "tournament", "--verify", file.to_str().unwrap()])
    };
    let same = (0, "everything is as the receipt has it\n".to_owned(), String::new());
    assert_eq!(verify(&it, &receipt), same);
    let elsewhere = place();
    let note = "note: in another folder, linters are compared by name and version\n";
    assert_eq!(verify(&elsewhere, &receipt), (0, format!("{note}{}", same.1), String::new()));
    assert_eq!(it.ok(&["branch", "list"]), "", "nothing is left of it");

    for (from, to, told) in [
        ("\"rank\": 3", "\"rank\": 2", "differs  ranking[2].rank: 2, now 3\n"),
        ("\"exit_code\": 1", "\"exit_code\": 0", "differs  candidates[2].test.exit_code: 0, now 1\n"),
        ("return a + b\\n\"", "return a - b\\n\"", "differs  candidates[0].tree: "),
    ] {
        assert!(receipt.contains(from), "{from}: {receipt}");
        let (exit, stdout, stderr) = verify(&it, &receipt.replacen(from, to, 1));
        assert!(exit == 1 && stderr.is_empty() && stdout.contains(told), "{told}: {stdout}{stderr}");
    }

    elsewhere.write("test_calc.py", "from calc import add\n\nassert add(2, 3) == 6\n");
    let (exit, stdout, _) = verify(&elsewhere, &receipt);
    assert!(exit == 1 && stdout.contains("differs  base.tree: "), "{stdout}");
    assert!(stdout.contains("differs  candidates[0].test.exit_code: 0, now 1\n"), "{stdout}");
    let (exit, _, stderr) = verify(&it, "{\"format\": 2}");
    assert!(exit == 2 && stderr.contains("receipt of format 2"), "{stderr}");
}

#[test]
fn what_is_refused_and_what_is_not_run_is_told() {
    let it = place();
    let files = patches(&it, &[("right", "    return a + b")]);
    let bad = it.own("bad.patch");
    fs::write(&bad, patched("    return nothing", "    return a + b")).unwrap();
    let files = [files[0].clone(), bad.to_str().unwrap().to_owned()];
    let (exit, stdout, stderr) = it.told(&arguments(&files, &["--rank-by", "tests,lines"]));
    assert_eq!((exit, stderr.as_str()), (0, ""), "{stdout}");
    assert!(
        stdout.starts_with("1 right  0 new errors") && stdout.contains("\n2 bad  refused  behind by: test"),
        "{stdout}"
    );
    assert!(stdout.ends_with("order: test passed; fewest changed lines\n"), "{stdout}");
    it.ok(&["branch", "discard", "right"]);
    let (exit, stdout, _) = it.told(&arguments(&files, &["--", "no-such-program"]));
    assert!(exit == 2 && stdout.contains("test not run: "), "{stdout}");
    let (exit, _, stderr) = it.told(&["branch", "tournament", "right"]);
    assert!(exit == 2 && stderr.contains("two or more"), "{stderr}");
    let (exit, _, stderr) = it.told(&["branch", "tournament", "right", "--timeout", "3s"]);
    assert!(exit == 2 && stderr.contains("--timeout"), "{stderr}");
}
