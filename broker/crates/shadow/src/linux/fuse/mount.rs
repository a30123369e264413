//! A mount that does not outlive the processes it is for.
//!
//! Before anything is mounted, a process is started that does nothing but wait until the one that serves the folder closes a pipe, or
//! dies in whatever way. Then it unmounts the folder and removes what was stored for it.

#![expect(clippy::disallowed_methods, reason = "Broker's own cache folder, and the system's table of mounts")]

use std::{
    fs,
    io::{self, Read as _},
    os::unix::{
        ffi::OsStringExt as _,
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    thread::available_parallelism,
};

use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::{
    io::Errno,
    mount::UnmountFlags,
    process::{Pid, geteuid},
};

use super::{super::this_program, state::Served};
use crate::removal::remove_all;

/// A folder that is mounted.
pub(super) struct Mount {
    watcher: Child,
    at: PathBuf,
    kept: PathBuf,
    _session: BackgroundSession,
}

/// Mounts a folder at `at`, which lies in `kept`. That goes with it.
pub(super) fn mount(served: Served, at: &Path, kept: &Path) -> io::Result<Mount> {
    expect_name()?;
    let watcher = watch(at, kept)?;
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("broker".to_owned()),
        MountOption::Subtype("broker".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
    ];
    if geteuid().is_root() {
        // Programs of an administrator become other users. Rights hold for them, and the way here is closed to others.
        config.acl = SessionACL::All;
    }
    config.n_threads = Some(available_parallelism().map_or(2, |it| it.get().clamp(2, 8)));
    let session = Session::new(served, at, &config).and_then(Session::spawn);
    match session {
        Ok(session) => Ok(Mount { watcher, at: at.to_owned(), kept: kept.to_owned(), _session: session }),
        Err(error) => {
            end(watcher);
            Err(error)
        }
    }
}

impl Mount {
    pub(super) fn watcher(&self) -> Pid {
        Pid::from_child(&self.watcher)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = self.watcher.stdin.take();
        // The watcher may have been killed.
        if !self.watcher.wait().is_ok_and(|it| it.success() && it.signal().is_none()) {
            let _ = clear(&self.at, &self.kept);
        }
    }
}

fn watch(at: &Path, kept: &Path) -> io::Result<Child> {
    Command::new(this_program())
        .arg(super::super::UNMOUNT)
        .args([at, kept])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Signals that end the others are not for the watcher.
        .process_group(0)
        .spawn()
}

fn end(mut watcher: Child) {
    let _ = watcher.stdin.take();
    let _ = watcher.wait();
}

/// The whole life of the process that unmounts.
pub(crate) fn unmount_at_the_end() -> ExitCode {
    let mut args = std::env::args_os().skip(2).map(PathBuf::from);
    let (Some(at), Some(kept)) = (args.next(), args.next()) else { return ExitCode::FAILURE };
    // Nothing is ever written to it.
    let _ = io::stdin().read(&mut [0]);
    match clear(&at, &kept) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Unmounts what is mounted at `at`, and removes the folder `kept` in which that lies.
pub(crate) fn clear(at: &Path, kept: &Path) -> io::Result<()> {
    // Each may be covered by another.
    while is_mounted(at)? {
        unmount(at)?;
    }
    remove_all(kept)
}

fn unmount(at: &Path) -> io::Result<()> {
    match rustix::mount::unmount(at, UnmountFlags::DETACH) {
        Err(Errno::PERM) => {}
        unmounted => return Ok(unmounted?),
    }
    let status = Command::new("fusermount3")
        .args(["-u", "-q", "-z", "--"])
        .arg(at)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("fusermount3 cannot unmount")) }
}

/// Whether a folder is mounted, by the system's table: a look at the folder itself could wait for a process that does not answer.
fn is_mounted(at: &Path) -> io::Result<bool> {
    let table = fs::read("/proc/self/mountinfo")?;
    let is_here = |line: &[u8]| {
        let path = line.split(|it| *it == b' ').nth(4).map(unescaped);
        path.is_some_and(|it| it == at)
    };
    Ok(table.split(|it| *it == b'\n').any(is_here))
}

/// Replaces the escapes of the table of mounts for spaces and the like: `\040`.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let number = digits.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 8).ok());
        out.push(number.unwrap_or(*first));
        rest = if number.is_some() { &after[3..] } else { after };
    }
    std::ffi::OsString::from_vec(out).into()
}

/// A user without a name could mount a folder and not unmount it: `fusermount3` asks for the name.
fn expect_name() -> io::Result<()> {
    let has_name =
        || Command::new("id").arg("-un").stdin(Stdio::null()).output().is_ok_and(|it| it.status.success());
    if geteuid().is_root() || has_name() {
        return Ok(());
    }
    Err(io::Error::other("this process's user has no name, without which fusermount3 unmounts nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_in_the_table_of_mounts_are_read() {
        assert_eq!(unescaped(br"/a\040b\134/\0"), Path::new(r"/a b\/\0"));
    }
}
