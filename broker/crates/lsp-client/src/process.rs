//! A server's process as the daemon has it: the supervisor, with the server's pipes.

use std::{
    ffi::OsString,
    fmt,
    io::{self, Read},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::{CommandExt, ExitStatusExt},
    },
    path::PathBuf,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
    process::{Pid, Signal, kill_process},
};

use crate::descendants;

/// Interval between two checks of whether the supervisor has ended, when it is about to.
const LOOK: Duration = Duration::from_millis(2);

/// Program to run, with its arguments and environment.
#[derive(Debug, Clone)]
pub struct Launch {
    pub supervisor: Supervisor,
    /// A path, or a name to be found in the server's `PATH`.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Variables in addition to this process's own environment; `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Variables that name a folder which is the server's own: it is there before the server, and goes with it.
    pub own_folder: Vec<String>,
    pub cwd: PathBuf,
    /// The niceness of the server and all it starts.
    pub nice: i32,
}

/// The command that calls [`supervisor::run`](crate::supervisor::run) with the arguments that are added to it.
#[derive(Debug, Clone)]
pub struct Supervisor {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl Supervisor {
    /// This very program, also when its file was replaced meanwhile.
    pub fn this_program(args: impl IntoIterator<Item = impl Into<OsString>>) -> io::Result<Self> {
        let program =
            if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
        Ok(Self { program, args: args.into_iter().map(Into::into).collect() })
    }

    /// The command, to which a program and its arguments are to be added. `own_folder` is as in [`Launch`].
    pub fn command(&self, nice: i32, own_folder: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg(nice.to_string()).arg(own_folder.join(","));
        command
    }
}

impl Launch {
    fn command(&self) -> Command {
        let mut command = self.supervisor.command(self.nice, &self.own_folder);
        command.arg(&self.program).args(&self.args);
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(&self.cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A Ctrl-C in the daemon's terminal is not for the supervisor.
        command.process_group(0);
        command
    }
}

/// Exit of a server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Unknown end, or a process that cannot be killed.
    Unknown,
}

impl Exit {
    /// The supervisor tells of a signal as shells do.
    pub fn of_supervisor(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) if code > 128 => Self::Signal(code - 128),
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was killed by signal {signal}"),
            Self::Unknown => write!(f, "ended in a way that is not known"),
        }
    }
}

/// The supervisor. When the input that was handed out is closed, it kills the server and ends.
pub(crate) struct Process {
    supervisor: Mutex<Child>,
    pid: Pid,
}

pub(crate) struct Pipes {
    pub(crate) input: ChildStdin,
    pub(crate) output: Output<ChildStdout>,
    pub(crate) errors: Output<ChildStderr>,
}

impl Process {
    pub(crate) fn start(launch: &Launch) -> io::Result<(Self, Pipes)> {
        let mut supervisor = launch.command().spawn()?;
        let pid = Pid::from_child(&supervisor);
        let end = end_of(pid).map(Arc::new);
        let none = || io::Error::other("a pipe is missing");
        let input = supervisor.stdin.take().ok_or_else(none)?;
        let output = Output { pipe: supervisor.stdout.take().ok_or_else(none)?, end: end.clone() };
        let errors = Output { pipe: supervisor.stderr.take().ok_or_else(none)?, end };
        Ok((Self { supervisor: Mutex::new(supervisor), pid }, Pipes { input, output, errors }))
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// Returns the exit as soon as the process has ended; `None` if it has not until `deadline`.
    pub(crate) fn wait(&self, deadline: Instant) -> Option<Exit> {
        loop {
            match self.supervisor.lock().try_wait() {
                Ok(Some(status)) => return Some(Exit::of_supervisor(status)),
                Ok(None) => {}
                Err(_) => return Some(Exit::Unknown),
            }
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(LOOK);
        }
    }

    /// Kills the processes below a supervisor that does not do its work, then the supervisor.
    pub(crate) fn kill(&self, deadline: Instant) {
        let mut supervisor = self.supervisor.lock();
        // The process id is not reused until the process was waited for.
        if matches!(supervisor.try_wait(), Ok(None)) {
            while descendants::kill_below(self.pid) > 0 && Instant::now() < deadline {
                thread::sleep(LOOK);
            }
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

/// Becomes readable when the process has ended.
#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> Option<OwnedFd> {
    // Kernels since 5.3 know it.
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_: Pid) -> Option<OwnedFd> {
    None
}

/// A pipe that ends when the supervisor has, even while another process holds its other end.
pub(crate) struct Output<P> {
    pipe: P,
    end: Option<Arc<OwnedFd>>,
}

impl<P: Read + AsFd> Read for Output<P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.end {
            Some(end) if !comes_before(&self.pipe, &**end)? => Ok(0),
            _ => self.pipe.read(buffer),
        }
    }
}

/// Waits for either; what was written before the end still comes.
fn comes_before(pipe: &impl AsFd, end: &impl AsFd) -> io::Result<bool> {
    let mut either = [PollFd::new(pipe, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
    retry_on_intr(|| poll(&mut either, None))?;
    Ok(!either[0].revents().is_empty())
}
