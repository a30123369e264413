//! The handle of a shadow folder, in the program that opened it.

use std::{
    collections::HashMap,
    fs,
    io::{self, Read as _, Write as _},
    net::Shutdown,
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt as _},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use rustix::process::{Signal, getegid, geteuid};

use super::{
    ENTER,
    enter::{FAILED, STEP, network_byte},
    this_program,
    wire::{Event, Failure, Request, Wire},
};
use crate::{Ended, Entry, Exit, Layer, Program, Sandbox, Stopped};

/// How the first process of a folder is started: a program that begins with [`inside`](super::inside).
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
}

/// Why there is no folder, or nothing can be done in it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("this system does not let programs have namespaces of their own: {0}")]
    Namespaces(io::Error),
    #[error("{what}: {error}")]
    Mounts { what: String, error: io::Error },
    #[error("the shadow folder broke off: {0}")]
    Broken(#[from] io::Error),
}

/// A folder in which programs run. When it is dropped they are ended, and it is gone.
pub struct Shadow {
    wire: Arc<Mutex<Wire>>,
    process: Child,
    runs: Runs,
    next: AtomicU32,
    /// Answers to what is not about a run; one question at a time.
    answers: Mutex<Receiver<Answer>>,
}

type Runs = Arc<Mutex<HashMap<u32, Sender<Told>>>>;

/// What is told of a run.
enum Told {
    Started(Option<OwnedFd>),
    Ended(Ended),
}

enum Answer {
    Entry(Entry),
    Done(Option<Failure>),
}

/// A program that runs in a folder.
pub struct Running {
    run: u32,
    told: Receiver<Told>,
    wire: Arc<Mutex<Wire>>,
    /// The other side of its terminal, if it has one.
    pub terminal: Option<OwnedFd>,
    ended: Option<Ended>,
}

impl Launcher {
    /// This very program, which must begin with [`inside`](super::inside).
    pub fn this_program() -> Self {
        Self { program: this_program().into() }
    }

    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }
}

