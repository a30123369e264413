//! Scripts that BusyBox runs.

use super::*;

/// Forms that BusyBox's `sh` has, each with the rule that reports it elsewhere.
const KNOWN: [(&str, &str); 10] = [
    ("[[ a == b ]]", "SC3010"),
    ("[ a == b ]", "SC3014"),
    ("function f() { :; }", "SC2112"),
    ("cat <(a)", "SC3001"),
    ("echo $'a'", "SC3003"),
    ("a &>/dev/null", "SC3020"),
    ("trap a ERR", "SC3047"),
    ("echo \"${a:1}\"", "SC3057"),
    ("echo \"${a/b/c}\"", "SC3060"),
    ("source ./a", "SC3046"),
];

/// Forms that it lacks as well.
const UNKNOWN: [(&str, &str); 6] = [
    ("a=(b)", "SC3030"),
    ("((a))", "SC3006"),
    ("cat <<<a", "SC3011"),
    ("echo {a,b}", "SC3009"),
    ("declare a", "SC3044"),
    ("echo \"${a^^}\"", "SC3059"),
];

fn run(files: &[(&str, &str)], line: &str) -> String {
    let script = format!("#!/bin/sh\n{line}\n");
    let files: Vec<_> = files.iter().copied().chain([("app/root/run.sh", script.as_str())]).collect();
    mistakes(&lines_of(&files, settings(), "app/root/run.sh"))
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
    assert!(check("#!/bin/sh\necho apk add\n[[ a == b ]]\n").contains("SC3010"));
    let configured = [("a.sh", "#!/bin/sh\napk add a\n[[ a == b ]]\n"), (".shuck.toml", "")];
    assert!(lines_of(&configured, settings(), "a.sh").contains("SC3010"));
}
