//! Scripts that BusyBox runs.

use super::*;

/// Forms that BusyBox's `sh` has, each with the rule that reports it elsewhere.
const KNOWN: [(&str, &str); 10] = [
    ("[[ a == b ]]", "X001"),
    ("[ a == b ]", "X002"),
    ("function f() { :; }", "X052"),
    ("cat <(a)", "X006"),
    ("echo $'a'", "X007"),
    ("a &>/dev/null", "X012"),
    ("trap a ERR", "X017"),
    ("echo \"${a:1}\"", "X023"),
    ("echo \"${a/b/c}\"", "X025"),
    ("source ./a", "X031"),
];

/// Forms that it lacks as well.
const UNKNOWN: [(&str, &str); 6] = [
    ("a=(b)", "X013"),
    ("((a))", "X008"),
    ("cat <<<a", "X011"),
    ("echo {a,b}", "X010"),
    ("declare a", "X016"),
    ("echo \"${a^^}\"", "X024"),
];

fn run(files: &[(&str, &str)], line: &str) -> String {
    let script = format!("#!/bin/sh\n{line}\n");
    let files: Vec<_> = files.iter().copied().chain([("app/root/run.sh", script.as_str())]).collect();
    lines_of(&files, settings(), "app/root/run.sh")
}

#[test]
fn scripts_in_images_of_alpine() {
    let dockerfile = "FROM debian AS build\nRUN make\nFROM alpine:3\nCOPY root/ /\n";
    for (line, code) in KNOWN {
        assert_eq!(run(&[("app/Dockerfile", dockerfile)], line), "", "{line}");
        assert!(run(&[], line).contains(code), "{line}: {}", run(&[], line));
    }
    for (line, code) in UNKNOWN {
        assert!(run(&[("app/Dockerfile", dockerfile)], line).contains(code), "{line}");
    }
}

#[test]
fn scripts_in_other_images() {
    let is_known = |files: &[(&str, &str)]| run(files, "[[ a == b ]]").is_empty();
    assert!(is_known(&[("app/root/alpine.Dockerfile", "FROM python:3-alpine\nCOPY run.sh /\n")]));
    assert!(is_known(&[("Containerfile", "FROM busybox\nADD app /\n")]));
    assert!(is_known(&[
        ("app/Dockerfile", "FROM alpine\nCOPY . /\n"),
        ("Dockerfile", "FROM debian\nCOPY . /\n")
    ]));
    for other in [
        "FROM debian\nCOPY . /\n",
        "FROM alpine\nCOPY other /\n",
        "FROM alpine\nFROM $base\nCOPY . /\n",
        "FROM alpine AS a\nFROM debian\nCOPY --from=a . /\n",
    ] {
        assert!(!is_known(&[("app/Dockerfile", other)]), "{other}");
    }
    let both =
        [("app/Dockerfile", "FROM alpine\nCOPY . /\n"), ("app/Dockerfile.deb", "FROM debian\nCOPY . /\n")];
    assert!(!is_known(&both), "it runs in both");
}

#[test]
fn scripts_that_call_alpines_package_manager() {
    assert_eq!(check("#!/bin/sh\napk add --no-cache curl\n[[ a == b ]]\n"), "");
    assert!(check("#!/bin/sh\necho apk add\n[[ a == b ]]\n").contains("X001"));
    let configured = [("a.sh", "#!/bin/sh\napk add a\n[[ a == b ]]\n"), (".shuck.toml", "")];
    assert!(lines_of(&configured, settings(), "a.sh").contains("X001"));
}
