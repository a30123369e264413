//! Caches that a run starts with because an earlier one left them, and that no run takes what is not its own for its own.

use std::{fs, path::PathBuf};

use overlay::{Branch, WorkspacePath};
use shadow::{Shadow, Storage};

use crate::fixture::{Ran, World, run, settle};

fn path(it: &str) -> WorkspacePath {
    WorkspacePath::new(it).unwrap()
}

/// A run to its end, after which its caches are kept.
fn ran(world: &World, edit: impl FnOnce(&mut Branch), script: &str) -> Ran {
    let shadow = world.open(edit);
    let ran = run(&shadow, &world.root(), script);
    shadow.keep_caches().unwrap();
    ran
}

fn write(name: &str, text: &'static str) -> impl FnOnce(&mut Branch) {
    let path = path(name);
    move |branch| _ = branch.write(&path, text.into()).unwrap()
}

/// Makes `made` of `a.txt` unless it is newer, as make does.
const MAKE: &str = "mkdir -p .ruff_cache; if test -e .ruff_cache/made && test -z \"$(find a.txt -newer .ruff_cache/made)\"; \
                    then echo fresh; else cp a.txt .ruff_cache/made; echo made; fi; cat .ruff_cache/made";

/// Kept layers.
fn layers(world: &World) -> Vec<PathBuf> {
    let all = fs::read_dir(world.beside("cache/caches")).unwrap().map(|it| it.unwrap().path());
    all.filter(|it| it.is_dir()).collect()
}

#[test]
fn what_one_run_left_the_next_one_has_in_any_branch_and_sees_every_change() {
    let world = World::new(&[("a.txt", "base\n"), ("b.txt", "b")]);
    assert_eq!(ran(&world, |_| (), MAKE).output, "made\nbase\n");
    assert_eq!(ran(&world, |_| (), MAKE).output, "fresh\nbase\n");
    assert_eq!(ran(&world, write("b.txt", "other"), MAKE).output, "fresh\nbase\n");
    assert_eq!(ran(&world, write("a.txt", "one\n"), MAKE).output, "made\none\n");
    assert_eq!(ran(&world, write("a.txt", "one\n"), MAKE).output, "fresh\none\n");
    // Neither another branch nor the workspace itself takes what is of the first one's text.
    assert_eq!(ran(&world, |_| (), MAKE).output, "made\nbase\n");
    assert_eq!(ran(&world, |_| (), MAKE).output, "fresh\nbase\n");
    assert_eq!(ran(&world, write("a.txt", "two\n"), MAKE).output, "made\ntwo\n");
    assert_eq!(ran(&world, write("a.txt", "one\n"), MAKE).output, "made\none\n");
    assert!(!world.root().join(".ruff_cache").exists());
    assert_eq!(layers(&world).len(), 1, "layers that are not used any more go");
}

#[test]
fn a_change_on_the_disk_is_seen_whatever_its_time() {
    let world = World::new(&[("a.txt", "base\n")]);
    ran(&world, |_| (), MAKE);
    assert_eq!(ran(&world, |_| (), MAKE).output, "fresh\nbase\n");
    let file = world.root().join("a.txt");
    fs::write(&file, "late\n").unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
    assert_eq!(ran(&world, |_| (), MAKE).output, "made\nlate\n");
    assert_eq!(ran(&world, |_| (), MAKE).output, "fresh\nlate\n");
}

/// A run of `first`, during which `change` is made on the disk, then one of `next`.
fn changed_meanwhile(world: &World, first: &str, change: impl FnOnce(), next: &str) -> String {
    let shadow = world.open(|_| ());
    run(&shadow, &world.root(), first);
    change();
    shadow.keep_caches().unwrap();
    drop(shadow);
    ran(world, |_| (), next).output
}

#[test]
fn what_changes_on_the_disk_while_the_first_run_goes_on_is_newer_than_what_it_left() {
    let files = [("a.txt", "base\n"), ("b.txt", "b")];
    let world = World::new(&files);
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let write = || {
        fs::write(world.root().join("a.txt"), "late\n").unwrap();
        let file = fs::File::options().write(true).open(world.root().join("a.txt")).unwrap();
        file.set_modified(old).unwrap();
    };
    assert_eq!(changed_meanwhile(&world, MAKE, write, MAKE), "made\nlate\n");
    assert_eq!(ran(&world, |_| (), MAKE).output, "fresh\nlate\n");
    let world = World::new(&files);
    assert_eq!(changed_meanwhile(&world, MAKE, || (), MAKE), "fresh\nbase\n");
    // Something that is gone leaves a trace in its folder only.
    let list = "mkdir -p .ruff_cache; find d -maxdepth 0 -newer .ruff_cache/list; ls d > .ruff_cache/list";
    let world = World::new(&[("d/a.txt", "a"), ("d/b.txt", "b")]);
    let remove = || fs::remove_file(world.root().join("d/a.txt")).unwrap();
    assert_eq!(changed_meanwhile(&world, list, remove, list), "d\n");
}

