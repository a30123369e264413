//! Process 1 inside of a shadow folder: makes the folder, starts programs and ends what they leave behind.
//!
//! It keeps its rights inside, which reach nothing but the folder's own mounts; programs have none of them. When it
//! ends, the kernel ends every process of its namespace.

use std::{
    collections::HashMap,
    io,
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd},
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    process::{Pid, Signal, WaitOptions, kill_process, kill_process_group},
};

use super::{
    LEAD, fill, harvest,
    leader::Report,
    loopback, root, this_program, usage,
    wire::{Event, Failure, Request, Wire},
};
use crate::{Ended, Exit, Limits, Network, Program, Stopped, layer::Header};

/// How often memory and processes are counted where they are limited, and what lost its parent is ended.
const ROUND: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_secs(1);

pub(super) fn run() -> ExitCode {
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let Ok(wire) = fcntl_dupfd_cloexec(io::stdin(), 3).map(|it| Wire(it.into())) else {
        return ExitCode::FAILURE;
    };
    match Init::open(wire) {
        Ok(mut init) => {
            // The end of its parent, or of the wire, is the end.
            let _ = init.serve();
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

struct Init {
    wire: Wire,
    root: PathBuf,
    written: std::fs::File,
    runs: HashMap<u32, Run>,
    /// Whether some were there at the last look.
    has_orphans: bool,
}

/// A program that runs.
struct Run {
    leader: Child,
    report: Wire,
    start: Instant,
    limits: Limits,
    /// The most memory that was seen, in bytes.
    memory: u64,
    stopped: Option<Stopped>,
}

impl Init {
    fn open(wire: Wire) -> io::Result<Self> {
        let Some((Request::Open { root, sandbox, entries }, _)) = wire.receive()? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let opened = || -> Result<std::fs::File, Failure> {
            if sandbox.network == Network::None {
                loopback::turn_on().map_err(|it| Failure::new("cannot turn the loopback on", &it))?;
            }
            root::begin(sandbox.space)?;
            let (layer, below) = root::layers(&root)?;
            let filler = fill::Filler { layer: &layer, below: &below };
            each(&wire, entries, |header, bytes| {
                let what = |it| Failure::new(format!("cannot show {}", header.path), &it);
                filler.add(header, bytes).map_err(what)
            })?;
            root::finish(&root, &sandbox)
        };
        match opened() {
            Ok(written) => {
                wire.send(&Event::Ready, &[])?;
                Ok(Self { wire, root, written, runs: HashMap::new(), has_orphans: false })
            }
            Err(failure) => {
                wire.send(&Event::Failed(failure), &[])?;
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn serve(&mut self) -> io::Result<()> {
        loop {
            if self.wait()? {
                let Some((request, files)) = self.wire.receive()? else { return Ok(()) };
                self.answer(request, files)?;
            }
            self.hear_reports()?;
            self.enforce();
            self.end_orphans();
        }
    }

    /// Whether a request came.
    fn wait(&self) -> io::Result<bool> {
        let alive = io::stdout();
        let mut waited = vec![
            PollFd::new(&self.wire.0, PollFlags::IN),
            PollFd::from_borrowed_fd(alive.as_fd(), PollFlags::empty()),
        ];
        waited.extend(self.runs.values().map(|it| PollFd::new(&it.report.0, PollFlags::IN)));
        let is_watched = |it: &Run| it.limits != Limits::default();
        let is_busy = self.has_orphans || self.runs.values().any(is_watched);
        let limit = if is_busy { ROUND } else { IDLE };
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        match poll(&mut waited, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !waited[1].revents().is_empty() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(!waited[0].revents().is_empty())
    }

    fn answer(&mut self, request: Request, files: Vec<OwnedFd>) -> io::Result<()> {
        match request {
            Request::Open { .. } => Err(io::ErrorKind::InvalidData.into()),
            Request::Run { run, program } => self.start(run, program, files),
            Request::Signal { run, signal } => {
                let signal = Signal::from_named_raw(signal);
                if let (Some(run), Some(signal)) = (self.runs.get(&run), signal) {
                    // It may have ended meanwhile.
                    let _ = kill_process_group(Pid::from_child(&run.leader), signal);
                }
                Ok(())
            }
            Request::Apply { entries } => {
                let root = self.root.clone();
                let applied = each(&self.wire, entries, |header, bytes| {
                    let what = |it| Failure::new(format!("cannot show {}", header.path), &it);
                    fill::apply(&root, header, bytes).map_err(what)
                });
                self.wire.send(&Event::Applied(applied.err()), &[])
            }
            Request::Harvest => {
                let told = harvest::tell(&self.written, &self.wire);
                let failure = told.map_err(|it| Failure::new("cannot read what was written", &it)).err();
                self.wire.send(&Event::Harvested(failure), &[])
            }
        }
    }

    fn start(&mut self, run: u32, program: Program, files: Vec<OwnedFd>) -> io::Result<()> {
        let limits = program.limits;
        match lead(&program, files) {
            Ok((leader, report, terminal)) => {
                let terminal: Vec<_> = terminal.iter().map(|it| it.as_fd()).collect();
                self.wire.send(&Event::Started { run }, &terminal)?;
                let start = Instant::now();
                let new = Run { leader, report, start, limits, memory: 0, stopped: None };
                self.runs.insert(run, new);
                Ok(())
            }
            Err(error) => {
                let exit = Exit::NotStarted { error: error.raw_os_error().unwrap_or(0) };
                let ended = Ended { exit, stopped: None, processor_time: Duration::ZERO, memory: 0 };
                self.wire.send(&Event::Ended { run, ended }, &[])
            }
        }
    }

    /// Leaders report once, and end.
    fn hear_reports(&mut self) -> io::Result<()> {
        let all: Vec<u32> = self.runs.keys().copied().collect();
        for number in all {
            let Some(run) = self.runs.get_mut(&number) else { continue };
            let mut ready = [PollFd::new(&run.report.0, PollFlags::IN)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            if poll(&mut ready, Some(&now)).unwrap_or(0) == 0 {
                continue;
            }
            let report = run.report.receive::<Report>().ok().flatten();
            let (exit, processor_time) = match report {
                Some((it, _)) => (it.exit, it.processor_time),
                // It was killed by what it started.
                None => (Exit::Signal(Signal::KILL.as_raw()), Duration::ZERO),
            };
            let (stopped, memory) = (run.stopped, run.memory);
            let _ = run.leader.kill();
            let _ = run.leader.wait();
            self.runs.remove(&number);
            self.end_orphans();
            let ended = Ended { exit, stopped, processor_time, memory };
            self.wire.send(&Event::Ended { run: number, ended }, &[])?;
        }
        Ok(())
    }

    /// Ends what takes more than it may.
    fn enforce(&mut self) {
        for run in self.runs.values_mut().filter(|it| it.limits != Limits::default() && it.stopped.is_none())
        {
            let used = usage::of(Pid::from_child(&run.leader));
            run.memory = run.memory.max(used.memory);
            run.stopped = over(&run.limits, &used, run.start.elapsed());
            if run.stopped.is_some() {
                usage::end(Pid::from_child(&run.leader));
                // It may be stopped, or have started nothing yet.
                let _ = run.leader.kill();
            }
        }
    }

    /// Ends what lost its leader: children of this process that lead no run. Never waits for one: what is traced may
    /// take its time.
    fn end_orphans(&mut self) {
        let leaders: Vec<Pid> = self.runs.values().map(|it| Pid::from_child(&it.leader)).collect();
        for leader in &leaders {
            // The program may have stopped it.
            let _ = kill_process(*leader, Signal::CONT);
        }
        let mut orphans = usage::children_of_init();
        orphans.retain(|it| !leaders.contains(it));
        for orphan in &orphans {
            let _ = kill_process(*orphan, Signal::KILL);
            let _ = rustix::process::waitpid(Some(*orphan), WaitOptions::NOHANG);
        }
        self.has_orphans = !orphans.is_empty();
    }
}

fn over(limits: &Limits, used: &usage::Usage, time: Duration) -> Option<Stopped> {
    let time = limits.time.filter(|it| time > *it).map(Stopped::Time);
    let memory = limits.memory.filter(|it| used.memory > *it).map(Stopped::Memory);
    let processes = limits.processes.filter(|it| used.tasks > *it).map(Stopped::Processes);
    memory.or(processes).or(time)
}

/// Starts the process that starts the program. With a terminal, its other side is the third of the results.
fn lead(program: &Program, files: Vec<OwnedFd>) -> io::Result<(Child, Wire, Option<OwnedFd>)> {
    let (mine, others) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let (files, terminal) = if program.terminal { terminal()? } else { (files, None) };
    let Ok([input, output, errors]) = <[OwnedFd; 3]>::try_from(files) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    // No other thread starts a process that would have it, too.
    fcntl_setfd(&others, FdFlags::empty())?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&others).to_string();
    let leader = Command::new(this_program())
        .args([LEAD, &number])
        .env_clear()
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors))
        .spawn()?;
    let report = Wire(mine.into());
    report.send(program, &[])?;
    Ok((leader, report, terminal))
}

/// A new terminal of the folder's own: three times the side of the program, and the other side.
fn terminal() -> io::Result<(Vec<OwnedFd>, Option<OwnedFd>)> {
    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let outer = openpt(flags)?;
    grantpt(&outer)?;
    unlockpt(&outer)?;
    let inner = ioctl_tiocgptpeer(&outer, flags)?;
    Ok((vec![inner.try_clone()?, inner.try_clone()?, inner], Some(outer)))
}

/// Takes as many entries from the wire; all of them, though one fails.
fn each(
    wire: &Wire,
    entries: u64,
    mut take: impl FnMut(&Header, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let broken = |error: &io::Error| Failure::new("cannot read an entry", error);
    let mut result = Ok(());
    for _ in 0..entries {
        let received = wire.receive::<Header>().map_err(|it| broken(&it))?;
        let (header, _) = received.ok_or_else(|| broken(&io::ErrorKind::UnexpectedEof.into()))?;
        let bytes = wire.read(header.size()).map_err(|it| broken(&it))?;
        if result.is_ok() {
            result = take(&header, &bytes);
        }
    }
    result
}
