//! Which files a patch is of: its names, the target, moves and deletions.

use super::*;

/// Returns the outcome of an edit of a workspace, a line for each file; `%` stands for a hunk from `a = 1` to `a = 3`.
fn planned(before: &[(&str, &str)], target: &str, edit: &str) -> Vec<String> {
    let view = Memory::from_files(before.iter().copied()).unwrap();
    let target = Some(target).filter(|it| !it.is_empty()).map(|it| WorkspacePath::new(it).unwrap());
    let edit = edit.replace('%', "@@ -1,2 +1,2 @@\n-a = 1\n+a = 3\n b = 2\n");
    let shown = |it: &FileEdit| match &it.outcome {
        Ok(FileChange::Write { path, applied, .. }) => format!("{path} = {:?}", applied.text),
        Ok(FileChange::Delete { path }) => format!("{path} is deleted"),
        Ok(FileChange::Move { from, to, applied, replaces: false, .. }) => {
            format!("{from} -> {to} = {:?}", applied.text)
        }
        Ok(FileChange::Move { from, to, applied, .. }) => format!("{from} -> {to}: {}", applied.notes[0]),
        Err(refused) => format!("refused: {refused}"),
    };
    match plan(&view, target.as_ref(), &edit, None, &|_| None, &Trees::new(1 << 20), &|| false) {
        Ok(plan) => plan.files.iter().map(shown).collect(),
        Err(refused) => vec![format!("refused: {refused}")],
    }
}

const OLD: &str = "a = 1\nb = 2\n";
const NEW: &str = r#"= "a = 3\nb = 2\n""#;

#[test]
fn names_of_diffs_are_literal_but_for_gits_prefixes() {
    let both = [("foo.py", OLD), ("a/foo.py", OLD), ("b/foo.py", OLD)];
    for (target, edit, want) in [
        ("a/foo.py", "--- foo.py\n+++ a/foo.py\n%", format!("a/foo.py {NEW}")),
        ("a/foo.py", "--- a/foo.py\n+++ a/foo.py\n%", format!("a/foo.py {NEW}")),
        ("", "--- a/foo.py\n+++ a/foo.py\n%", format!("a/foo.py {NEW}")),
        ("", "--- b/foo.py\n+++ b/foo.py\n%", format!("b/foo.py {NEW}")),
        ("", "--- a/foo.py\n+++ b/foo.py\n%", format!("foo.py {NEW}")),
        ("", "--- foo.py\n+++ a/foo.py\n%", "refused: the edit may be of `foo.py` or of `a/foo.py`".into()),
        (
            "",
            "--- foo.py.orig\n+++ foo.py\n%",
            "refused: the edit may be of `foo.py.orig` or of `foo.py`".into(),
        ),
        ("foo.py", "--- foo.py.orig\n+++ foo.py\n%", format!("foo.py {NEW}")),
        ("foo.py", "--- foo.py\n+++ foo_new.py\n%", format!("foo.py {NEW}")),
        (
            "",
            "--- a/foo.py\n+++ b/foo_new.py\n%",
            "refused: the edit may be of `foo.py` or of `foo_new.py`".into(),
        ),
    ] {
        assert_eq!(planned(&both, target, edit), [want], "{target} {edit}");
    }
}

#[test]
fn the_only_file_of_a_patch_is_the_target() {
    let both = [("foo.py", OLD), ("src/foo.py", OLD), ("src/only.py", OLD)];
    let codex =
        |path| format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a = 1\n+a = 3\n*** End Patch\n");
    let diff = |path| format!("--- a/{path}\n+++ b/{path}\n%");
    for edit in [codex("foo.py"), diff("foo.py"), "%".to_owned()] {
        assert_eq!(planned(&both, "src/foo.py", &edit), [format!("src/foo.py {NEW}")], "{edit}");
        assert_eq!(planned(&both, "foo.py", &edit), [format!("foo.py {NEW}")], "{edit}");
    }
    for edit in [codex("foo.py"), diff("foo.py")] {
        let want = "refused: the edit is of `foo.py`, not of this file";
        assert_eq!(planned(&both, "src/only.py", &edit), [want], "{edit}");
        assert_eq!(planned(&both, "", &edit), [format!("foo.py {NEW}")], "{edit}");
    }
    for edit in [codex("only.py"), diff("only.py")] {
        assert_eq!(planned(&both, "src/only.py", &edit), [format!("src/only.py {NEW}")], "{edit}");
    }
    let two = diff("foo.py") + &diff("src/foo.py");
    assert_eq!(planned(&both, "src/only.py", &two), ["refused: the edit is of several files"]);
    for target in ["foo.py", "src/foo.py", ""] {
        assert_eq!(planned(&both, target, &two).len(), 2);
    }
}

