//! Findings that an edit causes in other files are reported where only changed files are checked, with the real ty.

use std::process::Command;

use tests::trusted::Trusted;

const FILES: [(&str, &str); 4] = [
    ("lib.py", "def double(x: int) -> int:\n    return 2 * x\n"),
    ("use.py", "from lib import double\n\nprint(double(1))\n"),
    ("far.py", "import use\n\nx: int = \"\"\n"),
    ("other.py", "y: int = \"\"\n"),
];

const EDITED: &str = "def double(x: str) -> str:\n    return 2 * x\n";

/// Paths and rules of what a check finds, and its exit code.
fn check(it: &Trusted, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let output = it.run(&[&["check", "--quiet", "--output-format", "concise"], arguments].concat());
    let told = String::from_utf8(output.stdout).unwrap();
    // A line is `PATH:LINE:COLUMN: SEVERITY RULE MESSAGE`.
    let place = |line: &str| {
        let mut words = line.split(' ');
        format!("{} {}", words.next().unwrap_or_default(), words.nth(1).unwrap_or_default())
    };
    (output.status.code(), told.lines().map(place).collect())
}

fn found(lines: &[&str]) -> (Option<i32>, Vec<String>) {
    (Some(i32::from(!lines.is_empty())), lines.iter().map(|it| (*it).to_owned()).collect())
}

const BROKEN: &str = "use.py:3:14: ty/invalid-argument-type";
const OLD: &str = "far.py:3:10: ty/invalid-assignment";

fn commit(it: &Trusted) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(it.place.root()).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "first"]);
}

#[test]
fn of_a_branch() {
    let Some(it) = Trusted::new(&FILES) else { return };
    commit(&it);
    it.ok(&["branch", "fork", "try"]);
    it.write("lib.py", EDITED);
    let changed = ["--branch", "try", "--changed"];
    assert_eq!(check(&it, &changed), found(&[OLD, BROKEN]));
    assert_eq!(
        check(&it, &[&changed[..], &["--new-only"]].concat()),
        found(&[BROKEN]),
        "compared with its like"
    );
    assert_eq!(check(&it, &[&changed[..], &["--no-dependents"]].concat()), found(&[]));
    let named = ["--branch", "try", "--new-only", "lib.py"];
    assert_eq!(check(&it, &named), found(&[]), "what is named is what is asked");
    assert_eq!(check(&it, &[&named[..], &["--dependents"]].concat()), found(&[BROKEN]));
    assert_eq!(check(&it, &[&changed[..], &["other.py"]].concat()), found(&[]), "nothing changed there");
}

#[test]
fn of_the_disk() {
    let Some(it) = Trusted::new(&FILES) else { return };
    commit(&it);
    it.place.write("lib.py", EDITED);
    assert_eq!(check(&it, &["--changed"]), found(&[OLD, BROKEN]));
    assert_eq!(check(&it, &["--changed", "--select", "python/E999"]).1, [""; 0], "ty is not asked");
    std::fs::remove_file(it.place.root().join("lib.py")).unwrap();
    let missing = "use.py:1:6: ty/import-not-found";
    assert_eq!(check(&it, &["--changed"]), found(&[OLD, missing]), "what is gone is missed");
}

#[test]
fn through_a_link() {
    let users = ["from link.lib import double\n\ndouble(1)\n", "from real.lib import double\n\ndouble(1)\n"];
    let [linked, real] = users;
    let Some(it) = Trusted::new(&[("real/lib.py", FILES[0].1), ("a.py", linked), ("b.py", real)]) else {
        return;
    };
    std::os::unix::fs::symlink("real", it.place.root().join("link")).unwrap();
    it.ok(&["branch", "fork", "try"]);
    it.write("a.py", &format!("{linked}double(2)\n"));
    let check_all = || it.run(&["check", "--branch", "try", "--select", "ty/ALL"]);
    assert_eq!(check_all().status.code(), Some(0), "nothing behind the link is edited");
    it.write("link/lib.py", EDITED);
    let output = check_all();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let want = "`real/lib.py` is also reached through the link `link`, and there it is as on the disk";
    assert!(told.contains(want), "{told}");
}
