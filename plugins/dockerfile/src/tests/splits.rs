//! Findings for variables without quotes in `RUN`.

use super::{check, only};

#[test]
fn variables_without_quotes() {
    let run = |script: &str| only(&["SC2086"], &format!("FROM a:1\nRUN {script}\n"));
    assert_eq!(run("rm -rf $x/b"), "2 SC2086 \"$x\"");
    assert_eq!(run("a \\\n  && b \"$c\"$d ${e%.*}"), "3 SC2086 \"$d\", 3 SC2086 \"${e%.*}\"");
    assert_eq!(run("a \"$(b $c)\" > d"), "2 SC2086 \"$c\"");
    assert_eq!(run("x=$(a) && b $x"), "2 SC2086 \"$x\"");
    assert_eq!(run("a `b $c`"), "2 SC2086 \"$c\"");
    assert_eq!(run("if [ -d $x ]; then b; fi"), "2 SC2086 \"$x\"");
    for script in [
        "rm -rf \"$x/b\" \"${y}\"",
        "x=$y a",
        "$cmd a",
        "a $? $# $$ ${#b}",
        "a '$b' \\$c",
        "[[ -d $x ]]",
        "case $x in a) b ;; esac",
        "for x in $y; do a \"$x\"; done",
        "export A=$b",
        "v=1.2-3; curl a/$v.tar",
        "a ${b:+\"$b\"} ${c+d}",
        "a $(b) `c`",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    assert_eq!(check("FROM a:1\nRUN rm -rf $x/b\n"), "", "off by default");
}
