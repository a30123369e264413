//! Process 1 inside of a shadow folder: makes the folder, starts programs and ends what they leave behind.
//!
//! The process keeps its rights inside, which reach nothing but the folder's own mounts; programs have none of them. When it
//! ends, the kernel ends every process of its namespace.

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::fcntl_dupfd_cloexec,
    process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper},
};

use super::{
    enter,
    entries::{Announced, each},
    fill,
    fuse::{Merged, Parts},
    group::Group,
    harvest, keep, landlock,
    leader::{Report, Task},
    loopback,
    rename::Repair,
    root,
    start::{How, Leader, lead},
    usage,
    wire::{Event, Failure, Ground, Request, Wire},
};
use crate::{Ended, Exit, Limits, Network, Program, Sandbox, Stopped};

/// Interval at which memory and processes are counted where they are limited, and processes that lost their parent are ended.
const ROUND: Duration = Duration::from_millis(50);
/// Limit on passes over the processes that are left at the end, each of which may have started more meanwhile.
const ROUNDS: usize = 64;
/// Interval while a run is over but for what it left behind.
const ENDING_ROUND: Duration = Duration::from_millis(1);
const IDLE: Duration = Duration::from_secs(1);

/// For a folder in namespaces of its own.
pub(super) fn run() -> ExitCode {
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    serve()
}

/// For a folder without namespaces: this process is the first one of no namespace, and ends what programs leave behind as
/// their subreaper.
pub(super) fn run_plain() -> ExitCode {
    if enter::close_all_but(&[]).is_err() || set_child_subreaper(Some(getpid())).is_err() {
        return ExitCode::FAILURE;
    }
    serve()
}

