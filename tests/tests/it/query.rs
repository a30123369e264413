//! `broker query` with the real ty, where `BROKER_TEST_TY` names it: what is told is true of the branch.

use serde_json::Value;
use tests::trusted::Trusted;

const LIBRARY: &str = "def double(x: int) -> int:\n    return 2 * x\n";
const USE: &str = "from lib import double\n\nprint(double(1))\n";

#[test]
fn places_are_those_of_the_branch() {
    let Some(it) = Trusted::new(&[("lib.py", LIBRARY), ("use.py", USE)]) else { return };
    it.ok(&["branch", "fork", "try"]);
    it.write("lib.py", &format!("# 😀\n\n{LIBRARY}"));
    it.write("use.py", "from lib import double\n\n\"😀\"; print(double(1))\n");
    let asked = ["query", "definition", "use.py:3:12"];
    assert_eq!(it.ok(&[&asked[..], &["--branch", "try"]].concat()), "lib.py:3:5\n");
    let references = it.ok(&["query", "references", "lib.py:3:6", "--branch", "try"]);
    assert_eq!(references, "lib.py:3:5\nuse.py:1:17\nuse.py:3:12\n");
    assert_eq!(it.ok(&["query", "definition", "use.py:3:8"]), "lib.py:1:5\n", "the disk is as it was");
    let hover: Value = serde_json::from_str(&it.ok(&[
        "query",
        "hover",
        "use.py:3:12",
        "--branch",
        "try",
        "--output-format",
        "json",
    ]))
    .unwrap();
    assert!(hover["items"][0]["documentation"].as_str().unwrap().contains("def double"), "{hover}");
}

#[test]
fn a_new_name_is_an_edit_of_the_branch() {
    let Some(it) = Trusted::new(&[("lib.py", LIBRARY), ("use.py", USE)]) else { return };
    it.ok(&["branch", "fork", "try"]);
    let rename = ["query", "rename", "lib.py:1:5", "twice", "--branch", "try"];
    let told = it.ok(&rename);
    assert_eq!(told, "changes   lib.py in 1 place\nchanges   use.py in 2 places\n");
    assert_eq!(it.ok(&["branch", "diff", "try", "--name-only"]), "", "nothing was asked to be changed");
    let told = it.ok(&[&rename[..], &["--apply"]].concat());
    assert!(told.ends_with("revision 1\n"), "{told}");
    assert_eq!(it.ok(&["check", "--branch", "try", "--quiet"]), "", "the project is as right as before");
    assert!(it.ok(&["branch", "diff", "try"]).contains("+print(twice(1))"));
    assert_eq!(it.place.read("use.py"), USE, "the disk is as it was");
}

#[test]
fn what_has_no_answer_says_why() {
    let Some(it) = Trusted::new(&[("lib.py", LIBRARY)]) else { return };
    let refused = |arguments: &[&str]| {
        let output = it.run(&[&["query"], arguments].concat());
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap().replace(it.place.root().to_str().unwrap(), "ROOT"),
        )
    };
    it.ok(&["branch", "fork", "try"]);
    let (exit, told) = refused(&["format", "lib.py"]);
    assert_eq!(
        (exit, told.as_str()),
        (Some(2), "error: ty: the server does not have this: textDocument/formatting\n")
    );
    let (exit, told) = refused(&["definition", "lib.py"]);
    assert!(exit == Some(2) && told.contains("`broker query definition` needs a place"), "{told}");
    let (exit, told) = refused(&["symbols", "ty.toml"]);
    assert!(exit == Some(2) && told.contains("no language server handles `ty.toml`"), "{told}");
    it.ok(&["trust", "--revoke"]);
    assert_eq!(refused(&["symbols", "lib.py"]), (Some(0), String::new()), "it is confined now");
}
