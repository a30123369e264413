//! Tests of copies: what is kept of them, and that nothing of a run is taken for the workspace's.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use overlay::{Branch, WorkspacePath};
use shadow::{Limits, Shadow, Storage};

use crate::fixture::{World, run, run_program, script};

fn path(it: &str) -> WorkspacePath {
    WorkspacePath::new(it).unwrap()
}

/// Folders of copies of the workspace.
fn copies(world: &World) -> Vec<PathBuf> {
    let all =
        fs::read_dir(world.beside("cache/copies")).unwrap().map(|it| it.unwrap().path().join("tree/work"));
    all.filter(|it| it.is_dir()).collect()
}

fn copy(world: &World) -> PathBuf {
    let [copy] = <[PathBuf; 1]>::try_from(copies(world)).unwrap();
    copy
}

#[test]
fn a_copy_is_kept_and_brought_up_to_date_by_what_differs() {
    let world = World::copied(&[("a.txt", "a"), ("b.txt", "b"), ("d/c.txt", "c"), ("d/d.txt", "d")]);
    world.run("true");
    // The number of a file that is gone may be given again.
    let inode = |name: &str| {
        let it = fs::metadata(copy(&world).join(name)).unwrap();
        (it.ino(), it.ctime(), it.ctime_nsec())
    };
    let before = [inode("a.txt"), inode("b.txt")];
    let ran = world
        .run("echo x > b.txt; rm d/c.txt; echo n > n.txt; mkdir -p e/f; echo g > e/f/g; chmod 600 a.txt");
    assert!(ran.ended.is_whole(), "{ran:?}");
    fs::write(world.root().join("d/d.txt"), "changed").unwrap();
    fs::write(world.root().join("later.txt"), "later").unwrap();
    let ran = run(
        &world.open(|it| _ = it.write(&path("a.txt"), "branch".into()).unwrap()),
        &world.root(),
        "cat a.txt b.txt d/c.txt d/d.txt later.txt; find . -type f | sort | tr '\\n' ' '",
    );
    assert_eq!(ran.output, "branchbcchangedlater./a.txt ./b.txt ./d/c.txt ./d/d.txt ./later.txt ", "{ran:?}");
    assert_eq!(world.run("cat a.txt").output, "a");
    let inodes = [inode("a.txt"), inode("b.txt")];
    assert!(inodes[0] != before[0] && inodes[1] != before[1]);
    world.run("true");
    assert_eq!([inode("a.txt"), inode("b.txt")], inodes, "what is right is left alone");
}

#[test]
fn a_copy_is_its_users_alone_and_shares_no_file_with_the_workspace() {
    let world = World::copied(&[("a.txt", "a"), ("b/c.txt", "c")]);
    world.run("echo more >> a.txt; echo more >> b/c.txt");
    let copies = world.beside("cache/copies");
    assert_eq!(fs::metadata(&copies).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(world.root().join("a.txt")).unwrap().nlink(), 1);
    assert_ne!(
        fs::metadata(world.root().join("a.txt")).unwrap().ino(),
        fs::metadata(copy(&world).join("a.txt")).unwrap().ino()
    );
    assert_eq!(fs::read_to_string(world.root().join("a.txt")).unwrap(), "a");
}

#[test]
fn links_into_the_workspace_lead_into_the_copy_and_others_where_they_led() {
    for world in World::each_unisolated(&[("a.txt", "a"), ("d/b.txt", "b")]) {
        fs::write(world.beside("outside.txt"), "outside").unwrap();
        symlink(world.root().join("a.txt"), world.root().join("absolute")).unwrap();
        symlink("../../outside.txt", world.root().join("d/out")).unwrap();
        symlink("../a.txt", world.root().join("d/in")).unwrap();
        let shadow = world.open(|_| ());
        let ran =
            run(&shadow, &world.root(), "cat absolute d/out d/in; echo x > absolute; ln -s $PWD/a.txt new");
        assert_eq!(ran.output, "aoutsidea");
        assert_eq!(
            fs::read_to_string(world.root().join("a.txt")).unwrap(),
            "a",
            "a link led to the user's file"
        );
        let written: Vec<_> =
            shadow.harvest().unwrap().into_iter().map(|it| (it.path.to_string(), it.kind)).collect();
        let target = world.root().join("a.txt").display().to_string();
        let link = shadow::EntryKind::Link(target);
        assert_eq!(written.last(), Some(&("new".to_owned(), link)), "{written:?}");
        assert_eq!(written.len(), 2, "{written:?}");
    }
}

#[test]
fn absolute_links_lead_into_the_workspace_whatever_shows_it() {
    for world in World::each(&[("a.txt", "a"), ("d/b.txt", "b")]) {
        symlink(world.root().join("a.txt"), world.root().join("absolute")).unwrap();
        symlink("../../work/a.txt", world.root().join("d/around")).unwrap();
        let ran = world.run("cat absolute d/around && echo c > c.txt && ln -s $PWD/c.txt new && cat new");
        assert_eq!(ran.output, "aac\n", "{ran:?}");
    }
}

