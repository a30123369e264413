//! What is said of bash's commands in `RUN`.

use super::check;

#[test]
fn commands_of_bash() {
    let run = |script: &str| check(&format!("FROM ubuntu:24.04\nRUN {script}\n"));
    assert_eq!(run("if [[ -d /a ]]; then b; fi"), "2 SC3010 \"[[\"");
    assert_eq!(run("a && source ./b && c"), "2 SC3046 \"source\"");
    assert_eq!(run("cd a; pushd b; x=$(popd)"), "2 SC3044 \"pushd\", 2 SC3044 \"popd\"");
    for script in [
        "[ -d /a ] && . ./b",
        "bash -c '[[ -d /a ]]; source b'",
        "echo [[ source pushd # [[ a ]]",
        "source ./a || . ./a",
        "command -v pushd && pushd /a",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    assert_eq!(check("FROM ubuntu:24.04\nRUN [\"bash\", \"-c\", \"[[ a ]]\"]\n"), "");
}

#[test]
fn where_the_shell_is_dash() {
    let from = |lines: &str| check(&format!("FROM {lines}\nRUN source a\n"));
    for lines in ["debian:12-slim", "docker.io/library/ubuntu:22.04", "node:20-bookworm-slim", "debian:$V"] {
        assert!(from(lines).contains("SC3046"), "{lines}: {}", from(lines));
    }
    assert!(from("debian:12 AS a\nFROM a").contains("SC3046"));
    assert!(from("debian:12\nSHELL [\"/bin/sh\", \"-c\"]").contains("SC3046"));
    for lines in [
        "alpine:3",
        "centos:7",
        "me/debian:12",
        "python:3",
        "debian:12\nSHELL [\"/bin/bash\", \"-c\"]",
        "debian:12\nRUN ln -sf bash /bin/sh",
        "debian:12 AS a\nSHELL [\"bash\", \"-c\"]\nFROM a",
    ] {
        assert!(!from(lines).contains("SC30"), "{lines}: {}", from(lines));
    }
}
