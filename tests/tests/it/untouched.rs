//! Nothing but a commit, and what is asked to write, changes a workspace: every other command leaves each file and folder as it
//! was, times and inodes included.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use tests::place::Place;

/// Commands that write to a folder of the user's, which is what they are for; or that do not end by themselves.
const NOT_TRIED: [&str; 16] = [
    "branch commit",
    "branch export",
    "init",
    "lsp",
    "plugin add",
    "plugin build",
    "plugin dev",
    "plugin new",
    "plugin remove",
    "plugin test",
    "plugin update",
    "server add",
    "server remove",
    "server update",
    "daemon serve",
    "help",
];

/// Commands that fail here, with 2: there is no server, and nothing to install.
const FAILING: [&str; 2] = ["query hover a.py:1:1", "server logs ty"];

/// Everything in a folder: kind, permissions, inode, time of the last change of any kind, and content.
fn tree(root: &Path) -> BTreeMap<String, (u32, u64, [i64; 4], Vec<u8>)> {
    let mut tree = BTreeMap::new();
    let mut paths = vec![root.to_owned()];
    while let Some(path) = paths.pop() {
        let it = fs::symlink_metadata(&path).unwrap();
        let content = match it.file_type() {
            kind if kind.is_dir() => {
                paths.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
                Vec::new()
            }
            kind if kind.is_symlink() => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            _ => fs::read(&path).unwrap(),
        };
        let times = [it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()];
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        tree.insert(name, (it.mode(), it.ino(), times, content));
    }
    tree
}

/// A repository with something to find, to fix and to tell for many plugins, and changes that are not committed.
fn place() -> Place {
    let it = Place::new(&[
        ("pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\n"),
        ("broker.toml", "ignore = []\n"),
        ("a.py", "import os\nx = undefined\n"),
        ("sub/b.py", "import a\n"),
        ("sub/c.ts", "let x: any = 1\n"),
        ("README.md", "# a\n\n[b](missing.md)\n"),
        ("d.json", "{\"a\": 1,}\n"),
        ("e.sh", "echo $x\n"),
        (".gitignore", "built/\n"),
        ("built/f.py", "import os\n"),
    ]);
    std::os::unix::fs::symlink("a.py", it.root().join("link.py")).unwrap();
    it.git(&["init", "-q"]);
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "all"]);
    it.write("a.py", "import os\nimport sys\nx = undefined\n");
    it.write("sub/new.py", "import os\n");
    it.git(&["add", "a.py"]);
    it.write("sub/b.py", "import a, os\n");
    it
}

