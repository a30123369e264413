//! Commands that ask for rights or for confirmation.

use super::{check, report, settings};

/// DL3004: sudo is of use where the build runs as another user.
#[test]
fn sudo_of_users() {
    for text in [
        "FROM a:1\nUSER dev\nRUN sudo x\n",
        "FROM a:1\nUSER root\nUSER 1000:1000\nRUN sudo x\n",
        "FROM a:1\nARG WHO=dev\nUSER $WHO\nRUN sudo x\n",
        "FROM a:1 AS up\nUSER dev\nFROM up AS mid\nFROM mid\nRUN sudo x\n",
        "FROM a:1 AS up\nUSER root\nFROM up AS mid\nUSER dev\nFROM mid\nRUN sudo x\n",
    ] {
        assert_eq!(check(text), "", "{text}");
    }
    for text in [
        "FROM a:1\nUSER root\nUSER dev\nUSER 0:5\nRUN sudo x\nUSER dev\n",
        "FROM a:1 AS up\nUSER dev\nFROM up\nUSER root\nRUN sudo x\nUSER dev\n",
        "FROM a:1 AS up\nUSER dev\nFROM a:1\nONBUILD USER dev\nRUN sudo x\n",
    ] {
        assert_eq!(check(text), "5 DL3004 \"sudo\"", "{text}");
    }
}

#[test]
fn messages_on_commands() {
    let message = |text: &str| {
        report(&[("Dockerfile", text)], settings(), "Dockerfile").unwrap().diagnostics.pop().unwrap().message
    };
    let is_root = "`RUN` already runs as root: remove `sudo`";
    for text in [
        "FROM alpine:3\nRUN sudo x\n",
        "FROM a:1\nUSER 0\nRUN sudo x\n",
        "FROM fedora:42 AS b\nFROM b\nRUN sudo x\n",
    ] {
        assert_eq!(message(text), is_root, "{text}");
    }
    assert_eq!(message("FROM me/alpine:3\nRUN sudo x\n"), "choose the user with `USER` instead of `sudo`");
    let confirmed = "`apt-get install` waits for confirmation: add `-y`";
    assert_eq!(message("FROM a:1\nRUN apt-get install x\n"), confirmed);
}
