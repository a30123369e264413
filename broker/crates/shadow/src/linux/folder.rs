//! The program that opened a folder, and its end of the wire.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsStr,
    fs,
    io::{self, PipeWriter},
    net::Shutdown,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::{ffi::OsStrExt as _, net::UnixStream},
    },
    path::{Path, PathBuf},
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::Signal;

use super::{
    ENTER, PLAIN,
    entries::Outgoing,
    group,
    keep::{Size, Survey},
    starter::{FirstProcess, Starter, enter},
    wire::{Event, Failure, Ground, Request, Wire},
};
use crate::{
    Ended, Entry, Exit, Layer, OpenError, Program, Sandbox, Stopped,
    stores::Stores,
    warm::{FILES, Warm, Written},
};

/// A folder in which programs run. When it is dropped they are ended, and it is gone.
pub(crate) struct Folder {
    wire: Arc<Mutex<Wire>>,
    process: Child,
    /// Held open for as long as this process lives.
    _alive: PipeWriter,
    is_in_namespaces: bool,
    /// Bytes that may be written to memory; none are where programs write to the disk.
    space: u64,
    /// Control groups that may still be there.
    groups: Mutex<Vec<PathBuf>>,
    runs: Runs,
    next: AtomicU32,
    /// Answers to what is not about a run; one question at a time.
    answers: Mutex<Receiver<Answer>>,
}

type Runs = Arc<Mutex<HashMap<u32, Sender<Told>>>>;

/// Answers that may wait to be taken: each may be a large file.
const CHANNEL_CAPACITY: usize = 4;

/// Event of a run.
enum Told {
    Started(Option<OwnedFd>),
    Ended(Ended),
}

/// A part of what was written.
enum Part {
    /// A file, and its size.
    File(String, u64),
    Entry(Entry),
}

enum Answer {
    Part(Part),
    Done(Option<Failure>),
    Surveyed(Result<Option<Survey>, Failure>),
    Kept(Result<Size, Failure>),
}

/// A program that runs in a folder.
pub(crate) struct RunningProgram {
    run: u32,
    told: Receiver<Told>,
    wire: Arc<Mutex<Wire>>,
    ended: Option<Ended>,
}

impl Folder {
    /// The workspace at `root` under `layer`, by overlayfs.
    pub(crate) fn open(
        starter: &Starter,
        root: &Path,
        layer: &Layer,
        (warm, stores): (Option<&Warm>, Option<&Stores>),
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        let entries = Outgoing::of(layer, warm)?;
        let caches = warm.map(Warm::layers).unwrap_or_default();
        let ground = Ground::Overlayfs { caches, stores: stores.map(Stores::layers).unwrap_or_default() };
        Self::start(starter, ENTER, sandbox.space, |socket, process| {
            let wire = enter(socket, process, sandbox)?;
            begin(wire, root, &entries, ground.clone(), sandbox)
        })
    }

    /// A copy of the workspace at `root`, which stands there for programs.
    pub(crate) fn open_copy(
        starter: &Starter,
        root: &Path,
        copy: &Path,
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        Self::start(starter, ENTER, sandbox.space, |socket, process| {
            let wire = enter(socket, process, sandbox)?;
            begin(wire, root, &Outgoing::default(), Ground::Shown(copy.to_owned()), sandbox)
        })
    }

    /// The workspace at `root` as it is on the disk, which programs cannot write to.
    pub(crate) fn open_read_only(
        starter: &Starter,
        root: &Path,
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        Self::start(starter, ENTER, sandbox.space, |socket, process| {
            let wire = enter(socket, process, sandbox)?;
            begin(wire, root, &Outgoing::default(), Ground::ReadOnly, sandbox)
        })
    }

    /// A copy of the workspace where it is, in which programs run without isolation.
    pub(crate) fn open_plain(starter: &Starter, copy: &Path, sandbox: &Sandbox) -> Result<Self, OpenError> {
        let entries = Outgoing::default();
        Self::start(starter, PLAIN, 0, |socket, _| {
            begin(Wire(socket), copy, &entries, Ground::Plain, sandbox)
        })
    }

    /// The workspace at `root` under `layer`, merged by FUSE at `at`, in which programs run without isolation. What they write is
    /// stored in `kept`, the folder in which `at` lies.
    pub(crate) fn open_merged(
        starter: &Starter,
        root: &Path,
        layer: &Layer,
        (at, kept): (&Path, &Path),
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        let entries = Outgoing::of(layer, None)?;
        let ground = Ground::Merged { workspace: root.to_owned(), kept: kept.to_owned() };
        Self::start(starter, PLAIN, 0, |socket, _| begin(Wire(socket), at, &entries, ground.clone(), sandbox))
    }

