//! Patches of several files, and what codex's own tests hold of its patches.
//!
//! The cases of codex are told here in our words. Its own files are run, too, where `BROKER_APPLY_PATCH_SCENARIOS` names
//! their folder.

use std::{cell::Cell, collections::BTreeMap, env, fs, path::Path};

use overlay::{Memory, View as _};

use super::*;

mod targets;
mod wrapped;

type Files = BTreeMap<String, String>;

/// The files after a patch, written as codex writes them: up to the first section that cannot be done.
fn after(files: &Files, edit: &str) -> Files {
    let view = Memory::from_files(files.iter().map(|(path, text)| (path.clone(), text.clone()))).unwrap();
    let mut files = files.clone();
    let Ok(plan) = plan(&view, None, edit, None, &|_| None, &Trees::new(1 << 20), &|| false) else {
        return files;
    };
    for edit in plan.files {
        match edit.outcome {
            Err(_) => break,
            Ok(FileChange::Write { path, applied, .. }) => {
                files.insert(path.to_string(), applied.text);
            }
            Ok(FileChange::Delete { path }) => {
                files.remove(path.as_str());
            }
            Ok(FileChange::Move { from, to, applied, .. }) => {
                files.remove(from.as_str());
                files.insert(to.to_string(), applied.text);
            }
        }
    }
    files
}

