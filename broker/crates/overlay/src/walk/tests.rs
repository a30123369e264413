//! Tests of walks. The semantics of ignore files are compared with the `ignore` crate's in `tests/walk_as_ignore.rs`.

use std::sync::Arc;

use super::*;
use crate::{Branch, Memory};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn tree(files: &[(&str, &str)]) -> Memory {
    Memory::from_files(files.iter().copied()).unwrap()
}

fn files(view: &dyn View, roots: &[&str], options: &WalkOptions) -> (Vec<String>, Skipped) {
    let roots: Vec<_> = roots.iter().map(|it| path(it)).collect();
    let mut walk = walk(view, &roots, options);
    let files = walk.by_ref().map(|it| it.to_string()).collect();
    (files, walk.into_skipped())
}

#[track_caller]
fn check(view: &dyn View, roots: &[&str], want: &[&str]) {
    let (files, skipped) = files(view, roots, &WalkOptions::default());
    assert_eq!(files, want);
    assert_eq!(skipped, Skipped::default());
}

#[test]
fn visits_in_the_order_of_paths() {
    let tree = tree(&[("a/z", ""), ("a-b", ""), ("a.b", ""), ("a0", ""), (".hidden", ""), ("a/b/c", "")]);
    check(&tree, &[""], &[".hidden", "a-b", "a.b", "a/b/c", "a/z", "a0"]);
}

#[test]
fn roots_may_overlap() {
    let tree = tree(&[("a/b/x", ""), ("a/y", ""), ("a-b", ""), ("c", "")]);
    check(&tree, &["a/b", "a", "a/b/x", "a"], &["a/b/x", "a/y"]);
    check(&tree, &["c", "a/b"], &["a/b/x", "c"]);
    check(&tree, &["a", "a-b"], &["a-b", "a/b/x", "a/y"]);
    check(&tree, &["", "a/y"], &["a-b", "a/b/x", "a/y", "c"]);
    check(&tree, &[], &[]);
}

#[test]
fn named_roots_are_visited_in_spite_of_everything() {
    let tree = tree(&[
        (".git/HEAD", ""),
        (".gitignore", "build/\n*.log"),
        ("build/gen/a", ""),
        ("build/gen/a.log", ""),
        ("build/b", ""),
        ("node_modules/p/index.js", ""),
        ("x.log", ""),
        ("y", ""),
    ]);
    check(&tree, &[""], &[".gitignore", "y"]);
    check(&tree, &["build/gen", "x.log"], &["build/gen/a", "x.log"]);
    check(&tree, &["", "build/gen"], &[".gitignore", "build/gen/a", "y"]);
    check(&tree, &["node_modules"], &["node_modules/p/index.js"]);
    check(&tree, &["", "node_modules/p/index.js"], &[".gitignore", "node_modules/p/index.js", "y"]);
}

#[test]
fn default_excludes_can_be_switched_off_and_what_is_never_visited_cannot() {
    let tree = tree(&[
        (".broker-given/ruff.toml", ""),
        (".git/config", ""),
        ("sub/.hg/store", ""),
        ("sub/.venv/lib/a.py", ""),
        ("sub/venv", "a file of that name"),
        ("b.py", ""),
    ]);
    check(&tree, &[""], &["b.py", "sub/venv"]);
    let all = WalkOptions { default_excludes: false, ..WalkOptions::default() };
    assert_eq!(files(&tree, &[""], &all).0, ["b.py", "sub/.venv/lib/a.py", "sub/venv"]);
}

#[test]
fn hidden_names_are_passed_over_where_that_is_asked_for_but_those_that_are_named() {
    let tree = tree(&[
        (".git/HEAD", ""),
        (".gitignore", "!.github\n!.eslintrc\n.cache"),
        (".github/workflows/ci.yml", ""),
        (".github/.hidden", ""),
        (".cache/a", ""),
        ("sub/.eslintrc", ""),
        ("sub/.env", ""),
        ("sub/a", ""),
    ]);
    let options = WalkOptions { hidden: false, ..WalkOptions::default() };
    assert_eq!(files(&tree, &[""], &options).0, [".github/workflows/ci.yml", "sub/.eslintrc", "sub/a"]);
    let options = WalkOptions { respect_ignore_files: false, ..options };
    assert_eq!(files(&tree, &[""], &options).0, ["sub/a"]);
}

