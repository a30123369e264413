//! Definitions, imports and names of two branches, without a daemon.

use std::{sync::Arc, time::Duration};

use overlay::{Branch, Memory, Snapshot, WorkspacePath};
use tokio::time::Instant;

use super::{Checked, definitions, pairs::Candidates, side::Side};

/// Files of one state.
type Files<'f> = &'f [(&'f str, &'f str)];

/// Stands for the text of a file that is removed.
const GONE: &str = "<gone>";

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn edited(base: &Arc<Memory>, files: Files<'_>) -> Branch {
    let mut branch = Branch::new(base.clone());
    for (at, text) in files {
        match *text {
            GONE => branch.remove(&path(at)).unwrap(),
            text => branch.write(&path(at), text.to_owned().into()).unwrap(),
        };
    }
    branch
}

/// Conflicts of definitions that are told if both branches edit these files: change, name and place of the use. The pair must be looked at
/// if there is something to tell.
fn definitions(base: Files<'_>, a: Files<'_>, b: Files<'_>) -> String {
    let base = Arc::new(Memory::from_files(base.iter().copied()).unwrap());
    let snapshots = [a, b].map(|it| edited(&base, it).snapshot());
    let (ancestor, known) = (Snapshot::common_ancestor(&snapshots).unwrap(), Arc::default());
    let merged = snapshots[0].merged(&snapshots[1], &ancestor, None).unwrap();
    assert!(merged.conflicts.is_empty(), "{:?}", merged.conflicts);
    let sides: Vec<_> = snapshots
        .into_iter()
        .enumerate()
        .map(|(number, it)| {
            let (id, checked) = (number.to_string(), Checked::default());
            Side::new(number, id, it.since(&ancestor), &ancestor, checked, &known).unwrap()
        })
        .collect();
    let (told, _) = definitions::conflicts(&sides[0], &sides[1], &merged.snapshot, &known.names);
    let is_found = |deadline| !Candidates::find(&sides, &ancestor, deadline).pairs.is_empty();
    let now = Instant::now();
    let is_candidate = is_found(now + Duration::from_secs(3600));
    assert!(is_found(now) || !is_candidate, "what there is no time for is taken for a contact");
    assert!(is_candidate || told.is_empty(), "{told:?} would not be found");
    let told = told.iter().map(|it| format!("{:?} {} {}:{}", it.change, it.name, it.used.path, it.used.line));
    told.collect::<Vec<_>>().join(", ")
}