fn serve() -> ExitCode {
    let Ok(wire) = fcntl_dupfd_cloexec(io::stdin(), 3).map(|it| Wire(it.into())) else {
        return ExitCode::FAILURE;
    };
    match Init::open(wire) {
        Ok(mut init) => {
            // The end of its parent, or of the wire, is the end.
            let _ = init.serve();
            init.end_all();
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

struct Init {
    wire: Wire,
    root: PathBuf,
    written: Written,
    /// Whether programs are isolated.
    is_isolated: bool,
    /// The user and group that programs have, if not this process's.
    owner: Option<(u32, u32)>,
    /// Folders where programs may write, if they are isolated.
    writable: Vec<PathBuf>,
    /// Whether programs may make sockets with names, if they are isolated.
    named_sockets: bool,
    runs: HashMap<u32, Run>,
    /// Whether a program did not end by itself.
    some_broke_off: bool,
    /// Runs that are over, and are reported when nothing is left of them.
    ending: Vec<Ending>,
    /// Whether there were processes without a parent at the last look.
    has_orphans: bool,
    /// Time at which the use of runs is counted next.
    next_count: Instant,
}

/// A run that is over.
struct Ending {
    run: u32,
    ended: Ended,
    group: Option<Group>,
    renames: Renames,
}

/// Renames of a run that its supervisor left half done.
enum Renames {
    None,
    /// Renames to be completed when nothing is left of the run: what runs could change them for ever.
    Left(Pid),
    Completing(Repair),
}

/// Location of what programs write.
enum Written {
    /// The copy itself.
    Copy,
    /// Nothing is written to the workspace.
    Nowhere,
    /// The layers of overlayfs, with what is written to caches outside of the workspace, as far as they could be shown.
    Layer(root::Merged, Vec<Option<File>>),
    Merged(Box<Merged>),
}

/// A program that runs.
struct Run {
    leader: Leader,
    report: Wire,
    start: Instant,
    limits: Limits,
    /// The most memory that was seen, in bytes.
    memory: u64,
    /// Time at which memory is counted next, though the run cannot have reached its limit.
    next_exact: Instant,
    stopped: Option<Stopped>,
    group: Option<Group>,
}

impl Init {
    fn open(wire: Wire) -> io::Result<Self> {
        let Some((Request::Open { root, sandbox, ground, sockets, entries }, _)) = wire.receive()? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let is_of_owner = matches!(ground, Ground::Overlayfs { .. } | Ground::ReadOnly);
        let owner = is_of_owner.then(|| root::other_owner(&root)).flatten();
        let opened = || -> Result<Written, Failure> {
            match &ground {
                Ground::Plain => Ok(Written::Copy),
                Ground::Merged { workspace, kept } => {
                    merge(&wire, workspace, &root, kept, entries, sandbox.space)
                        .map(|it| Written::Merged(Box::new(it)))
                }
                Ground::Shown(copy) => {
                    let system = begin(&sandbox)?;
                    let show = || root::show_copy(copy, &root).map(|()| Written::Copy);
                    let shown = root::finish(&sandbox, &[], None, &sockets, Some(&root), show)?.0;
                    scope(&system).map(|()| shown)
                }
                Ground::ReadOnly => {
                    let system = begin(&sandbox)?;
                    let show = || {
                        root::show_workspace(&root)?;
                        root::make_own_folders(&root, sandbox.home.as_deref(), owner)?;
                        Ok(Written::Nowhere)
                    };
                    let shown = root::finish(&sandbox, &[], owner, &sockets, None, show)?.0;
                    scope(&system).map(|()| shown)
                }
                Ground::Overlayfs { caches, stores } => {
                    let system = begin(&sandbox)?;
                    let (layer, below) = root::layers(&root)?;
                    let mut filler = fill::Filler::new(&layer, &below, owner);
                    each(&wire, entries, |header, bytes| filler.add(header, bytes))?;
                    filler.finish().map_err(|it| Failure::new("cannot set times", &it))?;
                    let show = || root::merge(&root, caches);
                    let (merged, stores) =
                        root::finish(&sandbox, stores, owner, &sockets, Some(&root), show)?;
                    scope(&system).map(|()| Written::Layer(merged, stores))
                }
            }
        };
        match opened() {
            Ok(written) => {
                let is_written = !matches!(written, Written::Nowhere);
                let writable = landlock::writable(&root, is_written, &sandbox);
                wire.send(&Event::Ready, &[])?;
                let is_isolated = !matches!(ground, Ground::Plain | Ground::Merged { .. });
                Ok(Self {
                    wire,
                    root,
                    written,
                    is_isolated,
                    owner,
                    writable,
                    named_sockets: sandbox.named_sockets,
                    runs: HashMap::new(),
                    some_broke_off: false,
                    ending: Vec::new(),
                    has_orphans: false,
                    next_count: Instant::now() + ROUND,
                })
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
            // Programs that cannot be counted are not let go on: the end of this process is the programs' end.
            self.enforce()?;
            self.end_orphans()?;
            self.report_ends()?;
        }
    }

    /// Reports the runs that have ended. What a run left behind may still write: its end is reported when all of that has ended,
    /// too.
    fn report_ends(&mut self) -> io::Result<()> {
        if self.has_orphans {
            return Ok(());
        }
        for mut ending in std::mem::take(&mut self.ending) {
            if !self.completes_renames(&mut ending.renames) {
                self.ending.push(ending);
                continue;
            }
            let Ending { run, ended, group, .. } = ending;
            // If it cannot be removed now, the program that made it will.
            let _ = group.map(|it| it.remove());
            self.wire.send(&Event::Ended { run, ended }, &[])?;
        }
        Ok(())
    }

    /// Goes on with what is to be completed, and says whether that is over.
    fn completes_renames(&self, renames: &mut Renames) -> bool {
        if let (Renames::Left(supervisor), Written::Layer(it, _)) = (&*renames, &self.written) {
            let repair = Repair::start(&it.written, &self.root, *supervisor);
            // Renames that cannot be completed stay as they are.
            *renames = repair.map_or(Renames::None, Renames::Completing);
        }
        match renames {
            Renames::Completing(repair) => repair.is_over(),
            Renames::None | Renames::Left(_) => true,
        }
    }

    /// Waits for an event. Returns whether a request came.
    fn wait(&self) -> io::Result<bool> {
        let alive = io::stdout();
        let mut waited = vec![
            PollFd::new(&self.wire.0, PollFlags::IN),
            PollFd::from_borrowed_fd(alive.as_fd(), PollFlags::empty()),
        ];
        waited.extend(self.runs.values().map(|it| PollFd::new(&it.report.0, PollFlags::IN)));
        let is_watched = |it: &Run| it.limits != Limits::default();
        let is_busy = self.has_orphans || self.runs.values().any(is_watched);
        let limit = match (self.ending.is_empty(), is_busy) {
            (false, _) => ENDING_ROUND,
            (true, true) => ROUND,
            (true, false) => IDLE,
        };
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
            Request::Run { run, program, group } => self.start(run, program, group, files),
            Request::Signal { run, signal } => {
                let signal = Signal::from_named_raw(signal);
                if let (Some(run), Some(signal)) = (self.runs.get(&run), signal) {
                    // The program may have ended meanwhile.
                    let _ = kill_process_group(run.leader.pid(), signal);
                }
                Ok(())
            }
            Request::Apply { entries } => {
                let root = self.root.clone();
                let applied = each(&self.wire, entries, |header, bytes| match &self.written {
                    Written::Merged(it) => it.apply(header, bytes),
                    _ => fill::apply(&root, header, bytes),
                });
                self.wire.send(&Event::Applied(applied.err()), &[])
            }
            Request::Survey => {
                let surveyed = match &self.written {
                    Written::Layer(it, stores) if self.runs.is_empty() && !self.some_broke_off => {
                        let (written, below, root) = (&it.written, &it.below, &*self.root);
                        let layers = keep::Layers { written, below, root, stores };
                        let surveyed = keep::survey(&layers).map(Some);
                        surveyed.map_err(|it| Failure::new("cannot read what was written to caches", &it))
                    }
                    _ => Ok(None),
                };
                self.wire.send(&Event::Surveyed(surveyed), &[])
            }
            Request::Keep { store, paths } => {
                let kept = self.keep(store, &paths, &files);
                let kept = kept.map_err(|it| Failure::new("cannot keep what was written to caches", &it));
                self.wire.send(&Event::Kept(kept), &[])
            }
            Request::List => {
                let told = match &self.written {
                    Written::Copy | Written::Nowhere => Ok(()),
                    Written::Layer(it, _) => harvest::list(&it.written, &self.wire),
                    Written::Merged(it) => it.tell(&mut |header, _| harvest::list_one(header, &self.wire)),
                };
                let failure = told.map_err(|it| Failure::new("cannot read what was written", &it)).err();
                self.wire.send(&Event::Harvested(failure), &[])
            }
            Request::Harvest { files } => {
                let told = match &self.written {
                    Written::Copy | Written::Nowhere => Ok(()),
                    Written::Layer(it, _) => harvest::tell(&it.written, &files, &self.wire),
                    Written::Merged(it) => it.tell(&mut |header, bytes| {
                        if header.is_file() && !files.contains(&header.path) {
                            return Ok(());
                        }
                        self.wire.send(&Event::Written(header), &[])?;
                        self.wire.write(bytes)
                    }),
                };
                let failure = told.map_err(|it| Failure::new("cannot read what was written", &it)).err();
                self.wire.send(&Event::Harvested(failure), &[])
            }
        }
    }

    fn keep(&self, store: Option<usize>, paths: &[String], files: &[OwnedFd]) -> io::Result<keep::Size> {
        let (Written::Layer(it, stores), [new, old @ ..]) = (&self.written, files) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let written = match store {
            None => Some(&it.written),
            Some(number) => stores.get(number).and_then(Option::as_ref),
        };
        let written = written.ok_or(io::ErrorKind::InvalidData)?;
        keep::keep(written, &self.root, paths, new, old.first())
    }

    fn start(
        &mut self,
        run: u32,
        program: Program,
        group: Option<String>,
        mut files: Vec<OwnedFd>,
    ) -> io::Result<()> {
        let limits = program.limits;
        let group = group.and_then(|it| Some(Group::new(it, files.pop()?)));
        let how = match &self.written {
            // This process has threads that serve the folder.
            Written::Merged(it) => How::Started(it.files),
            Written::Layer(it, _) => How::Forked(Some((it, &self.root))),
            Written::Copy | Written::Nowhere => How::Forked(None),
        };
        let (is_isolated, owner, writable) = (self.is_isolated, self.owner, self.writable.clone());
        let task = Task { program, is_isolated, owner, writable, named_sockets: self.named_sockets };
        match lead(&task, files, how, group.as_ref()) {
            Ok((leader, report, terminal)) => {
                let terminal: Vec<_> = terminal.iter().map(|it| it.as_fd()).collect();
                self.wire.send(&Event::Started { run }, &terminal)?;
                let start = Instant::now();
                let new =
                    Run { leader, report, start, limits, memory: 0, next_exact: start, stopped: None, group };
                self.runs.insert(run, new);
                Ok(())
            }
            Err(error) => {
                let _ = group.map(|it| it.remove());
                let exit = Exit::NotStarted { error: error.raw_os_error().unwrap_or(0) };
                let ended = Ended {
                    exit,
                    stopped: None,
                    left_some: false,
                    processor_time: Duration::ZERO,
                    memory: 0,
                };
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
            let was_killed = report.is_none();
            let (exit, processor_time) = match report {
                Some((it, _)) => (it.exit, it.processor_time),
                // The leader was killed by what it started.
                None => (Exit::Signal(Signal::KILL.as_raw()), Duration::ZERO),
            };
            run.leader.kill();
            run.leader.wait();
            let renames = if was_killed { Renames::Left(run.leader.pid()) } else { Renames::None };
            let Some(Run { stopped, memory, limits, group, .. }) = self.runs.remove(&number) else {
                continue;
            };
            // The kernel ended it between two looks.
            let by_kernel = || group.as_ref()?.stopped(&limits).filter(|it| matches!(it, Stopped::Memory(_)));
            let stopped = stopped.or_else(by_kernel);
            let left_some = self.end_orphans()?;
            let ended = Ended { exit, stopped, left_some, processor_time, memory };
            self.some_broke_off |= !ended.is_whole();
            self.ending.push(Ending { run: number, ended, group, renames });
        }
        Ok(())
    }

    /// Ends what takes more than it may.
    fn enforce(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if now < self.next_count {
            return Ok(());
        }
        self.next_count = now + ROUND;
        for run in self.runs.values_mut().filter(|it| it.limits != Limits::default() && it.stopped.is_none())
        {
            let used = run.count(now, self.is_isolated)?;
            let by_kernel = || run.group.as_ref()?.stopped(&run.limits);
            run.stopped = over(&run.limits, &used, run.start.elapsed()).or_else(by_kernel);
            if run.stopped.is_some() {
                // At once where it is in a group.
                let _ = run.group.as_ref().map(Group::end);
                usage::end(run.leader.pid())?;
                // The leader may be stopped, or have started nothing yet.
                run.leader.kill();
            }
        }
        Ok(())
    }

    /// Ends all that runs. In a namespace of its own, that is the kernel's work, but for control groups.
    fn end_all(&mut self) {
        let has_groups = self.runs.values().any(|it| it.group.is_some());
        if self.is_isolated && !has_groups && self.ending.iter().all(|it| it.group.is_none()) {
            return;
        }
        let mut groups: Vec<Group> = self.ending.drain(..).filter_map(|it| it.group).collect();
        for run in std::mem::take(&mut self.runs).into_values() {
            // Processes that are not seen are ended by their group, or by the kernel.
            let _ = usage::end(run.leader.pid());
            run.leader.kill();
            run.leader.wait();
            groups.extend(run.group);
        }
        for _ in 0..ROUNDS {
            if self.end_orphans().is_err() || !self.has_orphans {
                break;
            }
        }
        groups.iter().for_each(|it| _ = it.remove());
    }

    /// Ends what lost its leader: children of this process that lead no run. Never waits for one: what is traced may
    /// take its time. Says whether some lived.
    fn end_orphans(&mut self) -> io::Result<bool> {
        let leaders: Vec<Pid> = self.runs.values().map(|it| it.leader.pid()).collect();
        for leader in &leaders {
            // The program may have stopped it.
            let _ = kill_process(*leader, Signal::CONT);
        }
        let own = match &self.written {
            Written::Merged(it) => Some(it.watcher()),
            _ => None,
        };
        let repairs = self.ending.iter().filter_map(|it| match &it.renames {
            Renames::Completing(repair) => Some(repair.pid()),
            Renames::None | Renames::Left(_) => None,
        });
        let kept: Vec<Pid> = leaders.into_iter().chain(own).chain(repairs).collect();
        let all = usage::Processes::look()?;
        let orphans: Vec<_> = all.children(getpid()).filter(|it| !kept.contains(it)).collect();
        let some_lived = orphans.iter().any(|it| !usage::is_dead(*it));
        for orphan in orphans {
            let _ = kill_process(orphan, Signal::KILL);
            let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
        }
        self.has_orphans = all.lives_outside(&kept, self.is_isolated);
        Ok(some_lived)
    }
}

/// Prepares what must be there before the folder itself. Returns the system's root.
fn begin(sandbox: &Sandbox) -> Result<File, Failure> {
    if sandbox.network == Network::None {
        loopback::turn_on().map_err(|it| Failure::new("cannot turn the loopback on", &it))?;
    }
    root::begin(sandbox.space)
}

/// Applies the restrictions of programs that need the folder to be there.
fn scope(system: &File) -> Result<(), Failure> {
    landlock::scope(system).map_err(|it| Failure::new("cannot hold signals and sockets back", &it))
}

/// The workspace under entries of the wire, merged by FUSE.
fn merge(
    wire: &Wire,
    workspace: &Path,
    at: &Path,
    kept: &Path,
    entries: Announced,
    space: u64,
) -> Result<Merged, Failure> {
    let mut parts = Parts::new(workspace, at, kept.to_owned(), space);
    each(wire, entries, |header, bytes| parts.as_mut().map_or(Ok(()), |it| it.add(header, bytes)))?;
    parts.map_err(|it| Failure::new("cannot store what is written", &it))?.mount()
}

impl Run {
    /// Returns what the run uses, or an upper bound of its memory. The run is counted exactly where that matters, and else seldom
    /// enough to take next to no time of the processors.
    fn count(&mut self, now: Instant, is_alone: bool) -> io::Result<usage::Usage> {
        const SELDOM: u32 = 100;
        let bound = usage::bound(self.leader.pid(), is_alone)?;
        let may_be_over = self.limits.memory.is_some_and(|it| bound.memory > it);
        if !may_be_over && now < self.next_exact {
            return Ok(bound);
        }
        let used = usage::of(self.leader.pid(), is_alone)?;
        self.next_exact = now + now.elapsed() * SELDOM;
        self.memory = self.memory.max(used.memory);
        Ok(used)
    }
}

fn over(limits: &Limits, used: &usage::Usage, time: Duration) -> Option<Stopped> {
    let time = limits.time.filter(|it| time > *it).map(Stopped::Time);
    let memory = limits.memory.filter(|it| used.memory > *it).map(Stopped::Memory);
    let processes = limits.processes.filter(|it| used.tasks > *it).map(Stopped::Processes);
    memory.or(processes).or(time)
}