fn files(of: &[(&str, &str)]) -> Files {
    of.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

struct Case {
    name: &'static str,
    before: &'static [(&'static str, &'static str)],
    /// The patch without its first and its last line.
    patch: &'static str,
    after: &'static [(&'static str, &'static str)],
}

const CASES: &[Case] = &[
    Case { name: "adds a file", before: &[], patch: "*** Add File: b.md\n+new", after: &[("b.md", "new\n")] },
    Case {
        name: "does several things",
        before: &[("gone", "x\n"), ("kept", "1\n2\n")],
        patch: "*** Add File: d/new\n+made\n*** Delete File: gone\n*** Update File: kept\n@@\n-2\n+two",
        after: &[("d/new", "made\n"), ("kept", "1\ntwo\n")],
    },
    Case {
        name: "has several chunks",
        before: &[("a", "1\n2\n3\n4\n")],
        patch: "*** Update File: a\n@@\n-2\n+two\n@@\n-4\n+four",
        after: &[("a", "1\ntwo\n3\nfour\n")],
    },
    Case {
        name: "moves to a new directory",
        before: &[("o/a", "old\n"), ("o/b", "b\n")],
        patch: "*** Update File: o/a\n*** Move to: n/d/a\n@@\n-old\n+new",
        after: &[("n/d/a", "new\n"), ("o/b", "b\n")],
    },
    Case { name: "is empty", before: &[("a", "1\n")], patch: "", after: &[("a", "1\n")] },
    Case {
        name: "has lines that are not there",
        before: &[("a", "1\n")],
        patch: "*** Update File: a\n@@\n-2\n+3",
        after: &[("a", "1\n")],
    },
    Case {
        name: "deletes nothing",
        before: &[("a", "1\n")],
        patch: "*** Delete File: b",
        after: &[("a", "1\n")],
    },
    Case {
        name: "updates nothing",
        before: &[("a", "1\n")],
        patch: "*** Update File: a",
        after: &[("a", "1\n")],
    },
    Case {
        name: "updates what is not there",
        before: &[("a", "1\n")],
        patch: "*** Update File: b\n@@\n-1\n+2",
        after: &[("a", "1\n")],
    },
    Case {
        name: "moves over a file",
        before: &[("o/a", "from\n"), ("n/a", "there\n")],
        patch: "*** Update File: o/a\n*** Move to: n/a\n@@\n-from\n+new",
        after: &[("n/a", "new\n")],
    },
    Case {
        name: "adds over a file",
        before: &[("a", "old\n")],
        patch: "*** Add File: a\n+new",
        after: &[("a", "new\n")],
    },
    Case {
        name: "deletes a directory",
        before: &[("d/a", "1\n")],
        patch: "*** Delete File: d",
        after: &[("d/a", "1\n")],
    },
    Case {
        name: "does something unknown",
        before: &[("a", "1\n")],
        patch: "*** Rewrite File: a",
        after: &[("a", "1\n")],
    },
    Case {
        name: "replaces a last line that has no end",
        before: &[("a", "no end")],
        patch: "*** Update File: a\n@@\n-no end\n+1\n+2",
        after: &[("a", "1\n2\n")],
    },
    Case {
        name: "fails after its first section",
        before: &[],
        patch: "*** Add File: a\n+1\n*** Update File: b\n@@\n-1\n+2",
        after: &[("a", "1\n")],
    },
    Case {
        name: "only adds lines",
        before: &[("a", "1\n2\n")],
        patch: "*** Update File: a\n@@\n+3\n+4",
        after: &[("a", "1\n2\n3\n4\n")],
    },
    Case {
        name: "has spaces before a header",
        before: &[("a", "1\n")],
        patch: "  *** Update File: a\n@@\n-1\n+2",
        after: &[("a", "2\n")],
    },
    Case {
        name: "has letters beyond ASCII",
        before: &[("a", "1\nnaïve café\n3\n")],
        patch: "*** Update File: a\n@@\n 1\n-naïve café\n+naïve café ✅",
        after: &[("a", "1\nnaïve café ✅\n3\n")],
    },
    Case {
        name: "deletes a file",
        before: &[("a", "1\n"), ("b", "2\n")],
        patch: "*** Delete File: a",
        after: &[("b", "2\n")],
    },
    Case {
        name: "only removes lines",
        before: &[("a", "1\n2\n3\n")],
        patch: "*** Update File: a\n@@\n 1\n-2\n 3",
        after: &[("a", "1\n3\n")],
    },
    Case {
        name: "says that it is at the end",
        before: &[("a", "1\n2\n")],
        patch: "*** Update File: a\n@@\n 1\n-2\n+two\n*** End of File",
        after: &[("a", "1\ntwo\n")],
    },
];

#[test]
fn patches_do_what_codex_does() {
    for case in CASES {
        let frames = [
            ("*** Begin Patch", "*** End Patch"),
            (" *** Begin Patch", "*** End Patch "),
            ("*** Begin Patch ", " *** End Patch"),
        ];
        for (begin, end) in frames {
            let edit = format!("{begin}\n{}\n{end}\n", case.patch);
            assert_eq!(after(&files(case.before), &edit), files(case.after), "{}", case.name);
        }
        let edit = format!("<<'EOF'\n*** Begin Patch\n{}\n*** End Patch\nEOF\n", case.patch);
        assert_eq!(after(&files(case.before), &edit), files(case.after), "{} from a shell", case.name);
    }
}

/// Each folder has `patch.txt`, `expected` and maybe `input`.
#[test]
#[expect(clippy::disallowed_methods, reason = "the folder belongs to no workspace")]
fn codexs_own_scenarios_pass() {
    let Ok(folder) = env::var("BROKER_APPLY_PATCH_SCENARIOS") else { return };
    let mut count = 0;
    for scenario in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_dir()) {
        let patch = fs::read_to_string(scenario.join("patch.txt")).unwrap();
        let (before, expected) = (tree(&scenario.join("input")), tree(&scenario.join("expected")));
        assert_eq!(after(&before, &patch), expected, "{}", scenario.display());
        count += 1;
    }
    println!("{count} scenarios pass");
}