/// Files of the base and of both branches, with what is told.
#[track_caller]
fn check_all(cases: &[(Files<'_>, Files<'_>, Files<'_>, &str)]) {
    for (base, a, b, want) in cases {
        assert_eq!(definitions(base, a, b), *want, "{a:?} {b:?}");
    }
}

#[test]
fn a_name_means_what_it_means_where_it_stands() {
    let class = "class One:\n    def get(self, a):\n        return a\n";
    let sized = "class Box:\n    def __init__(self, size):\n        self.size = size\n";
    let go = "package p\n\ntype T struct {\n\tA int\n\tB int\n}\n\nfunc F(a int) int {\n\treturn a\n}\n";
    check_all(&[
        // What stands above a signature is no part of it.
        (
            &[("a.py", "@one(1)\ndef f(a):\n    return a\n")],
            &[("a.py", "@two(2, 3)\ndef f(a):\n    return a\n")],
            &[("b.py", "from a import f\n\nf(1)\n")],
            "",
        ),
        (
            &[("a.rs", "/// f(x)\npub fn f(a: u8) {}\n"), ("lib.rs", "")],
            &[("a.rs", "/// f(x)\npub fn f(a: u8, b: u8) {}\n")],
            &[("lib.rs", "mod a;\nfn g() {\n    a::f(1)\n}\n")],
            "Signature f lib.rs:3",
        ),
        // A call that fits is none, and so is one of another type's member.
        (
            &[("a.py", "def f(a):\n    return a\n")],
            &[("a.py", "def f(a, b=1, *c):\n    return a\n")],
            &[("b.py", "from a import f\n\nf(1)\n")],
            "",
        ),
        (
            &[("a.py", class), ("b.py", "")],
            &[("a.py", "class One:\n    def get(self, a, b):\n        return a\n")],
            &[(
                "b.py",
                "class Two:\n    def get(self):\n        pass\n\n    def f(self, it):\n        it.get(1)\n",
            )],
            "",
        ),
        (
            &[("a.py", class), ("b.py", "from a import One\n")],
            &[("a.py", "class One:\n    def get(self, a, b):\n        return a\n")],
            &[("b.py", "from a import One\nx = One().get(1)\n")],
            "Signature get b.py:2",
        ),
        // A class is called as its constructor; attributes are members.
        (
            &[("a.py", sized)],
            &[("a.py", &sized.replace("self, size", "self, size, color"))],
            &[("b.py", "from a import Box\nBox(1)\n")],
            "Signature __init__ b.py:2",
        ),
        (
            &[("a.py", sized)],
            &[("a.py", &sized.replace("self.size", "self.length"))],
            &[("b.py", "from a import Box\nprint(Box(1).size)\n")],
            "Gone size b.py:2",
        ),
        (
            &[("a.go", go), ("b.go", "package p\n")],
            &[("a.go", &go.replace("\tB int\n", ""))],
            &[("b.go", "package p\n\nvar t = T{B: 1}\n")],
            "Gone B b.go:3",
        ),
        (
            &[("a.go", go), ("b.go", "package p\n")],
            &[("a.go", &go.replace("(a int) int", "(a int) (int, error)"))],
            &[("b.go", "package p\n\nvar t = F(1)\n")],
            "Signature F b.go:3",
        ),
        // Texts hold uses where something is inserted, and comments and other languages do not.
        (
            &[("a.py", "def gone():\n    return 1\n")],
            &[("a.py", "")],
            &[("b.py", "import a\n\nprint(f'{a.gone()}')\n")],
            "Gone gone b.py:3",
        ),
        (
            &[("a.ts", "export function gone() {}\n")],
            &[("a.ts", "export {};\n")],
            &[("b.ts", "import * as a from './a';\nconst b = `${a.gone()}`;\n")],
            "Gone gone b.ts:2",
        ),
        (
            &[("a.py", "def gone():\n    return 1\n")],
            &[("a.py", "")],
            &[("b.py", "x = 'gone'  # gone\n"), ("c.yaml", "gone: gone\n"), ("d.md", "gone\n")],
            "",
        ),
        // An import is for one file.
        (
            &[
                ("a.go", "package p\n\nimport \"os\"\n\nvar a = os.Args\n\nvar b = 1\n"),
                ("b.go", "package p\n"),
            ],
            &[("a.go", "package p\n\nvar a = 1\n\nvar b = 1\n")],
            &[("a.go", "package p\n\nimport \"os\"\n\nvar a = os.Args\n\nvar b = 1\n\nvar c = os.Args\n")],
            "Gone os a.go:9",
        ),
    ]);
}

#[test]
fn both_may_add_one_name_in_one_scope() {
    let class = "class A:\n    def a(self):\n        pass\n\n    def b(self):\n        pass\n";
    let with = |before: &str| class.replace(before, &format!("    def new(self):\n        pass\n\n{before}"));
    let go: Files<'_> = &[("a.go", "package p\n"), ("b.go", "package p\n"), ("q/c.go", "package q\n")];
    let function = "package p\n\nfunc New() {}\n";
    check_all(&[
        (go, &[("a.go", function)], &[("b.go", function)], "Added New b.go:3"),
        (go, &[("a.go", function)], &[("q/c.go", "package q\n\nfunc New() {}\n")], ""),
        (go, &[("a_linux.go", function)], &[("a_windows.go", function)], ""),
        (
            &[("a.py", class)],
            &[("a.py", &with("    def a("))],
            &[("a.py", &with("    def b("))],
            "Added new a.py:5",
        ),
        // Both added the same lines.
        (&[("a.py", class)], &[("a.py", &with("    def b("))], &[("a.py", &with("    def b("))], ""),
    ]);
}

#[test]
fn what_is_imported_may_be_gone() {
    check_all(&[
        (
            &[("util.py", "X = 1\n"), ("b.py", "")],
            &[("util.py", GONE), ("tools.py", "X = 1\n")],
            &[("b.py", "import os\nimport util\n")],
            "Gone util.py b.py:2",
        ),
        (
            &[("util.ts", "export const x = 1;\n")],
            &[("util.ts", GONE), ("util/index.ts", "export const x = 1;\n")],
            &[("b.ts", "import * as util from './util';\n")],
            "",
        ),
        (
            &[("util.ts", "export const x = 1;\n")],
            &[("util.ts", GONE), ("tools.ts", "export const x = 1;\n")],
            &[("b.ts", "import * as util from './util';\n")],
            "Gone util.ts b.ts:1",
        ),
        (
            &[("go.mod", "module m.org/m\n"), ("q/q.go", "package q\n"), ("a.go", "package p\n")],
            &[("q/q.go", GONE)],
            &[("a.go", "package p\n\nimport _ \"m.org/m/q\"\n")],
            "Gone q/q.go a.go:3",
        ),
        (
            &[("lib.rs", ""), ("util.rs", "")],
            &[("util.rs", GONE)],
            &[("lib.rs", "mod util;\n")],
            "Gone util.rs lib.rs:1",
        ),
    ]);
}

#[test]
fn a_missing_answer_brings_branches_together_and_is_noted() {
    let base = Arc::new(Memory::from_files([("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]).unwrap());
    let snapshots = ["a.txt", "b.txt", "c.txt"].map(|it| edited(&base, &[(it, "new\n")]).snapshot());
    let (ancestor, known) = (Snapshot::common_ancestor(&snapshots).unwrap(), Arc::default());
    let gopls = check_engine::Unavailable {
        linter: "gopls".to_owned(),
        marker: Some("go.mod".to_owned()),
        reason: "not installed".to_owned(),
    };
    let side = |(number, snapshot): (usize, Snapshot)| {
        let reason = (number == 0).then(|| "mypy: mypy is not installed".to_owned());
        let checked = Checked {
            incomplete: reason.into_iter().collect(),
            unavailable: vec![gopls.clone()],
            ..Checked::default()
        };
        Side::new(number, number.to_string(), snapshot.since(&ancestor), &ancestor, checked, &known).unwrap()
    };
    let sides: Vec<_> = snapshots.iter().cloned().enumerate().map(side).collect();
    let deadline = Instant::now() + Duration::from_secs(3600);
    let Candidates { pairs, notes } = Candidates::find(&sides, &ancestor, deadline);
    assert_eq!(pairs.into_keys().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
    let want = [
        "not computed: mypy: mypy is not installed; merged with all others for that: 1 branch",
        "not asked: gopls (go.mod): not installed",
    ];
    assert_eq!(notes, want);
}