fn commands() -> Vec<(&'static str, &'static str)> {
    const PATCH: &str = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# a\n+# b\n";
    let quiet = [
        "check",
        "check --no-cache --no-respect-gitignore",
        "check --diff",
        "check --diff --unsafe-fixes --select ALL",
        "check --diff --add-suppressions known",
        "check --statistics",
        "check --show-files",
        "check --changed",
        "check --staged",
        "check --since HEAD",
        "check --baseline OUTSIDE/known.json --baseline-update",
        "check --baseline OUTSIDE/known.json",
        "check --output-format json --output-file OUTSIDE/report.json",
        "check --output-format sarif",
        "run -- rm -r sub a.py .gitignore .git",
        "branch fork b",
        "branch list",
        "branch show b",
        "branch read b a.py",
    ];
    let with_input = [
        ("check --stdin-filename a.py", "import os\n"),
        ("check --fix --stdin-filename a.py", "import os\n"),
        ("branch write b a.py", "import json\n"),
        ("branch write b new/deep.py", "import json\n"),
        ("branch patch b", PATCH),
    ];
    let rest = [
        "run --branch b --harvest -- touch made.txt",
        "run --branch b --background --name sleeps -- sleep 1000",
        "run --branch b -- rm -r sub a.py .gitignore .git",
        "run --name named -- rm -r sub a.py .gitignore .git",
        "run ps",
        "run logs sleeps",
        "run kill sleeps",
        "branch mv b sub moved",
        "branch rm b d.json",
        "branch diff b",
        "branch log b",
        "check --branch b",
        "check --branch b --new-only",
        "branch commit b --dry-run",
        "branch undo b",
        "branch rebase b",
        "branch fork c",
        "branch merge-preview b c",
        "branch tournament b c --test true",
        "query hover a.py:1:1",
        "server list",
        "server list --tools",
        "server install",
        "server logs ty",
        "server stop",
        "branch discard --merged",
        "branch discard b",
        "config show",
        "config schema",
        "doctor",
        "rule explain python/F401",
        "rule list text",
        "rule list --file a.py --all",
        "plugin list",
        "plugin inspect python",
        "plugin tree a.py",
        "plugin install",
        "agent tool",
        "agent tool list_dir",
        "agent log",
        "agent acp -- cat",
        "agent mcp config --client claude",
        "agent mcp skill --client claude",
        "agent hook install --client claude",
        "agent hook remove --client claude",
        "trust",
        "trust --list",
        "trust --revoke",
        "daemon status",
        "daemon clean --all",
        "daemon stop",
        "completions bash",
    ];
    let without = |it: &'static str| (it, "");
    quiet.into_iter().map(without).chain(with_input).chain(rest.into_iter().map(without)).collect()
}

/// The commands below these, as the help has them.
fn listed(it: &Place, above: &[&str]) -> Vec<String> {
    let help = it.run(&[above, &["--help"]].concat());
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|it| *it != "Commands:").skip(1).take_while(|it| !it.is_empty());
    let names = commands.filter(|it| it.starts_with("  ") && !it.starts_with("   "));
    names.map(|it| it.split_whitespace().next().unwrap().to_owned()).collect()
}

/// All that can be called, such as `branch fork`.
fn all(it: &Place) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for name in listed(it, &[]) {
        let below = listed(it, &[&name]);
        all.extend(below.iter().filter(|it| *it != "help").map(|it| format!("{name} {it}")));
        if below.is_empty() {
            all.insert(name);
        }
    }
    all
}

#[test]
fn a_command_that_is_not_asked_to_write_leaves_everything_as_it_was() {
    let it = place();
    let before = tree(&it.root());
    let outside = it.own("outside");
    fs::create_dir(&outside).unwrap();
    for (name, input) in commands() {
        let line = name.replace("OUTSIDE", outside.to_str().unwrap());
        let output = it.run_with_input(&line.split(' ').collect::<Vec<_>>(), input);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("Usage:") && !said.contains("panicked"), "{line}: {said}");
        // Without a daemon, or without plugins, nothing would be changed either.
        let (exit, fails) = (output.status.code(), FAILING.contains(&name));
        let is_expected = if fails { exit == Some(2) } else { matches!(exit, Some(0 | 1)) };
        assert!(is_expected, "`{line}`: {exit:?} {said}");
        let after = tree(&it.root());
        let changed = |path: &&String| before.get(*path) != after.get(*path);
        let changed: Vec<_> = before.keys().chain(after.keys()).filter(changed).collect();
        assert!(changed.is_empty(), "`broker {line}` changed {changed:?}\n{said}");
    }
    let tried: BTreeSet<_> = commands().iter().map(|it| it.0).collect();
    let is_tried = |name: &String| {
        let is_it = |line: &&str| *line == name || line.starts_with(&format!("{name} "));
        tried.iter().any(is_it) || NOT_TRIED.contains(&name.as_str())
    };
    let all = all(&it);
    assert!(all.len() > 20 && all.contains("branch fork"), "{all:?}");
    let forgotten: Vec<_> = all.into_iter().filter(|it| !is_tried(it)).collect();
    assert!(forgotten.is_empty(), "neither tried here nor meant to write: {forgotten:?}");
}
