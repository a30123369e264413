//! Tests of what a program sees of the workspace, and that the disk has nothing of what it does.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use overlay::WorkspacePath;
use shadow::{Backend, Entry, EntryKind, Exit, Layer, Shadow};

use crate::fixture::{World, run, testkit};

fn path(it: &str) -> WorkspacePath {
    WorkspacePath::new(it).unwrap()
}

#[test]
fn a_branch_is_seen_at_the_workspaces_own_path() {
    for world in World::each(&[("a.txt", "a"), ("src/b.txt", "b"), ("src/c.txt", "c"), ("old/d.txt", "d")]) {
        let shadow = world.open(|branch| {
            branch.write(&path("a.txt"), "changed".into()).unwrap();
            branch.write(&path("new/deep/e.txt"), "e".into()).unwrap();
            branch.remove(&path("src/b.txt")).unwrap();
            branch.rename(&path("old"), &path("moved")).unwrap();
            branch.symlink(&path("link"), "src/c.txt").unwrap();
        });
        let ran = run(
            &shadow,
            &world.root(),
            "pwd; find . -type f -o -type l | sort; cat a.txt link; cat moved/d.txt",
        );
        let root = world.root().display().to_string();
        assert_eq!(
            ran.output,
            format!("{root}\n./a.txt\n./link\n./moved/d.txt\n./new/deep/e.txt\n./src/c.txt\nchangedcd")
        );
        assert_eq!(ran.ended.exit, Exit::Code(0), "{ran:?}");
    }
}

#[test]
fn the_disk_has_nothing_of_what_a_program_does() {
    for world in World::each(&[("a.txt", "a"), ("src/b.txt", "b"), ("src/run.sh", "echo ran")]) {
        fs::hard_link(world.root().join("a.txt"), world.root().join("twin.txt")).unwrap();
        let before = state(&world.root());
        let ran = world.run(
            "echo more >> a.txt; mkdir x; mv src/b.txt x/; chmod +x src/run.sh; ./src/run.sh; ln -s a.txt y; \
         echo z > twin.txt; rm -rf src; ls; rm -rf ./* .[a-z]* ; ls | wc -l",
        );
        assert_eq!(ran.output, "ran\na.txt\ntwin.txt\nx\ny\n0\n", "{ran:?}");
        assert_eq!(state(&world.root()), before);
    }
}

#[test]
fn too_little_space_is_no_reason_for_a_copy() {
    let mut world = World::new(&[("a.txt", "a")]);
    let launcher = world.launcher();
    for size in 1..64 {
        world.sandbox.space = size << 10;
        let opened = Shadow::open(&launcher, &world.root(), &Layer::default(), &world.sandbox);
        if let Ok(opened) = opened {
            assert_eq!(opened.choice().backend, Backend::Overlayfs, "{size} KiB");
        }
    }
    world.sandbox.space = 4 << 20;
    let opened = Shadow::open(&launcher, &world.root(), &Layer::default(), &world.sandbox).unwrap();
    assert_eq!(opened.choice().backend, Backend::Overlayfs);
}

#[test]
fn files_behave_as_files() {
    for world in World::each(&[("a.txt", "a"), ("d/b.txt", "b")]) {
        let script = "mv d e 2>&1 && cat e/b.txt; exec 9>a.txt; flock 9; flock -n a.txt true || echo locked; \
                  mkfifo p; (echo through > p &) ; cat p; touch -d @1000000000 a.txt; stat -c %Y a.txt; \
                  ln a.txt hard; stat -c %h hard; umask 077; echo > own; stat -c %a own";
        let ran = world.run(script);
        assert_eq!(ran.output, "blocked\nthrough\n1000000000\n2\n600\n", "{ran:?}");
    }
}

#[test]
fn files_are_moved_and_linked_between_folders() {
    for world in World::each(&[("a.txt", "a"), ("d/b.txt", "b")]) {
        let script = "mkdir e; python3 -c 'import os; os.rename(\"d/b.txt\", \"e/b.txt\")'; ln a.txt e/a.txt; cat e/*; \
                      t=$(mktemp -d); mkdir $t/x $t/y; echo c > $t/x/c; ln $t/x/c $t/y/c; cat $t/y/c; rm -r $t";
        let ran = world.run(script);
        assert_eq!((&*ran.output, &*ran.errors), ("abc\n", ""), "{ran:?}");
    }
}

#[test]
fn a_file_behaves_as_bytes_in_memory() {
    const OPERATIONS: usize = 20_000;
    let text = "0123456789".repeat(10_000);
    for (number, mut world) in World::each(&[("file", &text)]).enumerate() {
        world.sandbox.read = vec![testkit()];
        // More of them for overlayfs, which is first.
        let seeds = if number == 0 { 1..=3 } else { 1..=1 };
        for seed in seeds {
            let shadow = world.open(|_| ());
            let command = format!("{} fsx file {seed} {OPERATIONS}", testkit().display());
            let ran = run(&shadow, &world.root(), &command);
            assert_eq!(ran.ended.exit, Exit::Code(0), "{ran:?}");
            let written = shadow.harvest().unwrap();
            let bytes = |name| written.iter().find(|it| it.path == path(name)).map(|it| &it.kind);
            assert!(bytes("file").is_some() && bytes("file") == bytes("file.model"));
            assert_eq!(fs::read_to_string(world.root().join("file")).unwrap(), text);
        }
    }
}

#[test]
fn entries_that_come_later_are_seen_by_what_runs() {
    for world in World::each(&[("a.txt", "a"), ("b.txt", "b")]) {
        let shadow = world.open(|_| ());
        assert_eq!(run(&shadow, &world.root(), "cat a.txt b.txt").output, "ab");
        let file = |bytes: &'static str| EntryKind::File { bytes: bytes.into(), executable: false };
        let entries = vec![
            Entry { path: path("a.txt"), kind: file("later") },
            Entry { path: path("b.txt"), kind: EntryKind::Removed },
            Entry { path: path("new/c.txt"), kind: file("c") },
        ];
        shadow.apply(&Layer { entries }).unwrap();
        assert_eq!(run(&shadow, &world.root(), "cat a.txt new/c.txt; ls").output, "laterca.txt\nnew\n");
    }
}

/// All that a careful look at a folder shows: names, kinds, sizes, modes, times, contents.
fn state(folder: &Path) -> Vec<String> {
    let mut all = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let it = fs::symlink_metadata(&path).unwrap();
        let text = if it.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
        let facts = (it.mode(), it.size(), it.mtime_nsec(), it.ino(), it.nlink());
        all.push(format!("{} {facts:?} {text}", path.display()));
        if it.is_dir() {
            all.extend(state(&path));
        }
    }
    all.sort();
    all
}
