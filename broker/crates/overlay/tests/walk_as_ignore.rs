//! Random ignore files: a walk must visit what the `ignore` crate, and so ripgrep and ruff, visits.

#![allow(clippy::disallowed_methods, reason = "compares with what really is on the disk")]
#![allow(clippy::unwrap_used, reason = "a test stops at what is unexpected")]

use std::{collections::BTreeMap, fs, path::Path};

use ignore::WalkBuilder;
use overlay::{Disk, Memory, WalkOptions, WorkspacePath, walk};
use proptest::{prelude::*, test_runner::RngSeed};

type Files = BTreeMap<String, String>;

const IGNORE_FILES: [&str; 4] = [".gitignore", ".ignore", ".brokerignore", ".git/info/exclude"];

fn directories() -> Vec<&'static str> {
    vec!["", "a/", "a/b/", "a/b/a/", "b/", "b/a/"]
}

fn ignore_text() -> impl Strategy<Value = String> {
    let pattern = prop::sample::select(vec![
        "a",
        "b",
        "x",
        "y.py",
        "*.py",
        "!*.py",
        "!x",
        "!y.py",
        "a/",
        "/a",
        "/b/",
        "b/a",
        "a/*",
        "!a/b",
        "!a/",
        "a/**",
        "**/x",
        "a/**/y.py",
        "*",
        "!*/",
        "# x",
        "\\!x",
        "[x",
        "x ",
        "",
        "!/a/b/x",
    ]);
    prop::collection::vec(pattern, 0..4).prop_map(|lines| lines.join("\n"))
}

/// Every directory has the files `x` and `y.py`; some have ignore files, and the top and `a/b` may be
/// repositories.
fn files() -> impl Strategy<Value = Files> {
    let place = (prop::sample::select(directories()), prop::sample::select(IGNORE_FILES.to_vec()));
    let ignores = prop::collection::vec((place, ignore_text()), 0..6);
    (ignores, any::<bool>(), any::<bool>()).prop_map(|(ignores, is_repository, is_nested)| {
        let plain = directories().into_iter().flat_map(|dir| [format!("{dir}x"), format!("{dir}y.py")]);
        let mut files: Files = plain.map(|path| (path, String::new())).collect();
        if is_repository {
            files.insert(".git/HEAD".into(), String::new());
        }
        if is_nested {
            files.insert("a/b/.git/HEAD".into(), String::new());
        }
        files.extend(ignores.into_iter().map(|((dir, name), text)| (format!("{dir}{name}"), text)));
        files
    })
}

fn write(files: &Files, root: &Path) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn by_ignore(root: &Path, below: &str) -> Vec<String> {
    let mut builder = WalkBuilder::new(root.join(below));
    builder.hidden(false).git_global(false).require_git(true).add_custom_ignore_filename(".brokerignore");
    builder.filter_entry(|entry| entry.file_name() != ".git");
    let files = builder.build().map(Result::unwrap).filter(|it| it.file_type().unwrap().is_file());
    let relative = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
    let mut files: Vec<_> = files.map(|it| relative(it.path())).collect();
    files.sort();
    files
}

/// Runs the same cases each time.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 80,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn visits_what_ignore_visits(files in files(), below in prop::sample::select(directories())) {
        let folder = tempfile::TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(&files, &root);
        let roots = [WorkspacePath::new(below).unwrap()];
        let want = by_ignore(&root, below);
        let disk = Disk::new(&root).unwrap();
        let on_disk: Vec<_> = walk(&disk, &roots, &WalkOptions::default()).map(|it| it.to_string()).collect();
        prop_assert_eq!(&on_disk, &want);
        let memory = Memory::from_files(&files).unwrap();
        let in_memory: Vec<_> = walk(&memory, &roots, &WalkOptions::default()).map(|it| it.to_string()).collect();
        prop_assert_eq!(&in_memory, &want);
    }
}