#[test]
fn caches_of_the_users_that_change_while_the_first_run_goes_on_win() {
    let script = "cat .ruff_cache/users; echo own > .ruff_cache/own";
    let world = World::new(&[(".ruff_cache/users", "users\n")]);
    let write = || fs::write(world.root().join(".ruff_cache/users"), "other\n").unwrap();
    assert_eq!(changed_meanwhile(&world, script, write, "cat .ruff_cache/*"), "other\n");
    let world = World::new(&[(".ruff_cache/users", "users\n")]);
    let remove = || fs::remove_dir_all(world.root().join(".ruff_cache")).unwrap();
    assert_eq!(changed_meanwhile(&world, script, remove, "ls -d .ruff_cache"), "");
}

#[test]
fn what_is_changed_before_the_first_program_is_known() {
    let world = World::new(&[("a.txt", "base\n")]);
    let shadow = world.open(|_| ());
    // The workspace is looked at only afterwards, as long as nothing is kept.
    fs::write(world.root().join("a.txt"), "early\n").unwrap();
    settle(&world.beside(""));
    assert_eq!(run(&shadow, &world.root(), MAKE).output, "made\nearly\n");
    shadow.keep_caches().unwrap();
    drop(shadow);
    assert_eq!(ran(&world, |_| (), MAKE).output, "fresh\nearly\n");
}

#[test]
fn what_a_run_wrote_to_sources_is_not_taken_for_the_workspaces() {
    let world = World::new(&[("a.txt", "base\n")]);
    assert_eq!(ran(&world, |_| (), &format!("echo own > a.txt; {MAKE}")).output, "made\nown\n");
    assert_eq!(ran(&world, |_| (), MAKE).output, "made\nbase\n");
    // A file that a run wrote is fresh where its branch took it over.
    assert_eq!(ran(&world, |_| (), &format!("echo own > a.txt; {MAKE}")).output, "made\nown\n");
    assert_eq!(ran(&world, write("a.txt", "own\n"), MAKE).output, "fresh\nown\n");
}

#[test]
fn a_folder_of_which_something_is_gone_is_newer() {
    let world = World::new(&[("d/a.txt", "a"), ("d/b.txt", "b")]);
    let list = "mkdir -p .ruff_cache; find d -maxdepth 0 -newer .ruff_cache/list; ls d > .ruff_cache/list";
    assert_eq!(ran(&world, |_| (), list).output, "");
    assert_eq!(ran(&world, |_| (), list).output, "");
    let removed = |branch: &mut Branch| _ = branch.remove(&path("d/b.txt")).unwrap();
    assert_eq!(ran(&world, removed, list).output, "d\n");
    assert_eq!(ran(&world, removed, list).output, "");
    assert_eq!(ran(&world, |_| (), list).output, "d\n");
    assert_eq!(ran(&world, |_| (), &format!("echo > d/own; {list}")).output, "d\n");
    assert_eq!(ran(&world, |_| (), list).output, "d\n");
    assert_eq!(ran(&world, |_| (), list).output, "");
}

#[test]
fn the_users_own_caches_lie_below_and_win_when_they_change() {
    let world = World::new(&[("a.txt", "a"), (".ruff_cache/users", "users\n"), (".mypy_cache/users", "")]);
    let script =
        "cat .ruff_cache/*; echo own > .ruff_cache/own; rm -f .ruff_cache/users; echo > .mypy_cache/own";
    assert_eq!(ran(&world, |_| (), script).output, "users\n");
    assert_eq!(ran(&world, |_| (), "cat .ruff_cache/*; ls .mypy_cache").output, "own\nown\nusers\n");
    assert_eq!(fs::read_to_string(world.root().join(".ruff_cache/users")).unwrap(), "users\n");
    assert!(!world.root().join(".ruff_cache/own").exists());
    fs::write(world.root().join(".ruff_cache/new"), "new\n").unwrap();
    assert_eq!(ran(&world, |_| (), "cat .ruff_cache/*; ls .mypy_cache").output, "new\nusers\nown\nusers\n");
}

