//! Findings for options that are run as commands.

use super::*;

/// `line code message` of each finding.
fn messages(lines: &str) -> Vec<String> {
    let text = format!("#!/bin/bash\n{lines}\n");
    let found = report(&[("a.sh", &text)], settings(), "a.sh").unwrap().diagnostics;
    let line = |it: &Diagnostic| text[..it.span.start as usize].matches('\n').count() + 1;
    found.iter().map(|it| format!("{} {} {} {}", line(it), it.code, it.fixes.len(), it.message)).collect()
}

#[test]
fn a_comment_in_a_command_is_one_finding() {
    let ends = "the comment ends the command, so that `--deep` is run as a command of its own";
    assert_eq!(messages("tool --wide \\\n  # --high \\\n  --deep x"), [format!("3 SC1143 0 {ends}")]);
    let two = messages("tool --wide \\\n  # --high \\\n  # --low \\\n  --deep x");
    assert_eq!(two, [format!("3 SC1143 0 {ends}")]);
    let above = "the comment above ends the command, so that `-d` is run as a command of its own";
    assert_eq!(messages("tool --wide \\\n  # why\n  -d x"), [format!("4 SC2215 0 {above}")]);
}

#[test]
fn an_option_or_a_patch() {
    let lacks = "`--deep` is an option, and is run as a command: the line before it may lack a `\\`";
    assert_eq!(messages("tool --wide\n  --deep x"), [format!("3 SC2215 0 {lacks}")]);
    let patch = messages("--- a/sample");
    assert!(patch.len() == 1 && patch[0].contains("leftover patch text"), "{patch:?}");
    let words = messages("tool wide \\\n  # high \\\n  deep");
    assert!(words.len() == 1 && words[0].starts_with("3 SC1143 1 "), "{words:?}");
}
