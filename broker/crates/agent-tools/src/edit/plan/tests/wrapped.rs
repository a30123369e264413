//! Patches in what mails, tools and models put around them.

use proptest::{collection::vec, prelude::*, sample::select};

use super::*;

const FILES: [(&str, &str); 8] = [
    ("small.py", "a = 1\nb = 2\n"),
    ("small.json", "{\n  \"a\": 1\n}\n"),
    ("small.md", "# One\n"),
    ("small.txt", "one\n"),
    ("Makefile", "all:\n\ttrue\n"),
    ("NOTES", "one\ntwo\n"),
    ("case.snap", ""),
    ("page.html", "<p>one</p>\n"),
];

/// Texts before a patch, and after it.
const WRAPPINGS: [(&str, &str); 12] = [
    ("", ""),
    ("Sure:\n\n", ""),
    ("Here it is.\n```diff\n", "```\nTell me more.\n"),
    ("```\n", "```"),
    ("commit 0123456789abcdef\nAuthor: A\n\n    one\n\n", ""),
    (
        "From 0123456789abcdef Mon Sep 17 00:00:00 2001\nSubject: [PATCH] one\n\n---\n x | 2 +-\n\n",
        "-- \n2.47.3\n\n",
    ),
    ("# HG changeset patch\n# User a\n", ""),
    ("git apply <<'EOF'\n", "EOF\n"),
    ("x = \"\"\"\n", "\"\"\"\n"),
    ("# Why\n\nBecause.\n\n- one\n- two\n\n## How\n\n", "\n## Then\n\nNothing.\n"),
    ("| a |\n|---|\n", ""),
    ("\n\nfn main() {\n", "}\n"),
];

/// Patches of a file `%` that does not have what they replace, of a new one, or that are broken.
const PATCHES: [&str; 10] = [
    "--- a/%\n+++ b/%\n@@ -1,2 +1,2 @@\n-nothing\n+something\n like this\n",
    "diff --git a/% b/%\nindex 1..2 100644\n--- a/%\n+++ b/%\n@@ -1 +1 @@\n-nothing\n+something\n",
    "diff --git a/% b/%\nnew file mode 100644\n--- /dev/null\n+++ b/%\n@@ -0,0 +1 @@\n+new\n",
    "diff --cc %\nindex 1,2..3\n--- a/%\n+++ b/%\n@@@ -1,1 -1,1 +1,1 @@@\n--nothing\n++something\n",
    "--- a/%\n+++ b/%\n",
    "--- a/%\n+++ b/%\n-nothing\n+something\n",
    "@@ -1 +1 @@\n-nothing\n+something\n",
    "*** Begin Patch\n*** Update File: %\n@@\n-nothing\n+something\n*** End Patch\n",
    "*** Begin Patch\n*** Update File: %\n@@\n-nothing\n+something\n",
    "*** %\n--- %\n***************\n*** 1 ****\n! nothing\n--- 1 ----\n! something\n",
];

/// A whole document or test may have a patch of another file in it.
fn may_be_text(target: &str, named: &str, wrapping: &(&str, &str)) -> bool {
    let is_text = [".md", ".txt", "NOTES", "Makefile"].iter().any(|it| target.ends_with(it));
    named != target && (wrapping.0.contains("\"\"\"") || (is_text && wrapping.0.contains("## ")))
}