#[test]
fn paths_are_the_workspaces_in_arguments_variables_and_output() {
    for world in World::each_unisolated(&[("bin/tool", "#!/bin/sh\necho tool at $0\n"), ("a.txt", "a")]) {
        fs::set_permissions(world.root().join("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        let root = world.root().display().to_string();
        let mut program =
            script(&world.root().join("bin"), &format!("pwd >&2; cat {root}/a.txt; tool; echo $MINE"));
        program.environment = vec![
            ("PATH".into(), format!("{root}/bin:/usr/bin:/bin").into()),
            ("MINE".into(), format!("{root}x").into()),
        ];
        let ran = run_program(&world.open(|_| ()), program);
        assert_eq!(ran.errors, format!("{root}/bin\n"));
        assert_eq!(ran.output, format!("atool at {root}/bin/tool\n{root}x\n"));
    }
}

#[test]
fn what_was_killed_leaves_no_cache_and_a_copy_that_the_next_run_brings_right() {
    let world = World::copied(&[("a.txt", "a"), (".ruff_cache/old", "old")]);
    let kept = world.run("cat .ruff_cache/old; echo half > .ruff_cache/new");
    assert_eq!(kept.output, "old");
    assert_eq!(world.run("ls .ruff_cache").output, "new\nold\n");
    let mut program = script(&world.root(), "echo x > a.txt; echo half > .ruff_cache/half; kill -9 $$");
    program.limits = Limits::default();
    let ran = run_program(&world.open(|_| ()), program);
    assert!(!ran.ended.is_whole());
    assert_eq!(world.run("cat a.txt; ls .ruff_cache").output, "a");
    // A process that is left behind and ended counts as killed, too.
    world.run("mkdir .ruff_cache; (sleep 1000 &)");
    assert_eq!(world.run("ls -d .ruff_cache").output, "");
}

#[test]
fn a_file_that_changes_its_content_is_newer_than_all_that_was_made_of_it() {
    let world = World::copied(&[("a.txt", "a"), ("old.txt", "o")]);
    let old = fs::File::options().write(true).open(world.root().join("old.txt")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    let make = "find a.txt -newer .ruff_cache/made; stat -c %Y old.txt; mkdir -p .ruff_cache; touch .ruff_cache/made";
    let edited = |branch: &mut Branch| _ = branch.write(&path("a.txt"), "b".into()).unwrap();
    let ran = |edit: &dyn Fn(&mut Branch)| run(&world.open(edit), &world.root(), make).output;
    assert_eq!(ran(&|_| ()), "1000000000\n");
    assert_eq!(ran(&edited), "a.txt\n1000000000\n");
    assert_eq!(ran(&edited), "1000000000\n");
    assert_eq!(ran(&|_| ()), "a.txt\n1000000000\n");
    assert_eq!(ran(&|_| ()), "1000000000\n");
}

#[test]
fn two_runs_at_one_time_have_a_copy_each() {
    let world = World::copied(&[("a.txt", "a")]);
    let (first, second) = (world.open(|_| ()), world.open(|_| ()));
    run(&first, &world.root(), "echo x > a.txt");
    assert_eq!(run(&second, &world.root(), "cat a.txt").output, "a");
    assert_eq!(copies(&world).len(), 2);
}

#[test]
fn a_cold_run_has_nothing_of_earlier_ones_and_leaves_nothing() {
    let mut world = World::copied(&[("a.txt", "a")]);
    world.run("mkdir .ruff_cache");
    world.sandbox.warm = false;
    assert_eq!(world.run("ls -A").output, "a.txt\n");
    world.run("touch .ruff_cache");
    assert_eq!(copies(&world).len(), 1);
}

#[test]
fn copies_that_were_not_used_for_long_go_first() {
    let files: &[(&str, &str)] = &[("a.txt", "0123456789")];
    let worlds = [World::copied(files), World::copied(files), World::copied(files)];
    let storage = Storage { copies: 25, ..Storage::new(worlds[0].beside("cache")) };
    let open = |world: &World| {
        let launcher = world.launcher().with_storage(storage.clone());
        Shadow::open(&launcher, &world.root(), &shadow::Layer::default(), &world.sandbox).unwrap()
    };
    let has = |folder: &Path| {
        fs::read_dir(folder).unwrap().filter(|it| it.as_ref().unwrap().path().is_dir()).count()
    };
    worlds.iter().for_each(|it| drop(open(it)));
    assert_eq!(has(&storage.folder.join("copies")), 2);
    // Copies in use stay, whatever they take.
    let _all: Vec<_> = worlds.iter().map(open).collect();
    assert_eq!(has(&storage.folder.join("copies")), 3);
    let small = worlds[0].launcher().with_storage(Storage { copies: 5, ..storage });
    let error = Shadow::open(&small, &worlds[0].root(), &shadow::Layer::default(), &worlds[0].sandbox);
    let error = error.err().unwrap().to_string();
    assert!(error.contains("takes 10 bytes, more than the limit of 5"), "{error}");
}
