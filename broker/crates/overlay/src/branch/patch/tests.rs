//! Patches as they come, and what is said of those that do not fit.

use std::sync::Arc;

use super::*;
use crate::{Memory, View};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn branch() -> Branch {
    let files = [
        ("src/a.py", "one\ntwo\nthree\n"),
        ("dos.txt", "x\r\ny\r\n"),
        ("odd name.txt", "o\n"),
        ("d/only", "l\n"),
    ];
    let mut memory = Memory::from_files(files).unwrap();
    memory.insert_file(&path("run.sh"), "#!\n".into(), true);
    memory.insert_symlink(&path("link"), "src");
    memory.insert_file(&path("data"), vec![0, 255].into(), false);
    Branch::new(Arc::new(memory))
}

/// Every file and link, as `path: text`, where it differs from the base.
fn check(patch: &str) -> Result<Vec<String>, String> {
    let mut branch = branch();
    let before = branch.snapshot();
    match branch.apply_patch(patch) {
        Ok(applied) => assert_eq!((applied.revision, branch.log().len()), (Revision(1), 1)),
        Err(error) => {
            assert_eq!(branch.revision(), Revision(0));
            return Err(error.to_string());
        }
    }
    let after = branch.snapshot();
    let line = |it: super::super::Change| match after.metadata(&it.path) {
        Ok(found) if found.kind == FileKind::Symlink => {
            format!("{}: -> {}", it.path, after.read_link(&it.path).unwrap())
        }
        Ok(found) if found.kind == FileKind::File => {
            let bytes = after.read(&it.path).unwrap();
            let bit = if found.executable { "*" } else { "" };
            format!("{}{bit}: {}", it.path, String::from_utf8_lossy(&bytes))
        }
        Ok(_) => format!("{}/", it.path),
        Err(_) => format!("{}: gone", it.path),
    };
    Ok(after.changes(&before).unwrap().into_iter().map(line).collect())
}

#[test]
fn several_files_at_once() {
    let patch = "\
From: somebody

diff --git a/src/a.py b/src/a.py
index 1234567..89abcde 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,3 @@ def f():
 one
-two
+2
 three
diff --git a/new/b.py b/new/b.py
new file mode 100755
--- /dev/null
+++ b/new/b.py
@@ -0,0 +1 @@
+b
\\ No newline at end of file
diff --git a/d/only b/d/only
deleted file mode 100644
--- a/d/only
+++ /dev/null
@@ -1 +0,0 @@
-l
diff --git a/odd name.txt \"b/t\\303\\251\\tb\"
similarity index 90%
rename from odd name.txt
rename to \"t\\303\\251\\tb\"
--- a/odd name.txt\t
+++ \"b/t\\303\\251\\tb\"
@@ -1 +1 @@
-o
+O
diff --git a/run.sh b/run.sh
old mode 100755
new mode 100644
diff --git a/run.sh b/run2.sh
similarity index 100%
copy from run.sh
copy to run2.sh
diff --git a/l b/l
new file mode 120000
--- /dev/null
+++ b/l
@@ -0,0 +1 @@
+d/x
\\ No newline at end of file
--\u{20}
2.47
";
    let want = [
        "d: gone",
        "l: -> d/x",
        "new/",
        "new/b.py*: b",
        "run.sh: #!\n",
        "run2.sh: #!\n",
        "src/a.py: one\n2\nthree\n",
        "t\u{e9}\tb: O\n",
    ];
    let mut got = check(patch).unwrap();
    got.retain(|it| it != "d/only: gone" && it != "odd name.txt: gone");
    assert_eq!(got, want);
}

