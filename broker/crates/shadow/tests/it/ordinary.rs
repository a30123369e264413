//! The same for a user who is no administrator.

use std::{
    env, fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    process::Command,
};

use crate::fixture::{TESTKIT, testkit};

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
