//! Runs all other tests as a user who is no administrator.

use std::{env, fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use crate::fixture::{NEEDS_FUSE, TESTKIT, World, run_program, testkit};

/// A user that has nothing on any system but a name, for which `fusermount3` asks.
const USER: u32 = 65_534;

#[test]
fn everything_holds_for_an_ordinary_user() {
    // The tests run as an ordinary user already.
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
    let device = folder.path().join("fuse");
    let output = with_device(&device)
        .arg(tests)
        .args(["--skip", "ordinary"])
        .current_dir(&own)
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap())
        .env("TMPDIR", &own)
        .env(TESTKIT, kit)
        .envs(env::var_os(NEEDS_FUSE).map(|it| (NEEDS_FUSE, it)))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Runs a program as the user, to whom `/dev/fuse` is open as it is on most systems: in namespaces of its own, a node of the test's takes its
/// place.
fn with_device(device: &Path) -> Command {
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    let kind = rustix::fs::FileType::CharacterDevice;
    let made = rustix::fs::mknodat(rustix::fs::CWD, device, kind, mode, rustix::fs::makedev(10, 229));
    let opened = made.is_ok() && fs::set_permissions(device, fs::Permissions::from_mode(0o666)).is_ok();
    let script = "[ -z \"$1\" ] || mount --bind \"$1\" /dev/fuse; shift; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]);
    command.arg(if opened && Path::new("/dev/fuse").exists() { device } else { Path::new("") });
    let user = USER.to_string();
    command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"]);
    command
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
