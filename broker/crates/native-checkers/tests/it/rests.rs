//! Tests of what answers rest on, and what becomes of them when that changes.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use lint::Linter as _;

use crate::fixture::{World, defined};

const OWN: &str = "command = ['own']\nglobs = ['*.x']\noutput = 'regex'\n\
                   pattern = '^(?<path>[^:]+):(?<line>\\d+):(?<column>\\d+): (?<message>.*)$'\n";

/// A checker that says what each file holds.
fn world() -> World {
    let world = World::new(&[("a.x", "one\n"), ("b.x", "two\n")]);
    world.script("own", "for it in *.x; do echo \"$it:1:1: $(cat $it)\"; done; exit 1");
    world
}

#[test]
fn files_that_change_before_the_end_are_looked_at_again() {
    let world = world();
    let (file, times) = (world.root().join("b.x"), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&times);
    let once = world.disk_with(move || {
        if times.fetch_add(1, SeqCst) == 0 {
            fs::write(&file, "changed\n").unwrap();
        }
    });
    insta::assert_snapshot!(world.check(&defined(OWN), &once, &["a.x", "b.x"]), @r#"
    a.x: complete
      1:1 "one" error error: one
    b.x: complete
      1:1 "changed" error error: changed
    "#);
    assert!(count.load(SeqCst) >= 2);
    // No report is kept of these files.
    world.write("a.x", "another\n");
    let file = world.root().join("b.x");
    let always = world.disk_with(move || {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text + "x").unwrap();
    });
    insta::assert_snapshot!(world.check(&defined(OWN), &always, &["a.x"]), @"a.x: pending: files that it rests on changed while it was checked");
}

#[test]
fn what_is_installed_before_the_end_is_looked_at_again() {
    let world = world();
    let folder = world.root().join("libraries/new");
    let view = world.disk_with(move || fs::create_dir_all(&folder).unwrap());
    let own = defined(&format!("{OWN}outside = ['libraries']\ndepends-on = ['*.x']"));
    let linter = world.checker(&own).unwrap();
    let before = linter.context(&world.disk());
    assert!(world.check(&own, &view, &["a.x"]).starts_with("a.x: complete"));
    assert_ne!(linter.context(&world.disk()), before);
}

#[test]
fn each_project_has_an_outside_of_its_own() {
    let world = World::new(&[("p/own.toml", ""), ("p/a.x", ""), ("q/own.toml", ""), ("q/a.x", "")]);
    world.script("own", "exit 0");
    let own = defined(&format!("{OWN}roots = ['own.toml']\noutside = ['libraries']\ndepends-on = ['*.x']"));
    let linter = world.checker(&own).unwrap();
    let before = linter.context(&world.disk());
    assert_eq!(linter.context(&world.disk()), before);
    fs::create_dir_all(world.root().join("q/libraries/one")).unwrap();
    assert_ne!(linter.context(&world.disk()), before);
}

#[test]
fn a_commit_has_folders_where_the_disk_has_files() {
    let world = World::new(&[("a.x", "a file\n"), ("b.x/c.x", "in a folder\n"), ("d.x", "the same\n")]);
    world.script(
        "own",
        "find . -name '*.x' -type f | sort | while read -r it; do echo \"$it:1:1: $(cat $it)\"; done; exit 1",
    );
    let commit =
        World::commit(&[("a.x/c.x", "now a folder\n"), ("b.x", "now a file\n"), ("d.x", "the same\n")]);
    insta::assert_snapshot!(world.check(&defined(OWN), &commit, &["a.x/c.x", "b.x", "d.x"]), @r#"
    a.x/c.x: complete
      1:1 "now" error error: now a folder
    b.x: complete
      1:1 "now" error error: now a file
    d.x: complete
      1:1 "the" error error: the same
    "#);
}

#[test]
fn files_that_were_not_looked_at_are_not_clean() {
    let world = World::new(&[("a.x", "one\n"), ("b.x", "two\n"), ("c.x", "three\n")]);
    world.script("own", "echo looked at: a.x >&2; echo c.x:1:1: it; exit 1");
    let own = defined(&format!("{OWN}listed-pattern = '^looked at: (?<path>.+)$'"));
    insta::assert_snapshot!(world.check(&own, &world.disk(), &["a.x", "b.x", "c.x"]), @r#"
    a.x: complete
    b.x: excluded: own does not look at it in this project
    c.x: complete
      1:1 "three" error error: it
    "#);
}

#[test]
fn caches_of_tools_are_kept_for_the_next_branch() {
    let world = World::new(&[("a.x", "one\n"), ("b.x", "two\n")]);
    world.script(
        "own",
        "if [ -e .turbo/made ]; then echo a.x:1:1: warm; exit 1; fi; mkdir .turbo; echo x > .turbo/made",
    );
    let own = defined(OWN);
    insta::assert_snapshot!(world.check(&own, &world.branch(&[("b.x", "1\n")]), &["a.x"]), @"a.x: complete");
    insta::assert_snapshot!(world.check(&own, &world.branch(&[("b.x", "2\n")]), &["a.x"]), @r#"
    a.x: complete
      1:1 "one" error error: warm
    "#);
    assert!(!world.root().join(".turbo").exists());
}
