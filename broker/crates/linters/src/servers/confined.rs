//! The process between the daemon and a confined language server: opens the server's sandbox, and closes it when the daemon is
//! gone or has closed its end of the server's input.
//!
//! However this process ends, the kernel ends the server and all that it has started.

use std::{ffi::OsString, io, os::fd::AsFd as _, path::PathBuf, process::ExitCode, sync::Arc, thread};

use language_servers::Supervisor;
use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
    process::setpriority_process,
};
use serde::{Deserialize, Serialize};
use shadow::{Launcher, Limits, Program, ReadOnly, Sandbox};

/// First argument of such a process.
pub(super) const CONFINE: &str = "__confine-language-server";

/// Bytes of memory of a server with all that it starts.
const MEMORY: u64 = 4 << 30;

/// Exit code of a shell for a program that cannot be run.
const CANNOT_RUN: u8 = 127;

/// Sandbox of a server, as it is told to the process.
#[derive(Serialize, Deserialize)]
struct Confinement {
    root: PathBuf,
    sandbox: Sandbox,
}

/// The command of such a process, for the workspace at `root`.
pub(super) fn supervisor(root: PathBuf, sandbox: Sandbox) -> io::Result<Supervisor> {
    let confinement = serde_json::to_string(&Confinement { root, sandbox })?;
    Supervisor::this_program([CONFINE.to_owned(), confinement])
}

/// Runs the process to its end: `args` are those of [`supervisor`] and what a supervisor is given, without the first.
pub(super) fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    match confine(args) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            complain(&why);
            ExitCode::from(CANNOT_RUN)
        }
    }
}

fn confine(mut args: impl Iterator<Item = OsString>) -> Result<u8, String> {
    let said = |it: Option<OsString>| it.and_then(|it| it.into_string().ok()).unwrap_or_default();
    let confinement = serde_json::from_str(&said(args.next())).map_err(|error| error.to_string());
    let Confinement { root, sandbox } = confinement?;
    let nice = said(args.next()).parse().unwrap_or(0);
    // Else it is as nice as the daemon.
    let _ = setpriority_process(None, nice);
    let own_folder = said(args.next());
    let program = Program {
        command: args.collect(),
        environment: environment(&own_folder, shadow::temporary_folder(&root)),
        folder: root.clone(),
        terminal: None,
        limits: Limits { memory: Some(MEMORY), ..Limits::default() },
    };
    let name = program.command.first().cloned().unwrap_or_default();
    let cannot = |error| format!("cannot run {} confined: {error}", name.display());
    let folder = ReadOnly::open(&Launcher::this_program(), &root, &sandbox).map_err(cannot)?;
    let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
    let mut running = folder.run(program, [input.as_fd(), output.as_fd(), errors.as_fd()]).map_err(cannot)?;
    give_up_output();
    let folder = Arc::new(Mutex::new(Some(folder)));
    thread::spawn({
        let folder = Arc::clone(&folder);
        move || close_with_the_input(&folder)
    });
    let ended = running.wait();
    if let Some(why) = ended.stopped {
        complain(&format!("it was ended: {why}"));
    }
    drop(folder.lock().take());
    Ok(u8::try_from(ended.exit.code()).unwrap_or(CANNOT_RUN))
}

/// All variables of this process, and those that are to name a folder of the server's own: nothing else is in the temporary
/// folder that it has.
fn environment(own_folder: &str, folder: &str) -> Vec<(OsString, OsString)> {
    let own = |name: &OsString| own_folder.split(',').any(|it| name == it);
    let given = std::env::vars_os().filter(|(name, _)| !own(name));
    let names = own_folder.split(',').filter(|it| !it.is_empty());
    given.chain(names.map(|it| (it.into(), folder.into()))).collect()
}

/// Waits until the daemon's end of the server's input is closed.
fn close_with_the_input(folder: &Mutex<Option<ReadOnly>>) {
    let input = io::stdin();
    let mut hang_up = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
    let _ = retry_on_intr(|| poll(&mut hang_up, None));
    drop(folder.lock().take());
}

/// Redirects standard output to `/dev/null`, so that the daemon sees its end when the server closes it.
#[expect(clippy::disallowed_methods, reason = "/dev/null is no workspace file")]
fn give_up_output() {
    if let Ok(nothing) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(nothing);
    }
}

#[expect(clippy::print_stderr, reason = "it is the server's, which the daemon keeps")]
fn complain(why: &str) {
    eprintln!("{why}");
}