#[test]
fn plain_patches_with_and_without_prefixes() {
    let hunk = "@@ -2,2 +2,2 @@\n two\n-three\n+3\n";
    let want = ["src/a.py: one\ntwo\n3\n"];
    for names in [
        "--- a/src/a.py\n+++ b/src/a.py\n",
        "--- src/a.py\t2024-01-01 00:00:00\n+++ src/a.py\t2024-01-02 00:00:00\n",
        "--- src/a.py.orig\n+++ src/a.py\n",
        "Index: src/a.py\n===\n--- src/a.py\n+++ src/a.py\n",
    ] {
        assert_eq!(check(&format!("{names}{hunk}")).unwrap(), want, "{names}");
        let crlf = format!("{names}{hunk}").replace('\n', "\r\n");
        assert_eq!(check(&crlf).unwrap(), want, "with CR LF: {names}");
    }
    assert_eq!(check("--- dos.txt\n+++ dos.txt\n@@ -2 +2 @@\n-y\n+z\n").unwrap(), ["dos.txt: x\r\nz\r\n"]);
}

/// Patches of `git diff` with `diff.mnemonicPrefix`, `-R` or `--no-prefix`, of folders of any name.
#[test]
fn prefixes_of_git() {
    let added = |[old, new]: [&str; 2], name: &str| {
        format!(
            "diff --git {old}{name} {new}{name}\nnew file mode 100644\nindex 0000000..d3b9e4f\n\
             --- /dev/null\n+++ {new}{name}\n@@ -0,0 +1 @@\n+n\n"
        )
    };
    let pairs = ["i w", "c i", "c w", "o w", "1 2", "w i", "a b", "b a"];
    for pair in pairs.map(|it| it.split_once(' ').unwrap()) {
        let prefixes = [pair.0, pair.1].map(|it| format!("{it}/"));
        let [old, new] = [&*prefixes[0], &*prefixes[1]];
        assert_eq!(check(&added([old, new], "new.py")).unwrap(), ["new.py: n\n"]);
        assert_eq!(check(&added([old, new], "src/new w.py")).unwrap(), ["src/new w.py: n\n"]);
        assert_eq!(check(&added([old, new], "a/new.py")).unwrap(), ["a/", "a/new.py: n\n"]);
        let rest = format!(
            "diff --git {old}e {new}e\nnew file mode 100644\nindex 0000000..e69de29\n\
             diff --git {old}d/only {new}d/only\ndeleted file mode 100644\nindex 1234567..0000000\n\
             --- {old}d/only\n+++ /dev/null\n@@ -1 +0,0 @@\n-l\n\
             diff --git {old}src/a.py {new}src/a.py\nindex 1234567..89abcde 100644\n\
             --- {old}src/a.py\n+++ {new}src/a.py\n@@ -2,2 +2,2 @@\n two\n-three\n+3\n\
             diff --git {old}odd name.txt {new}moved\nsimilarity index 100%\n\
             rename from odd name.txt\nrename to moved\n"
        );
        let want = ["d: gone", "d/only: gone", "e: ", "moved: o\n", "src/a.py: one\ntwo\n3\n"];
        assert_eq!(check(&rest).unwrap(), want);
    }
    let quoted = "diff --git \"i/t\\tb\" \"w/t\\tb\"\nnew file mode 100644\n\
                  --- /dev/null\n+++ \"w/t\\tb\"\n@@ -0,0 +1 @@\n+n\n";
    assert_eq!(check(quoted).unwrap(), ["t\tb: n\n"]);
    for folder in ["a", "b", "w", "src"] {
        let name = format!("{folder}/new.py");
        let got = check(&added(["", ""], &name)).unwrap();
        assert_eq!(got.last().unwrap(), &format!("{name}: n\n"), "without a prefix");
        let got = check(&added(["a/", "b/"], &name)).unwrap();
        assert_eq!(got.last().unwrap(), &format!("{name}: n\n"));
    }
    let deleted = "diff --git d/only d/only\ndeleted file mode 100644\n\
                   --- d/only\n+++ /dev/null\n@@ -1 +0,0 @@\n-l\n";
    assert_eq!(check(deleted).unwrap(), ["d: gone", "d/only: gone"]);
}