#[expect(clippy::disallowed_methods, reason = "the folder belongs to no workspace")]
fn tree(folder: &Path) -> Files {
    let (mut found, mut folders) = (Files::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(next).into_iter().flatten().map(|it| it.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_diff_of_several_files_is_planned_file_by_file() {
    let view = Memory::from_files([("a", "1\n"), ("b", "1\n"), ("c", "1\n")]).unwrap();
    let edit = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n\
                diff --git a/b b/n\nsimilarity index 100%\nrename from b\nrename to n\n\
                diff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-x\n+2\n\
                diff --git a/d b/d\nnew file mode 100644\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+new\n\
                diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n";
    let plan = plan(&view, None, edit, None, &|_| None, &Trees::new(1 << 20), &|| false).unwrap();
    let shown = |it: &FileEdit| match &it.outcome {
        Ok(FileChange::Write { path, applied, before }) => {
            format!("{path} = {:?} {}", applied.text, *before != Before::Missing)
        }
        Ok(FileChange::Delete { path }) => format!("{path} is deleted"),
        Ok(FileChange::Move { from, to, applied, .. }) => format!("{from} -> {to} = {:?}", applied.text),
        Err(refused) => format!("{}: {refused}", it.path),
    };
    let shown: Vec<_> = plan.files.iter().map(shown).collect();
    let want = [
        "a = \"2\\n\" true",
        "b -> n = \"1\\n\"",
        "c: what part 1 of the edit replaces is not in the file: `x`",
        "d = \"new\\n\" false",
        "a is deleted",
    ];
    assert_eq!(shown, want);
    assert!(plan.all().is_err());
}

#[test]
fn a_path_out_of_the_workspace_is_refused() {
    let view = Memory::from_files([("a", "1\n")]).unwrap();
    let edit = "*** Begin Patch\n*** Delete File: ../a\n*** End Patch\n";
    let plan = plan(&view, None, edit, None, &|_| None, &Trees::new(1 << 20), &|| false).unwrap();
    assert!(matches!(&plan.files[0].outcome, Err(it) if it.reason == Reason::Path("../a".into())));
    assert!(view.read(&WorkspacePath::new("a").unwrap()).is_ok());
}

#[test]
fn a_new_file_has_the_line_endings_of_its_edit() {
    let diff = |head: &str| format!("--- /dev/null{head}+++ b/a{head}@@ -0,0 +1,2 @@{head}+one\r\n+two\r\n");
    assert_eq!(after(&files(&[]), &diff("\n")), files(&[("a", "one\r\ntwo\r\n")]));
    assert_eq!(after(&files(&[]), &diff("\r\n")), files(&[("a", "one\ntwo\n")]));
    let (path, view) = (WorkspacePath::new("a").unwrap(), Memory::default());
    let whole =
        plan(&view, Some(&path), "one\r\ntwo\r\n", None, &|_| None, &Trees::new(1 << 20), &|| false).unwrap();
    let [FileChange::Write { applied, .. }] = &whole.all().unwrap()[..] else { panic!() };
    assert_eq!(applied.text, "one\r\ntwo\r\n");
}

/// Wherever the work is cancelled, the edit is refused.
#[test]
fn a_cancelled_edit_is_refused() {
    let lines: String = (0..40).map(|it| format!("line {it}\n")).collect();
    let view = Memory::from_files([("a.txt", &*lines), ("b.txt", &*lines)]).unwrap();
    let path = WorkspacePath::new("a.txt").unwrap();
    let block = |it| format!("<<<<<<< SEARCH\nline {it}\n=======\nnew {it}\n>>>>>>> REPLACE\n");
    let section = |it| format!("*** Update File: {it}.txt\n@@\n-line 1\n+new 1\n");
    let edits = [
        (Some(&path), block(1) + &block(5) + &block(9)),
        (Some(&path), "... existing code ...\nline 3\nnew 3\nline 4\n... existing code ...\nline 8\nnew 8\nline 9\n... existing code ...\n".to_owned()),
        (None, format!("*** Begin Patch\n{}{}*** End Patch\n", section("a"), section("b"))),
    ];
    for (path, edit) in edits {
        let planned = |most: usize| {
            let looks = Cell::new(0);
            let cancel = || {
                looks.set(looks.get() + 1);
                looks.get() > most
            };
            let all =
                plan(&view, path, &edit, None, &|_| None, &Trees::new(1 << 20), &cancel).and_then(Plan::all);
            (looks.get(), all.map(|_| ()).map_err(|it| it.reason.inner().clone()))
        };
        let (looks, done) = planned(usize::MAX);
        assert_eq!(done, Ok(()), "{edit}");
        assert!(looks > 2, "{looks}: {edit}");
        for most in 0..looks {
            assert_eq!(planned(most).1, Err(Reason::Cancelled), "after {most}: {edit}");
        }
    }
}