#[test]
fn ignore_files_can_be_switched_off() {
    let tree = tree(&[
        (".git/HEAD", ""),
        (".gitignore", "a"),
        (".ignore", "b"),
        (".brokerignore", "c"),
        ("a", ""),
        ("b", ""),
        ("c", ""),
    ]);
    check(&tree, &[""], &[".brokerignore", ".gitignore", ".ignore"]);
    let options = WalkOptions {
        respect_ignore_files: false,
        global_excludes: Some("a".into()),
        ..WalkOptions::default()
    };
    assert_eq!(files(&tree, &[""], &options).0.len(), 6);
}

#[test]
fn the_users_own_excludes_come_last() {
    let tree = tree(&[
        (".git/HEAD", ""),
        (".gitignore", "!keep.tmp"),
        ("a.tmp", ""),
        ("keep.tmp", ""),
        ("sub/b.tmp", ""),
    ]);
    let options = WalkOptions { global_excludes: Some("*.tmp\n".into()), ..WalkOptions::default() };
    assert_eq!(files(&tree, &[""], &options).0, [".gitignore", "keep.tmp"]);
}

#[test]
fn patterns_go_before_ignore_files() {
    let tree = tree(&[
        (".git/HEAD", ""),
        (".gitignore", "!out"),
        ("a.py", ""),
        ("lib/a.rs", ""),
        ("lib/b.py", ""),
        ("out/c.py", ""),
    ]);
    let lines = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let found = |roots: &[&str], options: &WalkOptions| files(&tree, roots, options).0;
    let mut options =
        WalkOptions { excludes: lines(&["/out/", "lib/*", "!lib/b.py"]), ..WalkOptions::default() };
    assert_eq!(found(&[""], &options), [".gitignore", "a.py", "lib/b.py"]);
    options.respect_ignore_files = false;
    options.includes = lines(&["*.py"]);
    assert_eq!(found(&[""], &options), ["a.py", "lib/b.py"]);
    let named = ["lib/a.rs", "out", "out/c.py"];
    assert_eq!(found(&named, &options), ["lib/a.rs", "out/c.py"], "what is named is visited");
    options.force_excludes = true;
    assert!(found(&named, &options).is_empty());
    assert_eq!(found(&["lib/b.py", ""], &options), ["a.py", "lib/b.py"]);
}

#[test]
fn an_edited_ignore_file_counts_as_edited() {
    let base = tree(&[(".git/HEAD", ""), (".gitignore", "a"), ("a", ""), ("sub/b", ""), ("c", "")]);
    let mut branch = Branch::new(Arc::new(base));
    check(&branch.snapshot(), &[""], &[".gitignore", "c", "sub/b"]);
    branch.write(&path(".gitignore"), "c".into()).unwrap();
    branch.write(&path("sub/.ignore"), "*\n".into()).unwrap();
    check(&branch.snapshot(), &[""], &[".gitignore", "a"]);
    branch.remove(&path(".gitignore")).unwrap();
    check(&branch.snapshot(), &[""], &["a", "c"]);
}

#[test]
fn links_to_directories_are_not_followed() {
    let mut tree = tree(&[("dir/a", ""), ("dir/b", "")]);
    tree.insert_symlink(&path("to-dir"), "dir");
    tree.insert_symlink(&path("to-file"), "dir/a");
    tree.insert_symlink(&path("to-nothing"), "missing/x");
    tree.insert_symlink(&path("to-itself"), "to-itself");
    tree.insert_symlink(&path("outside"), "../x");
    let (found, skipped) = files(&tree, &[""], &WalkOptions::default());
    assert_eq!(found, ["dir/a", "dir/b", "to-file"]);
    assert_eq!(skipped, Skipped { broken_links: 3, ..Skipped::default() });
    check(&tree, &["to-dir", "to-file"], &["dir/a", "dir/b", "to-file"]);
    check(&tree, &["to-dir/a", "dir"], &["dir/a", "dir/b"]);
}