    fn start(
        starter: &Starter,
        how: &str,
        space: u64,
        begin: impl Fn(UnixStream, &Child) -> Result<Wire, OpenError>,
    ) -> Result<Self, OpenError> {
        let spare = starter.spare(how).map(|it| Self::start_in(it, starter, how, space, &begin));
        match spare {
            // The process died while it waited, or just now.
            None | Some(Err(OpenError::Broken(_))) => {
                Self::start_in(starter.first(how)?, starter, how, space, &begin)
            }
            Some(opened) => opened,
        }
    }

    fn start_in(
        FirstProcess { mut process, socket, alive }: FirstProcess,
        starter: &Starter,
        how: &str,
        space: u64,
        begin: &impl Fn(UnixStream, &Child) -> Result<Wire, OpenError>,
    ) -> Result<Self, OpenError> {
        let wire = begin(socket, &process).inspect_err(|_| {
            let _ = process.kill();
            let _ = process.wait();
        })?;
        let is_in_namespaces = how == ENTER;
        let next = is_in_namespaces.then(|| starter.clone());
        let (runs, answers) = listen_to(&wire, next)?;
        Ok(Self {
            wire: Arc::new(Mutex::new(wire)),
            process,
            _alive: alive,
            is_in_namespaces,
            space,
            groups: Mutex::default(),
            runs,
            next: AtomicU32::new(0),
            answers: Mutex::new(answers),
        })
    }

    /// Starts a program. With a terminal, its other side is the second of the results.
    pub(crate) fn run(
        &self,
        program: Program,
        files: Option<[BorrowedFd<'_>; 3]>,
    ) -> Result<(RunningProgram, Option<OwnedFd>), OpenError> {
        let run = self.next.fetch_add(1, Relaxed);
        let (tell, told) = channel();
        self.runs.lock().insert(run, tell);
        let group = self.group(&program);
        let (name, folder) = group.unzip();
        let files: Vec<_> = files.into_iter().flatten().chain(folder.as_ref().map(|it| it.as_fd())).collect();
        if let Err(error) = self.wire.lock().send(&Request::Run { run, program, group: name }, &files) {
            self.runs.lock().remove(&run);
            return Err(error.into());
        }
        let mut running = RunningProgram { run, told, wire: Arc::clone(&self.wire), ended: None };
        let mut other_side = None;
        match running.told.recv() {
            Ok(Told::Started(terminal)) => other_side = terminal,
            Ok(Told::Ended(ended)) => running.ended = Some(ended),
            Err(_) => running.ended = Some(closed()),
        }
        Ok((running, other_side))
    }

    /// A control group for a program with limits: its name and folder.
    fn group(&self, program: &Program) -> Option<(String, OwnedFd)> {
        let path = group::make(&program.limits, self.space)?;
        let mut groups = self.groups.lock();
        // Process 1 has removed the others.
        groups.retain(|it| it.exists());
        groups.push(path.clone());
        Some((path.file_name()?.to_str()?.to_owned(), open_folder(&path).ok()?))
    }

    pub(crate) fn apply(&self, layer: &Layer) -> Result<(), OpenError> {
        let answers = self.answers.lock();
        let entries = Outgoing::of(layer, None)?;
        let wire = self.wire.lock();
        wire.send(&Request::Apply { entries: entries.announced() }, &[])?;
        entries.send(&wire)?;
        drop(wire);
        done(&answers, |_| ())
    }

    /// Passes on what was written; of files, those that `wants` accepts by path and size.
    pub(crate) fn harvest(
        &self,
        mut wants: impl FnMut(&Path, u64) -> bool,
        mut each: impl FnMut(Entry),
    ) -> Result<(), OpenError> {
        let answers = self.answers.lock();
        self.wire.lock().send(&Request::List, &[])?;
        let mut files = BTreeSet::new();
        done(&answers, |it| {
            if let Part::File(path, size) = it
                && wants(Path::new(&path), size)
            {
                files.insert(path);
            }
        })?;
        self.wire.lock().send(&Request::Harvest { files }, &[])?;
        done(&answers, |it| {
            if let Part::Entry(entry) = it {
                each(entry);
            }
        })
    }
}

impl Folder {
    /// Keeps what programs wrote to caches, if they have ended and all came to their end by themselves. Says how many bytes
    /// there are then; `None` if nothing is kept.
    pub(crate) fn keep_caches(&self, warm: &Warm, stores: &Stores) -> Result<Option<u64>, OpenError> {
        let answers = self.answers.lock();
        self.wire.lock().send(&Request::Survey, &[])?;
        let survey = match answers.recv() {
            Ok(Answer::Surveyed(survey)) => survey?,
            _ => return Err(broken()),
        };
        let Some(mut survey) = survey else { return Ok(None) };
        let of_stores = self.keep_stores(&answers, stores, std::mem::take(&mut survey.stores))?;
        let of_groups = self.keep_groups(&answers, warm, survey)?;
        let both = [of_stores, of_groups];
        Ok(both.iter().any(Option::is_some).then(|| both.into_iter().flatten().sum()))
    }

