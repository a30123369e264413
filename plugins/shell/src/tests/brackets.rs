//! Findings for tests whose `]` has no space before it.

use super::*;

/// C036 says of a test what C030 and C031 would, with their fix.
#[test]
fn brackets_without_a_space() {
    let findings = |line: &str| {
        let text = format!("#!/bin/sh\n{line}\n");
        let found = report(&[("a.sh", &text)], settings(), "a.sh").unwrap().diagnostics;
        let of = |it: &Diagnostic| (it.code.clone(), it.message.ends_with("before it"), it.fixes.len());
        found.iter().map(of).collect::<Vec<_>>()
    };
    let one = || ("C036".to_owned(), true, 1);
    for line in
        ["[ -d \"$1\"] && :", "if [ \"$1\" = no]; then :; fi", "! [ ! -e /x] || :", "x=$([ -s /x] && y)"]
    {
        assert_eq!(findings(line), [one()], "{line}");
    }
    assert_eq!(findings("[ -f /x] && :\n[ -f /y] || :"), [one(), one()]);
    assert_eq!(findings("[ -f /x && :"), [("C036".to_owned(), false, 0)]);
    let chosen = report(&[("a.sh", "[ -f /x]\n")], select(&["C030"]), "a.sh").unwrap().diagnostics;
    assert_eq!(chosen[0].message, "put a space before the closing test bracket");
}
