//! The process between process 1 and a program: gives up the rights that are left, starts the program and waits for it.
//!
//! This process is the leader of the program's session, and what loses its parent while the program runs becomes its child. It
//! protects nothing: the program may kill it, and then process 1 ends the program.

use std::{
    io,
    os::fd::AsFd,
    path::PathBuf,
    process::{Command, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use rustix::{
    fs::{Gid, Uid},
    io::retry_on_intr,
    process::{
        DumpableBehavior, Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, ioctl_tiocsctty,
        kill_process, set_child_subreaper, set_dumpable_behavior, setrlimit, setsid, wait,
    },
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities_secure_bits,
        clear_ambient_capability_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
        set_thread_groups, set_thread_res_gid, set_thread_res_uid,
    },
};
use serde::{Deserialize, Serialize};

use super::{
    filter, landlock,
    rename::{self, Layers},
    usage,
    wire::Wire,
};
use crate::{Exit, Program};

/// Task of a leader.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) program: Program,
    pub(super) is_isolated: bool,
    /// The user and group that the program has, if not those of this process.
    pub(super) owner: Option<(u32, u32)>,
    /// Folders where the program may write, if it is isolated.
    pub(super) writable: Vec<PathBuf>,
    /// Whether it may make sockets with names, if it is isolated.
    pub(super) named_sockets: bool,
}

/// Report of a leader at the end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) exit: Exit,
    pub(super) processor_time: Duration,
}

/// For a process that is this program started again. The file that it is spoken to by is named by the second argument.
pub(super) fn lead() -> ExitCode {
    let report = std::env::args().nth(2).and_then(|it| wire(&it).ok());
    let Some(report) = report else { return ExitCode::FAILURE };
    match report.receive::<Task>() {
        Ok(Some((task, _))) if follow(&task, &report, None) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// For a copy of process 1, which says when to begin. Says whether all was done.
pub(super) fn lead_forked(task: &Task, report: &Wire, layers: Option<Layers>) -> bool {
    matches!(report.receive::<()>(), Ok(Some(_))) && follow(task, report, layers)
}

fn follow(task: &Task, report: &Wire, layers: Option<Layers>) -> bool {
    let Ok(early) = prepare(&task.program) else { return false };
    // From here on a signal reaches the program, however early it comes.
    if report.send(&(), &[]).is_err() {
        return false;
    }
    let exit = run(task, &early, layers)
        .unwrap_or_else(|error| Exit::NotStarted { error: error.raw_os_error().unwrap_or(0) });
    let processor_time = usage::time_of_children();
    report.send(&Report { exit, processor_time }, &[]).is_ok()
}

/// The file of this number, which is open: by its name in `/proc` a socket cannot be opened.
fn wire(number: &str) -> io::Result<Wire> {
    use std::os::fd::{BorrowedFd, RawFd};
    let number: RawFd = number.parse().map_err(io::Error::other)?;
    // SAFETY: process 1 leaves this one file open for this process, and it is used for this copy alone.
    #[expect(unsafe_code, reason = "see above")]
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    let own = rustix::io::fcntl_dupfd_cloexec(file, 3)?;
    rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC)?;
    Ok(Wire(own.into()))
}

/// Signals for the program, and whether each came before the program was there.
type Early = Vec<(Signal, Arc<AtomicBool>)>;

fn prepare(program: &Program) -> io::Result<Early> {
    setsid()?;
    if program.terminal.is_some() {
        ioctl_tiocsctty(io::stdin().as_fd())?;
    }
    // The signals are for the program; a signal that is ignored would be ignored by it, too.
    let mut early = Vec::new();
    for signal in
        [Signal::INT, Signal::QUIT, Signal::TERM, Signal::HUP, Signal::USR1, Signal::USR2, Signal::TSTP]
    {
        let is_heard = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal.as_raw(), Arc::clone(&is_heard))?;
        early.push((signal, is_heard));
    }
    Ok(early)
}

fn run(task: &Task, early: &Early, layers: Option<Layers>) -> io::Result<Exit> {
    let program = &task.program;
    set_child_subreaper(Some(rustix::process::getpid()))?;
    // The program has the same user: it is not to take this process's files.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    limit(program, task.is_isolated)?;
    if task.is_isolated {
        give_up_rights(task)?;
    }
    // Without it, renames are as the file system has them.
    let renames = task.is_isolated.then(|| rename::Supervisor::start(layers).ok()).flatten();
    let [name, arguments @ ..] = &*program.command else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(name);
    command.args(arguments).env_clear().envs(program.environment.iter().cloned());
    command.current_dir(&program.folder);
    let program = Pid::from_child(&command.spawn()?);
    // The program has its user's limit.
    rename::raise_limit_of_files();
    // Signals that came before the program was there are for it, too.
    for (signal, _) in early.iter().filter(|(_, it)| it.load(Relaxed)) {
        let _ = kill_process(program, *signal);
    }
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty()))? {
            Some((pid, status)) if pid == program => {
                renames.inspect(rename::Supervisor::stop);
                return Ok(exit_of(status));
            }
            // The process lost its parent, and fell to this one.
            _ => {}
        }
    }
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(Signal::KILL.as_raw())),
    }
}

/// More processes than a program may have, until that is looked at.
const ROOM: u64 = 64;

fn limit(program: &Program, is_isolated: bool) -> io::Result<()> {
    let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // With 1 the kernel starts no program outside that takes a dump (`core_pattern`), as it does with 0.
    setrlimit(Resource::Core, at_most(1))?;
    // Outside of a namespace, all processes of the user would count.
    if let Some(processes) = program.limits.processes.filter(|_| is_isolated) {
        // The kernel counts those of its user in this namespace, and not an administrator's. With room, so that the program is seen
        // to have more, and is ended.
        setrlimit(Resource::Nproc, at_most(processes.saturating_add(ROOM)))?;
    }
    if let Some(size) = program.limits.file_size {
        setrlimit(Resource::Fsize, at_most(size))?;
    }
    Ok(())
}

/// From here on neither this process nor any that it starts has a right that its user has not.
fn give_up_rights(task: &Task) -> io::Result<()> {
    set_no_new_privs(true)?;
    let no_root = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
    set_capabilities_secure_bits(capabilities_secure_bits()? | no_root)?;
    clear_ambient_capability_set()?;
    if let Some((user, group)) = task.owner {
        become_user(Uid::from_raw(user), Gid::from_raw(group))?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    landlock::confine(&task.writable)?;
    filter::install(task.named_sockets)
}

/// For this process, which has no other thread.
fn become_user(user: Uid, group: Gid) -> io::Result<()> {
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    Ok(())
}