#[test]
fn no_file_becomes_the_text_of_a_patch() {
    let view = Memory::from_files(FILES).unwrap();
    let targets = FILES.iter().map(|it| it.0).chain(["fresh.py", "fresh.md", "docs/fresh.txt", "fresh"]);
    let trees = Trees::new(1 << 20);
    for target in targets {
        for (wrapping, patch) in WRAPPINGS.iter().flat_map(|a| PATCHES.iter().map(move |b| (a, b))) {
            for named in [target, "other.c"].into_iter().filter(|it| !may_be_text(target, it, wrapping)) {
                let edit = [wrapping.0, &patch.replace('%', named), wrapping.1].concat();
                let path = WorkspacePath::new(target).unwrap();
                let done =
                    plan(&view, Some(&path), &edit, None, &|_| None, &trees, &|| false).and_then(Plan::all);
                let written = done.iter().flatten().filter_map(|it| match it {
                    FileChange::Write { applied, .. } | FileChange::Move { applied, .. } => {
                        Some(&applied.text)
                    }
                    FileChange::Delete { .. } => None,
                });
                for text in written {
                    assert!(
                        !text.contains("@@") && !text.contains("---") && !text.contains("***"),
                        "{target}: {edit}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_patches_of_a_mailbox_are_applied_one_after_the_other() {
    let mail = |subject: &str, patch: &str| {
        format!(
            "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n\
             From: A <a@example.com>\nSubject: [PATCH] {subject}\n\nA reason:\n- one\n+ two\n\n---\n \
             x | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n{patch}-- \n2.47.3\n\n"
        )
    };
    let diff = |path: &str, old: &str, new: &str| {
        format!(
            "diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"
        )
    };
    let moved = "diff --git a/y b/z\nsimilarity index 100%\nrename from y\nrename to z\n";
    let edit = mail("one", &diff("x", "1", "2")) + &mail("two", &(diff("x", "2", "3") + moved));
    let before = files(&[("x", "1\n"), ("y", "y\n")]);
    assert_eq!(after(&before, &edit), files(&[("x", "3\n"), ("z", "y\n")]));
}

#[test]
fn a_refusal_of_several_files_says_of_which_it_is() {
    let view = Memory::from_files([("a", "a\n"), ("b", "b\n"), ("c", "b\nb\n")]).unwrap();
    let refused = |edit: &str| {
        let all =
            plan(&view, None, edit, None, &|_| None, &Trees::new(1 << 20), &|| false).and_then(Plan::all);
        all.unwrap_err().to_string()
    };
    let diff = |path: &str, hunk: &str| format!("--- a/{path}\n+++ b/{path}\n{hunk}");
    let first = diff("a", "@@ -1 +1 @@\n-a\n+A\n");
    let good = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n";
    for (edit, want) in [
        (
            first.clone() + &diff("b", "@@\n-no\n+N\n"),
            "what part 1 of the edit of `b` replaces is not in the file: `no`",
        ),
        (
            first.clone() + &diff("c", "@@\n-b\n+N\n"),
            "what part 1 of the edit of `c` replaces is in the file 2 times, first at lines [1, 2]",
        ),
        (
            first.clone() + &diff("b", "@@ -1,2 +1,2 @@\n-b\nc\n+C\n"),
            "line 10 of the edit of `b`: a line of a hunk begins with a space, `+` or `-`",
        ),
        (
            first.clone() + &diff("b", ""),
            "line 6 of the edit: the diff of `b` has no hunks (`@@ -1,3 +1,3 @@`)",
        ),
        (
            first.clone() + &diff("b", "@@ -1 +1 @@\n-b\n+b\n"),
            "`b`: the edit changes nothing: the file reads like this already",
        ),
        (first + &diff("n", "@@ -1 +1 @@\n-b\n+b\n"), "`n`: no such file or directory"),
        (
            format!("{good}*** Add File: d\n+d\n*** Update File: b\n@@\n b\n-no\n+N\n*** End Patch\n"),
            "what part 1 of the edit of `b` replaces is not in the file: `no`",
        ),
        (
            format!("{good}*** Update File: b\n@@\nb\n-no\n+N\n*** End Patch\n"),
            "line 8 of the edit of `b`: a line of a chunk begins with a space, `+` or `-`",
        ),
        (format!("{good}*** Update File: b\n*** End Patch\n"), "line 6 of the edit: nothing is done to `b`"),
    ] {
        assert_eq!(refused(&edit), want, "{edit}");
    }
}

/// Lines that mean something in a patch or around one.
const LINES: [&str; 36] = [
    "",
    " ",
    " a = 1",
    "-a = 1",
    "+a = 2",
    "a = 1",
    "@@",
    "@@ -1,2 +1,2 @@",
    "@@ def f():",
    "@@@ -1 -1 +1 @@@",
    "diff --git a/small.py b/small.py",
    "diff -r 0 small.py",
    "--- a/small.py",
    "+++ b/small.py",
    "--- /dev/null",
    "new file mode 100644",
    "rename from x",
    "index 1..2",
    "Index: small.py",
    "-- ",
    "2.47.3",
    "---",
    "```",
    "```diff",
    "Sure:",
    "commit 0123456789abcdef",
    "From: a",
    "Subject: b",
    "*** Begin Patch",
    "*** Update File: small.py",
    "*** Add File: b",
    "*** End Patch",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "\\ No newline at end of file",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn any_lines_are_applied_or_refused(lines in vec(select(&LINES[..]), 0..16), target in select(&FILES[..])) {
        let view = Memory::from_files(FILES).unwrap();
        let path = WorkspacePath::new(target.0).unwrap();
        for path in [None, Some(&path)] {
            let _either = plan(&view, path, &lines.join("\n"), None, &|_| None, &Trees::new(1 << 16), &|| false).and_then(Plan::all);
        }
    }
}