impl Shadow {
    /// Makes a folder that shows `layer` over the folder on the disk at `root`, which is absolute and free of links, and
    /// shows it there.
    pub fn open(
        launcher: &Launcher,
        root: &Path,
        layer: &Layer,
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        let (mine, others) = UnixStream::pair()?;
        let mut process = Command::new(&launcher.program)
            .arg(ENTER)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(others)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // An interrupt from the keyboard is not for it.
            .process_group(0)
            .spawn()?;
        match begin(mine, &process, root, layer, sandbox) {
            Ok(wire) => Self::listen(wire, process),
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }

    fn listen(wire: Wire, process: Child) -> Result<Self, OpenError> {
        let (tell, answers) = channel();
        let runs = Runs::default();
        let (listened, told) = (Wire(wire.0.try_clone()?), Arc::clone(&runs));
        thread::Builder::new().name("shadow".to_owned()).spawn(move || listen(&listened, &told, &tell))?;
        let (wire, answers) = (Arc::new(Mutex::new(wire)), Mutex::new(answers));
        Ok(Self { wire, process, runs, next: AtomicU32::new(0), answers })
    }

    /// Starts a program with these as its standard input, output and error, or with a terminal.
    pub fn run(&self, program: Program, files: Option<[BorrowedFd<'_>; 3]>) -> Result<Running, OpenError> {
        let run = self.next.fetch_add(1, Relaxed);
        let (tell, told) = channel();
        locked(&self.runs).insert(run, tell);
        let files: Vec<_> = files.into_iter().flatten().collect();
        locked(&self.wire).send(&Request::Run { run, program }, &files)?;
        let mut running = Running { run, told, wire: Arc::clone(&self.wire), terminal: None, ended: None };
        match running.told.recv() {
            Ok(Told::Started(terminal)) => running.terminal = terminal,
            Ok(Told::Ended(ended)) => running.ended = Some(ended),
            Err(_) => running.ended = Some(closed()),
        }
        Ok(running)
    }

    /// Shows these entries, too, while programs run: they see them as a new file in the place of the old one.
    pub fn apply(&self, layer: &Layer) -> Result<(), OpenError> {
        let answers = locked(&self.answers);
        let entries = layer.entries.len() as u64;
        let wire = locked(&self.wire);
        wire.send(&Request::Apply { entries }, &[])?;
        send_entries(&wire, layer)?;
        drop(wire);
        done(&answers, |_| ())
    }

    /// What programs wrote to the folder so far. An entry that is a directory shows nothing that stood there before.
    pub fn harvest(&self) -> Result<Vec<Entry>, OpenError> {
        let answers = locked(&self.answers);
        locked(&self.wire).send(&Request::Harvest, &[])?;
        let mut entries = Vec::new();
        done(&answers, |it| entries.push(it))?;
        Ok(entries)
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        let _ = locked(&self.wire).0.shutdown(Shutdown::Both);
        // Process 1 inside dies with it, whatever it is at.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    /// Waits until the program has ended.
    pub fn wait(&mut self) -> Ended {
        loop {
            if let Some(ended) = &self.ended {
                return ended.clone();
            }
            match self.told.recv() {
                Ok(Told::Ended(ended)) => self.ended = Some(ended),
                Ok(Told::Started(_)) => {}
                Err(_) => self.ended = Some(closed()),
            }
        }
    }

    /// A handle that sends signals to the program and the processes of its group.
    pub fn signals(&self) -> impl Fn(i32) -> io::Result<()> + Send + Sync + use<> {
        let (run, wire) = (self.run, Arc::clone(&self.wire));
        move |signal| locked(&wire).send(&Request::Signal { run, signal }, &[])
    }
}

fn begin(
    mut socket: UnixStream,
    process: &Child,
    root: &Path,
    layer: &Layer,
    sandbox: &Sandbox,
) -> Result<Wire, OpenError> {
    socket.write_all(&[network_byte(sandbox.network)])?;
    step(&mut socket)?;
    map_users(process.id()).map_err(OpenError::Namespaces)?;
    socket.write_all(&[STEP])?;
    step(&mut socket)?;
    let wire = Wire(socket);
    let entries = layer.entries.len() as u64;
    let sent = wire
        .send(&Request::Open { root: root.to_owned(), sandbox: sandbox.clone(), entries }, &[])
        .and_then(|()| send_entries(&wire, layer));
    // What went wrong inside says more than that nothing is read there any more.
    match wire.receive().or(Ok(None)).and_then(|it| if it.is_none() { sent.map(|()| it) } else { Ok(it) })? {
        Some((Event::Ready, _)) => Ok(wire),
        Some((Event::Failed(failure), _)) => Err(failure.into()),
        _ => Err(OpenError::Broken(io::ErrorKind::UnexpectedEof.into())),
    }
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

fn send_entries(wire: &Wire, layer: &Layer) -> io::Result<()> {
    for entry in &layer.entries {
        wire.send(&entry.header(), &[])?;
        wire.write(entry.bytes())?;
    }
    Ok(())
}

/// Waits for the end of an answer.
fn done(answers: &Receiver<Answer>, mut each: impl FnMut(Entry)) -> Result<(), OpenError> {
    loop {
        match answers.recv() {
            Ok(Answer::Entry(entry)) => each(entry),
            Ok(Answer::Done(None)) => return Ok(()),
            Ok(Answer::Done(Some(failure))) => return Err(failure.into()),
            Err(_) => return Err(OpenError::Broken(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Hands on what process 1 tells, until it is gone.
fn listen(wire: &Wire, runs: &Runs, answers: &Sender<Answer>) {
    while let Ok(Some((event, files))) = wire.receive::<Event>() {
        let told = match event {
            Event::Started { run } => tell(runs, run, Told::Started(files.into_iter().next())),
            Event::Ended { run, ended } => {
                let told = tell(runs, run, Told::Ended(ended));
                locked(runs).remove(&run);
                told
            }
            Event::Written(header) => {
                let Ok(bytes) = wire.read(header.size()) else { break };
                header.into_entry(bytes).is_none_or(|it| answers.send(Answer::Entry(it)).is_ok())
            }
            Event::Applied(failure) | Event::Harvested(failure) => {
                answers.send(Answer::Done(failure)).is_ok()
            }
            Event::Ready | Event::Failed(_) => true,
        };
        // Who does not wait any more has no need to know.
        let _ = told;
    }
    // Those who wait see that nothing more comes.
    locked(runs).clear();
}

fn tell(runs: &Runs, run: u32, what: Told) -> bool {
    locked(runs).get(&run).is_some_and(|it| it.send(what).is_ok())
}

fn closed() -> Ended {
    Ended {
        exit: Exit::Signal(Signal::KILL.as_raw()),
        stopped: Some(Stopped::Closed),
        processor_time: Duration::ZERO,
        memory: 0,
    }
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<Failure> for OpenError {
    fn from(failure: Failure) -> Self {
        let error = failure.error.map_or_else(|| io::ErrorKind::Other.into(), io::Error::from_raw_os_error);
        Self::Mounts { what: failure.what, error }
    }
}