#[test]
fn moved_hunks_are_told() {
    let mut branch = branch();
    let patch = "--- src/a.py\n+++ src/a.py\n@@ -10 +10 @@\n-three\n+3\n";
    let applied = branch.apply_patch(patch).unwrap();
    let moved = MovedHunk { path: path("src/a.py"), hunk: 1, stated_line: 10, found_line: 3 };
    assert_eq!((applied.moved, applied.paths), (vec![moved], vec![path("src/a.py")]));
}

#[test]
fn files_may_change_places() {
    let rename = |from, to| {
        format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
    };
    let patch = rename("src/a.py", "d/only") + &rename("d/only", "src/a.py");
    let mut got = check(&patch).unwrap();
    got.sort();
    assert_eq!(got, ["d/only: one\ntwo\nthree\n", "src/a.py: l\n"]);
    let becomes_directory =
        "--- a/run.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-#!\n--- /dev/null\n+++ b/run.sh/x\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(check(becomes_directory).unwrap(), ["run.sh/", "run.sh/x: x\n"]);
    let link_becomes_directory = "diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-src\n\\ No newline at end of file\ndiff --git a/link/x b/link/x\nnew file mode 100644\n--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(check(link_becomes_directory).unwrap(), ["link/", "link/x: x\n"]);
    let becomes_file =
        "--- a/d/only\n+++ /dev/null\n@@ -1 +0,0 @@\n-l\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(check(becomes_file).unwrap(), ["d: x\n", "d/only: gone"]);
    let not_empty = "--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(check(not_empty).unwrap_err(), "`d` is a directory");
    let mut branch = branch();
    branch.create_dir(&path("empty")).unwrap();
    branch.apply_patch("--- /dev/null\n+++ b/empty\n@@ -0,0 +1 @@\n+x\n").unwrap();
    assert_eq!(branch.snapshot().read(&path("empty")).unwrap(), "x\n");
}

#[test]
fn refusals_name_the_place() {
    let error = |patch: &str| check(patch).unwrap_err();
    let good = "--- d/only\n+++ d/only\n@@ -1 +1 @@\n-l\n+L\n";
    assert_eq!(
        error(&format!("{good}--- src/a.py\n+++ src/a.py\n@@ -1,2 +1,1 @@\n one\n-zwei\n")),
        "hunk 1 of `src/a.py`, at line 8 of the patch, does not fit: line 2 of the file should be \"zwei\\n\" but is \"two\\n\""
    );
    assert_eq!(
        error("--- src/a.py\n+++ src/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n"),
        "hunk 1, at line 3 of the patch (`src/a.py`), states 3 old and 3 new lines but has 2 and 2"
    );
    let too_many = error("--- src/a.py\n+++ src/a.py\n@@ -1 +1 @@\n one\n-two\n+2\n");
    assert!(too_many.ends_with("states 1 old and 1 new lines but has 2 and 2"), "{too_many}");
    let lost = format!("diff --git a/d/only b/d/only\nold mode 100644\nnew mode 100755\n\n{good}");
    assert_eq!(error(&lost), "the hunk at line 7 of the patch belongs to no file");
    assert_eq!(
        error("diff --git a/data b/data\nBinary files a/data and b/data differ\n"),
        "line 2 of the patch is a binary patch of `data`; only text can be patched"
    );
    assert_eq!(error("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"), "`x` does not exist");
    assert_eq!(error("--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1 @@\n+b\n"), "`run.sh` already exists");
    assert_eq!(error("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"), "`../x` leads out of the workspace");
    assert!(error("--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n").contains("is absolute"));
    assert_eq!(
        error("--- data\n+++ data\n@@ -1 +1 @@\n-a\n+b\n"),
        "`data` is not UTF-8 text and can only be written whole"
    );
    assert!(error("no patch at all").contains("cannot be read"));
    assert_eq!(
        error("--- a/src/a.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"),
        "the patch deletes `src/a.py`, but not all of its lines"
    );
}