#[test]
fn a_root_that_cannot_be_visited_is_reported() {
    let mut tree = tree(&[("a", "")]);
    tree.insert_symlink(&path("outside"), "../x");
    let (files, skipped) = files(&tree, &["a", "missing", "outside", "a/b"], &WalkOptions::default());
    assert_eq!(files, ["a"]);
    let unreadable: Vec<_> = skipped.unreadable.keys().map(WorkspacePath::as_str).collect();
    assert_eq!(unreadable, ["a/b", "missing", "outside"]);
    assert_eq!(skipped.total(), 3);
}

#[test]
fn gits_files_count_in_repositories_only() {
    let files_of = |tree: &Memory| {
        let options = WalkOptions { global_excludes: Some("own".into()), ..WalkOptions::default() };
        files(tree, &[""], &options).0.into_iter().filter(|it| !it.ends_with("ignore")).collect::<Vec<_>>()
    };
    let plain = [(".gitignore", "a"), (".ignore", "b"), ("a", ""), ("b", ""), ("own", ""), ("sub/a", "")];
    let below = [("sub/.gitignore", "c"), ("sub/c", ""), ("sub/b", ""), ("sub/own", "")];
    let with = |more: &[(&'static str, &'static str)]| tree(&[&plain[..], &below[..], more].concat());
    assert_eq!(files_of(&with(&[])), ["a", "own", "sub/a", "sub/c", "sub/own"]);
    assert_eq!(files_of(&with(&[("sub/.git", "gitdir: x")])), ["a", "own", "sub/a"]);
    assert!(files_of(&with(&[(".jj/repo/x", "")])).is_empty());
}

#[test]
fn a_named_root_that_is_no_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("f.py")).unwrap();
    let disk = crate::Disk::new(folder.path()).unwrap();
    let (found, skipped) = files(&disk, &["f.py"], &WalkOptions::default());
    assert!(found.is_empty());
    assert_eq!(skipped.unreadable, [(path("f.py"), "not a regular file".to_owned())].into());
    let (_, skipped) = files(&disk, &[""], &WalkOptions::default());
    assert_eq!(skipped, Skipped { special: 1, ..Skipped::default() }, "what is merely found is counted");
}

#[test]
fn repositories_inside_do_not_heed_gits_files_outside() {
    let tree = tree(&[
        (".git/info/exclude", "excluded"),
        (".gitignore", "generated"),
        (".ignore", "never"),
        ("sub/excluded", ""),
        ("inner/.git/HEAD", ""),
        ("inner/excluded", ""),
        ("inner/generated", ""),
        ("inner/never", ""),
    ]);
    check(&tree, &[""], &[".gitignore", ".ignore", "inner/excluded", "inner/generated"]);
}

#[test]
fn a_linked_worktree_shares_the_excludes() {
    let tree = tree(&[
        ("main/.git/info/exclude", "secret"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("w/.git", "gitdir: ../main/.git/worktrees/w\n"),
        ("w/secret", ""),
        ("w/a", ""),
        ("elsewhere/.git", "gitdir: /home/someone/.git/worktrees/w\n"),
        ("elsewhere/secret", ""),
    ]);
    check(&tree, &[""], &["elsewhere/secret", "w/a"]);
}

#[test]
fn odd_ignore_files_do_no_harm() {
    let mut tree = tree(&[("a", ""), ("b", ""), ("dir.ignore/x", "")]);
    tree.insert_file(&path(".ignore"), (&b"\xef\xbb\xbfa\r\n\xff\xfe\n{\n[z\n"[..]).into(), false);
    tree.insert_dir(&path(".gitignore"));
    tree.insert_symlink(&path(".brokerignore"), "missing");
    let (found, _) = files(&tree, &["b", "dir.ignore", ""], &WalkOptions::default());
    assert_eq!(found, [".ignore", "b", "dir.ignore/x"]);
    tree.insert_symlink(&path(".brokerignore"), "/etc/passwd");
    let (_, skipped) = files(&tree, &[""], &WalkOptions::default());
    assert_eq!(skipped.unreadable.into_keys().collect::<Vec<_>>(), [path(".brokerignore")]);
}
