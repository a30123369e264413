//! The process that leaves the system's namespaces and starts the first one inside.
//!
//! The process stays outside, for a process does not enter the namespace of processes that it makes. It does nothing but wait for
//! the end of that process or of the program that opened the folder: either one's end is the other's.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd},
        unix::net::UnixStream,
    },
    process::ExitCode,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{fcntl_dupfd_cloexec, retry_on_intr},
    pipe::{PipeFlags, pipe_with},
    process::{DumpableBehavior, Pid, PidfdFlags, WaitOptions, pidfd_open, set_dumpable_behavior, waitpid},
    thread::{
        CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
    },
};

use super::init;
use crate::Network;

/// Sent by this process when it is in a user namespace of its own, and to it when its users are mapped there.
pub(super) const STEP: u8 = 1;

/// Sent by this process when it cannot leave; the system's error follows, 4 bytes.
pub(super) const FAILED: u8 = 2;

/// Returns the first byte that a parent sends: whether the system's network is to stay.
pub(super) fn network_byte(network: Network) -> u8 {
    match network {
        Network::None => 0,
        Network::Host => 1,
    }
}

pub(super) fn enter() -> ExitCode {
    // The parent sees the end of the socket.
    enter_namespaces().unwrap_or(ExitCode::FAILURE)
}

fn enter_namespaces() -> io::Result<ExitCode> {
    close_all_but(&[])?;
    let mut parent = UnixStream::from(fcntl_dupfd_cloexec(io::stdin(), FIRST_OTHER)?);
    let mut network = [0];
    parent.read_exact(&mut network)?;
    left(&mut parent, UnshareFlags::NEWUSER)?;
    parent.read_exact(&mut [0])?;
    let mut spaces = UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    if network[0] == network_byte(Network::None) {
        spaces |= UnshareFlags::NEWNET;
    }
    left(&mut parent, spaces)?;
    keep_rights()?;
    // The pipe hangs up when this process is gone: process 1 inside cannot ask whether its parent lives.
    let (alive, mine): (OwnedFd, OwnedFd) = pipe_with(PipeFlags::CLOEXEC)?;
    // SAFETY: this process has no other thread, so that the child finds locks and memory whole.
    #[expect(unsafe_code, reason = "see above")]
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            rustix::stdio::dup2_stdin(&parent)?;
            rustix::stdio::dup2_stdout(&alive)?;
            drop((parent, alive, mine));
            // The kernel has hidden what `/proc` says of a process that left its namespaces.
            set_dumpable_behavior(DumpableBehavior::Dumpable)?;
            Ok(init::run())
        }
        init => {
            drop((parent, alive));
            let_go_of_the_socket()?;
            let init = Pid::from_raw(init).ok_or(io::ErrorKind::InvalidData)?;
            wait_for_either(init)?;
            // Whatever it is at: at this process's end the kernel ends it, and with it all inside.
            let ended = retry_on_intr(|| waitpid(Some(init), WaitOptions::NOHANG))?;
            Ok(ExitCode::from(u8::from(ended.and_then(|(_, it)| it.exit_status()) != Some(0))))
        }
    }
}

/// Until process 1 inside has ended, or the program that opened the folder, which holds the other end of a pipe.
fn wait_for_either(init: Pid) -> io::Result<()> {
    let (init, opener) = (pidfd_open(init, PidfdFlags::empty())?, io::stdout());
    let mut both = [PollFd::new(&init, PollFlags::IN), PollFd::new(&opener, PollFlags::empty())];
    retry_on_intr(|| poll(&mut both, None))?;
    Ok(())
}

/// Has what process 1 inside starts keep the rights that this process has inside, though it is not an administrator there.
fn keep_rights() -> io::Result<()> {
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: own.permitted, ..own })?;
    for right in own.permitted.iter() {
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

/// The number of the first file that is not one of the three that every process has.
const FIRST_OTHER: RawFd = 3;

/// Closes files that a process further up left open for all that it started, but for the standard ones and `kept`.
pub(super) fn close_all_but(kept: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<RawFd> = kept.iter().map(AsRawFd::as_raw_fd).collect();
    kept.sort_unstable();
    let firsts = std::iter::once(FIRST_OTHER).chain(kept.iter().map(|it| it + 1));
    let lasts = kept.iter().map(|it| it - 1).chain([LAST]);
    if firsts.zip(lasts).all(|(first, last)| close_range(first, last)) { Ok(()) } else { close_listed(&kept) }
}

const LAST: RawFd = RawFd::MAX;

/// Closes files by their numbers. Returns whether the kernel can do so, as it can since 5.9.
fn close_range(first: RawFd, last: RawFd) -> bool {
    if first > last {
        return true;
    }
    // SAFETY: nothing that this process still uses is open by these numbers, so that nothing else will close them.
    #[expect(unsafe_code, reason = "see above")]
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    closed == 0
}

#[expect(clippy::disallowed_methods, reason = "the system's list of open files")]
fn close_listed(kept: &[RawFd]) -> io::Result<()> {
    let numbers = fs::read_dir("/proc/self/fd")?.flatten();
    let numbers: Vec<RawFd> = numbers.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
    let is_other = |it: &RawFd| *it >= FIRST_OTHER && !kept.contains(it);
    for number in numbers.into_iter().filter(|it| is_other(it) && is_open(*it)) {
        // SAFETY: nothing that this process still uses is open by this number, so that nothing else will close it.
        #[expect(unsafe_code, reason = "see above")]
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
    Ok(())
}

/// The list itself was open when it was read.
fn is_open(number: RawFd) -> bool {
    fs::symlink_metadata(format!("/proc/self/fd/{number}")).is_ok()
}

/// Leaves these namespaces, and says whether that was possible.
fn left(parent: &mut UnixStream, spaces: UnshareFlags) -> io::Result<()> {
    if let Err(error) = unshare(spaces) {
        parent.write_all(&[FAILED])?;
        parent.write_all(&error.raw_os_error().unwrap_or(0).to_le_bytes())?;
        return Err(error);
    }
    parent.write_all(&[STEP])
}

fn unshare(spaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: the flags ask for no tables of files of its own, which other threads' handles could then not be in; and
    // there is no other thread.
    #[expect(unsafe_code, reason = "see above")]
    unsafe {
        rustix::thread::unshare_unsafe(spaces)?;
    }
    Ok(())
}

/// Replaces the standard input, so that the parent sees the socket's end when process 1 is gone.
fn let_go_of_the_socket() -> io::Result<()> {
    let (nothing, _) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(())
}
