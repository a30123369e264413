//! Starts the process that leads a program, with the program's standard files.

use std::{
    fs::File,
    io,
    mem::ManuallyDrop,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::{Command, Stdio},
};

use rustix::{
    fs::{FileType, Gid, Uid, fchown, fstat},
    io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd, retry_on_intr},
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    process::{Pid, Resource, Rlimit, Signal, WaitOptions, kill_process, prlimit, waitpid},
};

use super::{
    LEAD, enter,
    group::Group,
    leader::{self, Task},
    rename::Layers,
    root::Merged,
    this_program,
    wire::Wire,
};
use crate::TerminalSize;

/// The process that leads a program: a child of this one.
pub(super) struct Leader(Pid);

/// Way to start a leader.
#[derive(Debug, Clone, Copy)]
pub(super) enum How<'a> {
    /// Fork of this process, which has no other thread. A start of the program takes milliseconds more. The fork keeps the layers
    /// of the workspace, if there are any.
    Forked(Option<(&'a Merged, &'a Path)>),
    /// Start of this program, with a limit of open files.
    Started(Rlimit),
}

impl Leader {
    pub(super) fn pid(&self) -> Pid {
        self.0
    }

    /// Kills the leader, which may have ended already.
    pub(super) fn kill(&self) {
        let _ = kill_process(self.0, Signal::KILL);
    }

    /// Waits for its end. To be called once, and last.
    pub(super) fn wait(&self) {
        let _ = retry_on_intr(|| waitpid(Some(self.0), WaitOptions::empty()));
    }
}

/// Starts the process that starts the program. With a terminal, its other side is the third of the results.
pub(super) fn lead(
    task: &Task,
    files: Vec<OwnedFd>,
    how: How<'_>,
    group: Option<&Group>,
) -> io::Result<(Leader, Wire, Option<OwnedFd>)> {
    let (mine, others) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let (files, terminal) = match task.program.terminal {
        Some(size) => terminal(size)?,
        None => (files, None),
    };
    let Ok(files) = <[OwnedFd; 3]>::try_from(files) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    if let Some(owner) = task.owner {
        for file in &files {
            give(file, owner)?;
        }
    }
    let leader = match how {
        How::Forked(merged) => forked(task, files, others, merged)?,
        How::Started(open_files) => started(files, &others, open_files)?,
    };
    if let Some(group) = group {
        // A leader that cannot be moved there is counted as without a group.
        let _ = group.add(leader.pid());
    }
    let report = Wire(mine.into());
    match how {
        How::Forked(_) => report.send(&(), &[])?,
        How::Started(_) => report.send(task, &[])?,
    }
    // Before that a signal would end it, and the program would not be asked.
    report.receive::<()>()?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok((leader, report, terminal))
}

fn forked(
    task: &Task,
    files: [OwnedFd; 3],
    report: OwnedFd,
    merged: Option<(&Merged, &Path)>,
) -> io::Result<Leader> {
    // SAFETY: this process has no other thread, so that the child finds locks and memory whole.
    #[expect(unsafe_code, reason = "see above")]
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let lead = || {
                let layers = merged.map(|(it, root)| layers(it, root)).transpose()?;
                let wire = take_over(files, report, layers.as_ref())?;
                io::Result::Ok(leader::lead_forked(task, &wire, layers))
            };
            let lead = || lead().unwrap_or(false);
            let is_done = catch_unwind(AssertUnwindSafe(lead)).unwrap_or(false);
            // SAFETY: it ends this process, whose parent puts in order what both have in memory.
            unsafe { libc::_exit(i32::from(!is_done)) }
        }
        child => Ok(Leader(Pid::from_raw(child).ok_or(io::ErrorKind::InvalidData)?)),
    }
}

/// Handles of its own: those of process 1 are not closed twice.
fn layers(merged: &Merged, root: &Path) -> io::Result<Layers> {
    let copy = |it: &File| fcntl_dupfd_cloexec(it, 3);
    let lower = merged.lower.iter().map(copy).collect::<rustix::io::Result<_>>()?;
    Ok(Layers { upper: copy(&merged.written)?, lower, root: root.to_owned() })
}

/// Leaves a copy of process 1 nothing open but the program's files, the wire between the two and the layers.
fn take_over(files: [OwnedFd; 3], report: OwnedFd, layers: Option<&Layers>) -> io::Result<Wire> {
    // The files are closed below, with all that process 1 has.
    let files = ManuallyDrop::new(files);
    let [input, output, errors] = &*files;
    rustix::stdio::dup2_stdin(input)?;
    rustix::stdio::dup2_stdout(output)?;
    rustix::stdio::dup2_stderr(errors)?;
    let layers = layers.into_iter().flat_map(|it| it.lower.iter().chain([&it.upper]));
    let kept: Vec<_> = layers.chain([&report]).map(|it| it.as_fd()).collect();
    enter::close_all_but(&kept)?;
    Ok(Wire(report.into()))
}

fn started(files: [OwnedFd; 3], report: &OwnedFd, open_files: Rlimit) -> io::Result<Leader> {
    let [input, output, errors] = files;
    // No other thread starts a process that would have it, too.
    fcntl_setfd(report, FdFlags::empty())?;
    let process = Command::new(this_program())
        .args([LEAD, &report.as_raw_fd().to_string()])
        .env_clear()
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors))
        .spawn()?;
    let leader = Leader(Pid::from_child(&process));
    prlimit(Some(leader.pid()), Resource::Nofile, open_files)?;
    Ok(leader)
}

/// Has a pipe or a terminal belong to a user, who may open it anew by its name in `/dev`.
fn give(file: &OwnedFd, (user, group): (u32, u32)) -> io::Result<()> {
    let kind = FileType::from_raw_mode(fstat(file)?.st_mode);
    if kind == FileType::Fifo || rustix::termios::isatty(file) {
        fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
    }
    Ok(())
}

/// A new terminal of the folder's own: three times the side of the program, and the other side. It has its size before the
/// program can ask for it.
fn terminal(size: TerminalSize) -> io::Result<(Vec<OwnedFd>, Option<OwnedFd>)> {
    use rustix::{
        pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
        termios::{Winsize, tcsetwinsize},
    };
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let outer = openpt(flags)?;
    grantpt(&outer)?;
    unlockpt(&outer)?;
    let inner = ioctl_tiocgptpeer(&outer, flags)?;
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&outer, size)?;
    Ok((vec![inner.try_clone()?, inner.try_clone()?, inner], Some(outer)))
}