    fn keep_groups(
        &self,
        answers: &Receiver<Answer>,
        warm: &Warm,
        mut survey: Survey,
    ) -> Result<Option<u64>, OpenError> {
        let written: Written = survey.written.into_iter().map(|(path, it)| (path.into(), it)).collect();
        // Outputs that such a file tells to be there would be missing.
        survey.groups.retain(|name, _| name != FILES || written.is_empty());
        if survey.groups.is_empty() {
            return Ok(None);
        }
        let origin = warm.origin().map_err(OpenError::Caches)?;
        survey.groups.retain(|name, paths| origin.knows(name, paths));
        let mut groups = Vec::new();
        let (mut newest, mut bytes) = (0, 0);
        for (name, paths) in survey.groups {
            let group = warm.new_group(&name)?;
            match self.keep(answers, None, paths, [Some(group.folder()), warm.layer(&name)]) {
                Ok(size) => {
                    newest = size.newest.max(newest);
                    bytes += size.bytes;
                    groups.push((group, size.bytes));
                }
                Err(error) => {
                    group.discard();
                    return Err(error);
                }
            }
        }
        if groups.is_empty() {
            return Ok(None);
        }
        warm.publish(origin, groups, written, newest)?;
        Ok(Some(bytes))
    }

    /// Adds what was written to caches outside of the workspace to what is kept of them.
    fn keep_stores(
        &self,
        answers: &Receiver<Answer>,
        stores: &Stores,
        written: Vec<Vec<String>>,
    ) -> Result<Option<u64>, OpenError> {
        let mut bytes = None;
        for (number, paths) in written.into_iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            let _turn = stores.turn()?;
            let (new, old) = (stores.new_layer()?, stores.newest(number));
            let old = old.as_ref().map(|it| it.folder.as_path());
            match self.keep(answers, Some(number), paths, [Some(new.folder()), old]) {
                Ok(size) => {
                    bytes = Some(bytes.unwrap_or(0) + size.bytes);
                    stores.publish(number, new, size.bytes)?;
                }
                Err(error) => {
                    new.discard();
                    return Err(error);
                }
            }
        }
        Ok(bytes)
    }

    /// Has process 1 fill a new layer, which is made of an old one if there is one.
    fn keep(
        &self,
        answers: &Receiver<Answer>,
        store: Option<usize>,
        paths: Vec<String>,
        folders: [Option<&Path>; 2],
    ) -> Result<Size, OpenError> {
        let folders: Vec<_> = folders.into_iter().flatten().map(open_folder).collect::<io::Result<_>>()?;
        let files: Vec<_> = folders.iter().map(|it| it.as_fd()).collect();
        self.wire.lock().send(&Request::Keep { store, paths }, &files)?;
        match answers.recv() {
            Ok(Answer::Kept(kept)) => Ok(kept?),
            _ => Err(broken()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "Broker's own cache folder, and control groups")]
fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    fs::File::open(folder).map(OwnedFd::from)
}

fn broken() -> OpenError {
    OpenError::Broken(io::ErrorKind::UnexpectedEof.into())
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = self.wire.lock().0.shutdown(Shutdown::Both);
        if self.is_in_namespaces {
            // Process 1 inside dies with it, whatever it is at.
            let _ = self.process.kill();
        }
        // Without namespaces it ends what runs, and then itself.
        let _ = self.process.wait();
        self.groups.lock().iter().for_each(|it| group::remove(it));
    }
}

