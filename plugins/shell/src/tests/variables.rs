//! Variables that are unused or unset.

use super::*;

/// SC2154: only where no other text may set it.
#[test]
fn names_that_nothing_assigns() {
    let sh = |lines: &str| every(&format!("#!/bin/bash\n{lines}\n"));
    assert_eq!(sh("names=(a)\necho \"$nmaes\" \"${names[@]}\""), "3 SC2154 \"$nmaes\"");
    let found = report(&[("a.sh", "#!/bin/sh\necho \"$nmae\"\n")], settings(), "a.sh").unwrap();
    assert_eq!(found.diagnostics[0].severity, Severity::Warning, "something else may have set it");
    assert_eq!(sh("echo \"$enable_prof\""), "2 SC2154 \"$enable_prof\"");
    assert_eq!(sh("names=1\necho \"$NAMES\" \"$names\""), "", "of the environment");
    assert_eq!(sh("names=1\n. \"./lib.sh\"\necho \"$nmaes\" \"$names\""), "", "of a sourced file");
    assert_eq!(sh("eval 'declare -gA sets=()'\nset=1\nsets[emoji]=\"$set\""), "", "of `eval`");
    assert_eq!(every("names=1\necho \"$nmaes\" \"$names\"\n"), "", "who sources this may set it");
    let zsh = "#!/bin/zsh\nword=1\nprint $words $curcontext $word\n";
    assert_eq!(every(zsh), "", "zsh's own");
    assert!(lines_of(&[("a.sh", "echo \"$a\"\n")], select(&["SC2154"]), "a.sh").contains("SC2154"));
}

/// SC2034: only where no other text may use it.
#[test]
fn names_that_nothing_uses() {
    let sh = |lines: &str| every(&format!("#!/bin/bash\n{lines}\n"));
    assert_eq!(sh("foo=1\nreadonly bar=2"), "2 SC2034 \"foo\", 3 SC2034 \"bar\"");
    assert_eq!(sh("f() { local foo=1; }\nf"), "2 SC2034 \"foo\"");
    assert_eq!(sh("f() { local foo=1; }\nf\n. \"./a.sh\""), "");
    assert_eq!(sh("f() { local foo=1; trap 'echo $foo' EXIT; }\nf"), "");
    assert_eq!(sh("f() { local -x foo=1; env; }\nf"), "", "for other programs");
    assert!(lines_of(&[("a.sh", "foo=1\n")], select(&["SC2034"]), "a.sh").contains("SC2034"));
    assert_eq!(every("foo=1\n"), "", "for who sources this");
}
