//! Supervisor: the process between the daemon and a server, which sees to it that nothing of the server outlives the daemon,
//! however the daemon dies, and that nothing outlives the server.
//!
//! The supervisor has the server's standard input open, too, and reads nothing from it. The pipe's other end is
//! only in the daemon: when that is closed, because the daemon closed it or is gone, the pipe hangs up, and
//! the supervisor kills the server. The supervisor is the *subreaper* of all that the server starts: a process that loses
//! its parent becomes the supervisor's child, in whatever session or group it is. So when the supervisor has no
//! children left, nothing is left.
//!
//! Against the one who kills the supervisor itself, the server is told to die with it; what the server has
//! started by then is out of reach.
//!
//! Outside Linux there are no subreapers: the server's process group is killed, and a child that left the
//! group stays.

use std::{
    ffi::{OsStr, OsString},
    fs::{OpenOptions, Permissions},
    io,
    os::{
        fd::AsFd,
        unix::{fs::PermissionsExt as _, process::CommandExt},
    },
    process::{Command, ExitCode},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
    process::{Pid, WaitOptions, WaitStatus, getpid, getppid, setpriority_process, wait},
};
use tempfile::TempDir;

use crate::descendants;

/// Longest time for which killing is repeated.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval between two rounds of killing.
const ROUND: Duration = Duration::from_millis(2);

/// Exit code of a shell for a program that cannot be run.
const CANNOT_RUN: u8 = 127;

/// Runs the supervisor to its end. `args` are what [`Launch`](crate::Launch) put after the supervisor's own command.
/// To be called by the main thread of a process that does nothing else; the result is the server's exit code,
/// or 128 and the signal that ended it.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let nice = args.next().and_then(|it| it.to_str()?.parse().ok()).unwrap_or(0);
    let (Some(variables), Some(program)) = (args.next(), args.next()) else {
        return complain("a supervisor without a server");
    };
    become_subreaper();
    let mut command = Command::new(&program);
    command.args(args).process_group(0);
    let _folder = match own_folder(&variables, &mut command) {
        Ok(folder) => folder,
        Err(error) => return complain(&format!("cannot make a folder for temporary files: {error}")),
    };
    prepare(&mut command, nice);
    let server = match command.spawn() {
        Ok(server) => Pid::from_child(&server),
        Err(error) => return complain(&format!("cannot run {}: {error}", program.display())),
    };
    give_up_output();
    thread::spawn(move || follow_the_daemon(server));
    let status = wait_for(server);
    kill_the_rest(server);
    ExitCode::from(code(status))
}

/// A folder that only this server has, whatever it keeps there for others of its kind; removed when it is dropped, so
/// that who kills the supervisor itself leaves it behind. `variables` have a comma between them. Without any, there is none.
fn own_folder(variables: &OsStr, command: &mut Command) -> io::Result<Option<TempDir>> {
    if variables.is_empty() {
        return Ok(None);
    }
    let only_the_user = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix("broker-").permissions(only_the_user).tempdir()?;
    for name in variables.to_string_lossy().split(',') {
        command.env(name, folder.path());
    }
    Ok(Some(folder))
}

#[expect(clippy::print_stderr, reason = "it is the server's, which the daemon keeps")]
fn complain(what: &str) -> ExitCode {
    eprintln!("{what}");
    ExitCode::from(CANNOT_RUN)
}

#[cfg(target_os = "linux")]
fn become_subreaper() {
    // Kernels since 3.4 know it.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() {}

/// Redirects standard output to `/dev/null`, so that the daemon sees its end when the server closes it.
#[expect(clippy::disallowed_methods, reason = "/dev/null is no workspace file")]
fn give_up_output() {
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(nothing);
    }
}

/// Prepares the child process before it becomes the server.
fn prepare(command: &mut Command, nice: i32) {
    let supervisor = getpid();
    let before = move || {
        die_with_parent()?;
        // The supervisor has died already: the signal will not come.
        if getppid() != Some(supervisor) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        // To be less nice than wished is no reason not to run.
        let _ = setpriority_process(None, nice);
        Ok(())
    };
    // SAFETY: runs between fork and exec, where only what is async-signal-safe may be done. It makes three
    // system calls, takes no lock and allocates nothing: the errors are a number and a kind.
    #[expect(unsafe_code, reason = "see above")]
    unsafe {
        command.pre_exec(before);
    }
}

/// Fires when the *thread* that started this process ends: the supervisor's main thread, so the supervisor.
#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    Ok(())
}

/// Waits until the daemon has closed its end, then kills until the main thread ends the process.
fn follow_the_daemon(server: Pid) {
    let input = io::stdin();
    let mut hang_up = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
    let _ = retry_on_intr(|| poll(&mut hang_up, None));
    loop {
        kill_all(server);
        thread::sleep(ROUND);
    }
}

/// Asks after every child that ends, also after those that fell to the supervisor, until it is the server.
fn wait_for(server: Pid) -> Option<WaitStatus> {
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty())) {
            Ok(Some((pid, status))) if pid == server => return Some(status),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// Returns when no child is left, or when one of them cannot be killed.
fn kill_the_rest(server: Pid) {
    let deadline = Instant::now() + KILL_TIMEOUT;
    while Instant::now() < deadline {
        kill_all(server);
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if wait(WaitOptions::NOHANG).is_err() {
            return;
        }
        thread::sleep(ROUND);
    }
}

#[cfg(target_os = "linux")]
fn kill_all(_server: Pid) {
    descendants::kill_below(getpid());
}

#[cfg(not(target_os = "linux"))]
fn kill_all(server: Pid) {
    let _ = rustix::process::kill_process_group(server, rustix::process::Signal::KILL);
    descendants::kill_below(getpid());
}

fn code(status: Option<WaitStatus>) -> u8 {
    let code = status.and_then(WaitStatus::exit_status);
    let signal = status.and_then(WaitStatus::terminating_signal).map(|it| 128 + it);
    code.or(signal).and_then(|it| u8::try_from(it).ok()).unwrap_or(CANNOT_RUN)
}
