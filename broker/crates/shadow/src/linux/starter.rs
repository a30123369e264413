//! The first process of a folder: started when it is asked for, or before.

use std::{
    fs,
    io::{self, PipeWriter, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::process::{getegid, geteuid};

use super::{
    ENTER,
    enter::{FAILED, STEP, network_byte},
    wire::Wire,
};
use crate::{OpenError, Sandbox};

/// Starts first processes of folders: a program that begins with [`inside`](super::inside). Clones share the spare one.
#[derive(Debug, Clone)]
pub(crate) struct Starter {
    program: PathBuf,
    spare: Option<Arc<Spare>>,
}

/// A first process, and this process's ends of its standard input and output.
#[derive(Debug)]
pub(super) struct FirstProcess {
    pub(super) process: Child,
    pub(super) socket: UnixStream,
    /// To be held open for as long as this process lives.
    pub(super) alive: PipeWriter,
}

/// Process that enters namespaces when it is asked to, and has no folder yet. A start takes milliseconds.
#[derive(Debug, Default)]
struct Spare(Mutex<Option<FirstProcess>>);

impl Starter {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program, spare: None }
    }

    /// Has a process wait for the next folder once one was closed.
    pub(crate) fn with_spare(self) -> Self {
        Self { spare: Some(Arc::default()), ..self }
    }

    /// The process that waits, if there is one.
    pub(super) fn spare(&self, how: &str) -> Option<FirstProcess> {
        self.spare.as_ref().filter(|_| how == ENTER)?.take()
    }

    pub(super) fn first(&self, how: &str) -> io::Result<FirstProcess> {
        FirstProcess::start(&self.program, how)
    }

    /// Starts a process for the next folder, unless one waits. It would have the niceness of the calling thread.
    pub(super) fn prepare(&self) {
        let Some(spare) = &self.spare else { return };
        let mut spare = spare.0.lock();
        if spare.is_none() {
            // If it cannot be started, the next folder says why.
            *spare = FirstProcess::start(&self.program, ENTER).ok();
        }
    }
}

impl Spare {
    /// `None` if there is none that lives.
    fn take(&self) -> Option<FirstProcess> {
        let mut spare = self.0.lock().take()?;
        matches!(spare.process.try_wait(), Ok(None)).then_some(spare)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some(mut spare) = self.take() {
            spare.end();
        }
    }
}

impl FirstProcess {
    fn start(program: &Path, how: &str) -> io::Result<Self> {
        let (socket, others) = UnixStream::pair()?;
        // The other process learns by the end of this pipe that this one is gone.
        let (theirs, alive) = io::pipe()?;
        let process = Command::new(program)
            .arg(how)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(others)))
            .stdout(Stdio::from(theirs))
            .stderr(Stdio::null())
            // An interrupt from the keyboard is not for it.
            .process_group(0)
            .spawn()?;
        Ok(Self { process, socket, alive })
    }

    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until the process has left the system's namespaces.
pub(super) fn enter(mut socket: UnixStream, process: &Child, sandbox: &Sandbox) -> Result<Wire, OpenError> {
    socket.write_all(&[network_byte(sandbox.network)])?;
    step(&mut socket)?;
    map_users(process.id()).map_err(OpenError::Namespaces)?;
    socket.write_all(&[STEP])?;
    step(&mut socket)?;
    Ok(Wire(socket))
}

fn step(socket: &mut UnixStream) -> Result<(), OpenError> {
    let mut step = [0];
    socket.read_exact(&mut step)?;
    if step[0] != FAILED {
        return Ok(());
    }
    let mut error = [0; 4];
    socket.read_exact(&mut error)?;
    Err(OpenError::Namespaces(io::Error::from_raw_os_error(i32::from_le_bytes(error))))
}

/// Maps users: those inside are those outside. An administrator maps all users, and others themselves: to them files of others
/// seem to have no owner.
fn map_users(pid: u32) -> io::Result<()> {
    let file = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let maps = if geteuid().is_root() {
        [whole_map("uid_map")?, whole_map("gid_map")?]
    } else {
        write(&file("setgroups"), "deny")?;
        [geteuid().as_raw(), getegid().as_raw()].map(|it| format!("{it} {it} 1\n"))
    };
    write(&file("uid_map"), &maps[0])?;
    write(&file("gid_map"), &maps[1])
}

/// All users that there are for this process: each to itself.
fn whole_map(name: &str) -> io::Result<String> {
    #[expect(clippy::disallowed_methods, reason = "the system's table of users")]
    let table = fs::read_to_string(Path::new("/proc/self").join(name))?;
    let line = |it: &str| {
        let mut fields = it.split_whitespace();
        let (first, _, count) = (fields.next()?, fields.next()?, fields.next()?);
        Some(format!("{first} {first} {count}\n"))
    };
    Ok(table.lines().filter_map(line).collect())
}

#[expect(clippy::disallowed_methods, reason = "the system's table of users")]
fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)
}