impl RunningProgram {
    pub(crate) fn wait(&mut self) -> Ended {
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

    pub(crate) fn signals(&self) -> impl Fn(i32) -> io::Result<()> + Send + Sync + use<> {
        let (run, wire) = (self.run, Arc::clone(&self.wire));
        move |signal| wire.lock().send(&Request::Signal { run, signal }, &[])
    }
}

fn begin(
    wire: Wire,
    root: &Path,
    entries: &Outgoing<'_>,
    ground: Ground,
    sandbox: &Sandbox,
) -> Result<Wire, OpenError> {
    let sockets = if matches!(ground, Ground::Plain) { Vec::new() } else { sockets()? };
    let sandbox = sandbox.clone();
    let request =
        Request::Open { root: root.to_owned(), sandbox, ground, sockets, entries: entries.announced() };
    let sent = wire.send(&request, &[]).and_then(|()| entries.send(&wire));
    // A failure that process 1 reports is more precise than the error of a closed socket.
    match wire.receive().or(Ok(None)).and_then(|it| if it.is_none() { sent.map(|()| it) } else { Ok(it) })? {
        Some((Event::Ready, _)) => Ok(wire),
        Some((Event::Failed(failure), _)) => Err(failure.into()),
        _ => Err(OpenError::Broken(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Places of all sockets of this process's network; those of another one are not known.
#[expect(clippy::disallowed_methods, reason = "the system's table of sockets")]
fn sockets() -> io::Result<Vec<PathBuf>> {
    let table = fs::read("/proc/net/unix")?;
    let place = |line: &[u8]| {
        let start = line.iter().position(|it| *it == b'/')?;
        // Programs cannot find what this user cannot find.
        fs::canonicalize(OsStr::from_bytes(&line[start..])).ok()
    };
    // Each connection is told of with the place of its socket.
    let places: BTreeSet<_> = table.split(|it| *it == b'\n').filter_map(place).collect();
    Ok(places.into_iter().collect())
}

/// Waits for the end of an answer.
fn done(answers: &Receiver<Answer>, mut each: impl FnMut(Part)) -> Result<(), OpenError> {
    loop {
        match answers.recv() {
            Ok(Answer::Part(part)) => each(part),
            Ok(Answer::Done(None)) => return Ok(()),
            Ok(Answer::Done(Some(failure))) => return Err(failure.into()),
            Ok(Answer::Surveyed(_) | Answer::Kept(_)) | Err(_) => {
                return Err(OpenError::Broken(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
}

/// Hears what process 1 tells, on a thread of its own. When the folder is gone, a process for the next one is prepared.
fn listen_to(wire: &Wire, next: Option<Starter>) -> io::Result<(Runs, Receiver<Answer>)> {
    let (tell, answers) = sync_channel(CHANNEL_CAPACITY);
    let runs = Runs::default();
    let (listened, told) = (Wire(wire.0.try_clone()?), Arc::clone(&runs));
    let hear = move || {
        listen(&listened, &told, &tell);
        drop(tell);
        next.iter().for_each(Starter::prepare);
    };
    thread::Builder::new().name("shadow".to_owned()).spawn(hear)?;
    Ok((runs, answers))
}

/// Hands on what process 1 tells, until it is gone.
fn listen(wire: &Wire, runs: &Runs, answers: &SyncSender<Answer>) {
    while let Ok(Some((event, files))) = wire.receive::<Event>() {
        let told = match event {
            Event::Started { run } => tell(runs, run, Told::Started(files.into_iter().next())),
            Event::Ended { run, ended } => {
                let told = tell(runs, run, Told::Ended(ended));
                runs.lock().remove(&run);
                told
            }
            Event::Written(header) => {
                let Ok(bytes) = wire.read(header.size()) else { break };
                header.into_entry(bytes).is_none_or(|it| answers.send(Answer::Part(Part::Entry(it))).is_ok())
            }
            Event::Listed { path, size } => answers.send(Answer::Part(Part::File(path, size))).is_ok(),
            Event::Applied(failure) | Event::Harvested(failure) => {
                answers.send(Answer::Done(failure)).is_ok()
            }
            Event::Surveyed(surveyed) => answers.send(Answer::Surveyed(surveyed)).is_ok(),
            Event::Kept(kept) => answers.send(Answer::Kept(kept)).is_ok(),
            Event::Ready | Event::Failed(_) => true,
        };
        // The receiver is gone if its caller does not wait any more.
        let _ = told;
    }
    // Callers that wait see that nothing more comes.
    runs.lock().clear();
}

fn tell(runs: &Runs, run: u32, what: Told) -> bool {
    runs.lock().get(&run).is_some_and(|it| it.send(what).is_ok())
}

fn closed() -> Ended {
    Ended {
        exit: Exit::Signal(Signal::KILL.as_raw()),
        stopped: Some(Stopped::Closed),
        left_some: true,
        processor_time: Duration::ZERO,
        memory: 0,
    }
}

impl From<Failure> for OpenError {
    fn from(failure: Failure) -> Self {
        let error = failure.error.map_or_else(|| io::ErrorKind::Other.into(), io::Error::from_raw_os_error);
        if failure.is_overlayfs {
            Self::Overlayfs { what: failure.what, error }
        } else {
            Self::Mounts { what: failure.what, error }
        }
    }
}