#[test]
fn a_run_that_broke_off_leaves_nothing_and_a_cold_one_uses_nothing() {
    let mut world = World::new(&[("a.txt", "base\n")]);
    ran(&world, |_| (), MAKE);
    ran(&world, |_| (), "echo half > .ruff_cache/made; kill -9 $$");
    ran(&world, |_| (), "echo half > .ruff_cache/made; (sleep 1000 &)");
    let shadow = world.open(|_| ());
    run(&shadow, &world.root(), "echo half > .ruff_cache/made");
    drop(shadow);
    assert_eq!(ran(&world, |_| (), "cat .ruff_cache/made").output, "base\n");
    world.sandbox.warm = false;
    assert_eq!(ran(&world, |_| (), MAKE).output, "made\nbase\n");
    ran(&world, |_| (), "mkdir .ruff_cache; echo cold > .ruff_cache/made");
    world.sandbox.warm = true;
    assert_eq!(ran(&world, |_| (), "cat .ruff_cache/made").output, "base\n");
}

#[test]
fn runs_at_one_time_share_nothing_that_is_written() {
    let world = World::new(&[("a.txt", "base\n")]);
    ran(&world, |_| (), "mkdir .ruff_cache; echo first > .ruff_cache/lock");
    let (one, two) = (world.open(|_| ()), world.open(|_| ()));
    let script = "exec 9>>.ruff_cache/lock; flock -n 9 && echo locked; cat .ruff_cache/lock; echo more >> .ruff_cache/lock";
    let output = fs::File::create(world.beside("one")).unwrap();
    let text = format!("{script}; echo ready; sleep 1000");
    let mut running =
        crate::fixture::start(&one, crate::fixture::script(&world.root(), &text), &output, &output);
    while !fs::read_to_string(world.beside("one")).unwrap().contains("ready") {
        std::thread::yield_now();
    }
    assert_eq!(run(&two, &world.root(), script).output, "locked\nfirst\n");
    assert_eq!(one.keep_caches().unwrap(), None, "a program runs");
    two.keep_caches().unwrap();
    running.signals()(9).unwrap();
    running.wait();
    // The layer that is in use stays until then.
    assert_eq!(layers(&world).len(), 2);
    assert_eq!(run(&one, &world.root(), "cat .ruff_cache/lock").output, "first\nmore\n");
    drop(one);
    drop(two);
    assert_eq!(ran(&world, |_| (), "cat .ruff_cache/lock; echo > .ruff_cache/x").output, "first\nmore\n");
    assert_eq!(layers(&world).len(), 1);
}

#[test]
fn caches_by_seconds_are_not_used_for_another_text_of_the_same_second() {
    let world = World::new(&[("a.py", "x = 1\n"), ("b.txt", "b")]);
    let script = "python3 -B -c 'import sys; sys.dont_write_bytecode = False; import a; print(a.x)'";
    for number in 1..6 {
        let text = if number % 2 == 0 { "x = 2\n" } else { "x = 3\n" };
        let ran = ran(&world, write("a.py", text), script);
        assert_eq!(format!("x = {}", ran.output), text, "{ran:?}");
    }
}

#[test]
fn files_that_tell_of_outputs_are_kept_of_runs_that_have_none() {
    let world = World::new(&[("a.ts", "")]);
    ran(&world, |_| (), "echo state > tsconfig.tsbuildinfo; echo js > a.js");
    assert_eq!(ran(&world, |_| (), "ls").output, "a.ts\n");
    ran(&world, |_| (), "echo state > tsconfig.tsbuildinfo");
    assert_eq!(ran(&world, |_| (), "ls").output, "a.ts\ntsconfig.tsbuildinfo\n");
}

#[test]
fn caches_take_no_more_than_their_limit() {
    let world = World::new(&[("a.txt", "a")]);
    let storage = Storage { caches: 50_000, ..world.storage() };
    let launcher = world.launcher().with_storage(storage);
    let open = || Shadow::open(&launcher, &world.root(), &shadow::Layer::default(), &world.sandbox).unwrap();
    let shadow = open();
    run(&shadow, &world.root(), "mkdir .ruff_cache; echo small > .ruff_cache/a");
    assert!(shadow.keep_caches().unwrap().is_some_and(|it| it > 0));
    drop(shadow);
    assert_eq!(run(&open(), &world.root(), "cat .ruff_cache/a").output, "small\n");
    let shadow = open();
    run(&shadow, &world.root(), "head -c 100000 /dev/urandom > .ruff_cache/b");
    shadow.keep_caches().unwrap();
    drop(shadow);
    assert_eq!(run(&open(), &world.root(), "ls .ruff_cache").output, "");
}

