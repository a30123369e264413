//! The same for a user who is no administrator.

use std::{
    env, fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    process::Command,
};

use crate::fixture::{TESTKIT, World, run_program, testkit};

/// A user that has nothing on any system.
const USER: u32 = 54_321;

#[test]
fn everything_holds_for_an_ordinary_user() {
    // They are ordinary already.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (tests, kit) = (folder.path().join("tests"), folder.path().join("testkit"));
    fs::copy(env::current_exe().unwrap(), &tests).unwrap();
    fs::copy(testkit(), &kit).unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    std::os::unix::fs::chown(&own, Some(USER), Some(USER)).unwrap();
    let output = Command::new(tests)
        .args(["--skip", "ordinary"])
        .current_dir(&own)
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap())
        .env("TMPDIR", &own)
        .env(TESTKIT, kit)
        .uid(USER)
        .gid(USER)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn an_administrators_command_changes_what_is_another_users() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new(&[("a.txt", "a\n"), ("d/b.txt", "b\n"), (".ruff_cache/c", "")]);
    for path in ["", "a.txt", "d", "d/b.txt", ".ruff_cache", ".ruff_cache/c"] {
        std::os::unix::fs::chown(world.root().join(path), Some(USER), Some(USER)).unwrap();
    }
    let script = "id -u; echo more >> a.txt; rm d/b.txt; echo n > d/n.txt; echo w > new.txt; echo h > \"$HOME/h\"; \
                  echo c > .ruff_cache/c; cat a.txt d/* new.txt";
    let write = |branch: &mut overlay::Branch| {
        let path = |it| overlay::WorkspacePath::new(it).unwrap();
        branch.write(&path("a.txt"), "branch\n".into()).unwrap();
        branch.write(&path("new.txt"), "new\n".into()).unwrap();
    };
    for _ in 0..2 {
        let shadow = world.open(write);
        let mut program = crate::fixture::script(&world.root(), script);
        program.environment.push(("HOME".into(), world.home().into()));
        let ran = run_program(&shadow, program);
        assert_eq!(ran.output, format!("{USER}\nbranch\nmore\nn\nw\n"), "{ran:?}");
        shadow.keep_caches().unwrap();
    }
    assert_eq!(fs::read_to_string(world.root().join("a.txt")).unwrap(), "a\n");
}