#[test]
fn a_short_name_does_not_do_to_delete_or_to_replace_a_file() {
    let both = [("foo.py", OLD), ("src/foo.py", OLD), ("src/only.py", OLD)];
    let codex = |body| format!("*** Begin Patch\n*** {body}\n*** End Patch\n");
    let unclear = "refused: the edit may be of `foo.py` or of `src/foo.py`";
    assert_eq!(planned(&both, "src/foo.py", &codex("Delete File: foo.py")), [unclear]);
    assert_eq!(planned(&both, "src/foo.py", &codex("Add File: foo.py\n+x")), [unclear]);
    assert_eq!(planned(&both, "src/only.py", &codex("Delete File: only.py")), ["src/only.py is deleted"]);
    assert_eq!(planned(&both, "src/new.py", &codex("Add File: new.py\n+x")), [r#"src/new.py = "x\n""#]);
}

#[test]
fn files_are_moved_only_by_gits_lines_and_never_onto_others() {
    let before = [("x", OLD), ("y", "there\n")];
    let rename = |to| format!("diff --git a/x b/{to}\nsimilarity index 90\nrename from x\nrename to {to}\n");
    let moved = |to| rename(to) + &format!("--- a/x\n+++ b/{to}\n%");
    assert_eq!(planned(&before, "", &moved("new/z")), [format!("x -> new/z {NEW}")]);
    assert_eq!(planned(&before, "new/z", &rename("new/z")), [format!("x -> new/z = {OLD:?}")]);
    let taken = "refused: `y`: the diff moves a file to where another one is";
    assert_eq!(planned(&before, "", &moved("y")), [taken]);
    assert_eq!(planned(&before, "y", &rename("y")), [taken]);
    // Codex replaces the file.
    let codex = "*** Begin Patch\n*** Update File: x\n*** Move to: y\n@@\n-a = 1\n+a = 3\n*** End Patch\n";
    assert_eq!(planned(&before, "", codex), ["x -> y: the file that was at `y` is replaced"]);
}

#[test]
fn diffs_without_lines_are_done() {
    let before = [("x", ""), ("y", OLD)];
    let diff = |path: &str, rest: &str| format!("diff --git a/{path} b/{path}\n{rest}\n");
    assert_eq!(planned(&before, "", &diff("d/z", "new file mode 100644\nindex 0..e")), [r#"d/z = """#]);
    assert_eq!(planned(&before, "", &diff("x", "deleted file mode 100644\nindex e..0")), ["x is deleted"]);
    assert_eq!(planned(&before, "", &diff("y", "deleted file mode 100644")), ["y is deleted"]);
    assert_eq!(
        planned(&before, "", &diff("y", "old mode 100644\nnew mode 100755")),
        ["refused: `y`: the diff changes its mode only, which edits cannot do"]
    );
    assert_eq!(
        planned(&before, "", "--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a = 1\n"),
        ["refused: `y`: the diff deletes the file, but does not have all of its lines"]
    );
    let quoted = r#""a/caf\303\251" "b/caf\303\251""#;
    let new = format!(
        "diff --git {quoted}\nnew file mode 100644\n--- /dev/null\n+++ \"b/caf\\303\\251\"\n@@ -0,0 +1 @@\n+x\n"
    );
    assert_eq!(planned(&before, "", &new), [r#"café = "x\n""#]);
}

#[test]
fn a_new_name_may_have_gits_prefix_or_a_folder_of_that_name() {
    let new = "--- /dev/null\n+++ b/z\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(planned(&[("y", OLD)], "", new), [r#"z = "x\n""#]);
    let before = [("b/y", OLD)];
    assert_eq!(planned(&before, "", new), ["refused: the edit may be of `z` or of `b/z`"]);
    assert_eq!(planned(&before, "b/z", new), [r#"b/z = "x\n""#]);
    assert_eq!(planned(&before, "", &format!("diff --git a/z b/z\n{new}")), [r#"z = "x\n""#]);
}

#[test]
fn a_reading_is_of_one_file() {
    let view = Memory::from_files([("x", "1\n1\n"), ("y", "1\n1\n")]).unwrap();
    let trees = Trees::new(1 << 20);
    let diff = |path| format!("--- a/{path}\n+++ b/{path}\n@@\n-1\n+2\n");
    let edit = diff("x") + &diff("y");
    let refused = plan(&view, None, &edit, None, &|_| None, &trees, &|| false).unwrap().files[0]
        .outcome
        .clone()
        .unwrap_err();
    let picked =
        plan(&view, None, &edit, Some(&refused.readings[0].id), &|_| None, &trees, &|| false).unwrap();
    assert!(picked.files[0].outcome.is_ok());
    assert!(matches!(&picked.files[1].outcome, Err(it) if it.reason == Reason::NoSuchReading));
}
