//! Findings for tests whose `]` has no space before it.

use super::*;

/// SC1073 says of a test what SC1019 and SC1020 would, with their fix.
#[test]
fn brackets_without_a_space() {
    let findings = |line: &str| {
        let text = format!("#!/bin/sh\n{line}\n");
        let found = report(&[("a.sh", &text)], settings(), "a.sh").unwrap().diagnostics;
        let of = |it: &Diagnostic| (it.code.clone(), it.message.ends_with("before it"), it.fixes.len());
        found.iter().map(of).collect::<Vec<_>>()
    };
    let one = || ("SC1073".to_owned(), true, 1);
    for line in
        ["[ -d \"$1\"] && :", "if [ \"$1\" = no]; then :; fi", "! [ ! -e /x] || :", ": \"$([ -s /x] && y)\""]
    {
        assert_eq!(findings(line), [one()], "{line}");
    }
    assert_eq!(findings("[ -f /x] && :\n[ -f /y] || :"), [one(), one()]);
    assert_eq!(findings("[ -f /x && :"), [("SC1073".to_owned(), false, 0)]);
    let chosen = report(&[("a.sh", "[ -f /x]\n")], select(&["SC1019"]), "a.sh").unwrap().diagnostics;
    assert_eq!(chosen[0].message, "put a space before the closing test bracket");
}