#[test]
fn a_folder_of_the_workspace_does_not_become_a_cache() {
    let world = World::new(&[("src/a.txt", "mine\n")]);
    let mark = "echo x > src/CACHEDIR.TAG; echo other > src/a.txt; mkdir made; echo x > made/CACHEDIR.TAG; echo kept > made/a";
    ran(&world, |_| (), mark);
    assert_eq!(ran(&world, |_| (), "cat src/a.txt made/a; ls src").output, "mine\nkept\na.txt\n");
    ran(&world, write("new/a.txt", "branch\n"), "echo x > new/CACHEDIR.TAG; echo other > new/a.txt");
    assert_eq!(ran(&world, write("new/a.txt", "branch\n"), "cat new/a.txt").output, "branch\n");
}

#[test]
fn what_is_kept_takes_no_more_space_than_it_took() {
    let world = World::new(&[("a.txt", "a")]);
    let fill = "mkdir .ruff_cache; truncate -s 100M .ruff_cache/a; echo x >> .ruff_cache/a; ln .ruff_cache/a .ruff_cache/b";
    ran(&world, |_| (), fill);
    let sizes = ran(&world, |_| (), "stat -c %s .ruff_cache/a .ruff_cache/b; tail -c 2 .ruff_cache/b");
    assert_eq!(sizes.output, "104857602\n104857602\nx\n");
    let used =
        std::process::Command::new("du").arg("-sk").arg(world.beside("cache/caches")).output().unwrap();
    let kib: u64 =
        String::from_utf8(used.stdout).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!(kib < 1024, "{kib} KiB");
}

#[test]
fn a_cache_outside_of_the_workspace_is_kept_over_the_users_own() {
    let mut world = World::new(&[("a.txt", "a")]);
    let (users, absent) = (world.home().join(".cache/go-build"), world.home().join(".cache/absent"));
    fs::create_dir_all(users.join("00")).unwrap();
    fs::write(users.join("00/users"), "users\n").unwrap();
    world.sandbox.stores = vec![users.clone(), absent.clone()];
    let list = format!("cd {}; cat */* | sort", world.home().join(".cache").display());
    let add = |name: &str| {
        format!(
            "mkdir -p {0}/00; echo {name} > {0}/00/{name}; echo {name} > {1}/{name}",
            users.display(),
            absent.display()
        )
    };
    assert_eq!(ran(&world, |_| (), &format!("{}; {list}", add("one"))).output, "one\n");
    let list = format!("cat {}/*/* {}/* | sort", users.display(), absent.display());
    assert_eq!(ran(&world, |_| (), &list).output, "one\none\nusers\n");
    // Any branch has it, and what the user's own tools write shows through.
    fs::write(users.join("00/later"), "later\n").unwrap();
    let other = ran(&world, write("a.txt", "other"), &format!("{}; {list}", add("two")));
    assert_eq!(other.output, "later\none\none\ntwo\ntwo\nusers\n");
    assert_eq!(ran(&world, |_| (), &list).output, other.output);
    assert_eq!(fs::read_dir(users.join("00")).unwrap().count(), 2, "the user's own stay as they are");
    assert!(!absent.exists());
    assert_eq!(layers(&world).len(), 2, "one for each of them");
    // Files of a killed run may be half written, and a cold run keeps nothing.
    ran(&world, |_| (), &format!("{}; kill -9 $$", add("killed")));
    assert_eq!(ran(&world, |_| (), &list).output, other.output);
    world.sandbox.warm = false;
    assert_eq!(ran(&world, |_| (), &format!("ls {}", absent.display())).output, "");
}

#[test]
fn runs_at_one_time_add_to_a_cache_one_after_the_other() {
    let mut world = World::new(&[]);
    let store = world.beside("store");
    fs::create_dir(&store).unwrap();
    world.sandbox.stores = vec![store.clone()];
    let open = || world.open(|_| ());
    let (one, two) = (open(), open());
    for (shadow, name) in [(one, "one"), (two, "two")] {
        run(&shadow, &world.root(), &format!("echo {name} > {}/{name}", store.display()));
        shadow.keep_caches().unwrap();
    }
    assert_eq!(ran(&world, |_| (), &format!("cat {}/*", store.display())).output, "one\ntwo\n");
}

#[test]
fn holes_of_files_take_no_time_at_the_end_of_a_run() {
    let world = World::new(&[("a.txt", "a")]);
    let shadow = world.open(|_| ());
    let script = "mkdir .ruff_cache; truncate -s 8T img .ruff_cache/img; echo x >> .ruff_cache/img";
    assert!(run(&shadow, &world.root(), script).ended.is_whole());
    assert!(shadow.keep_caches().unwrap().is_some());
    drop(shadow);
    let next = world.run("tail -c 2 .ruff_cache/img; stat -c %s .ruff_cache/img");
    assert_eq!(next.output, "x\n8796093022210\n", "{next:?}");
}
