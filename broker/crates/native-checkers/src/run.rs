//! A command's run in a shadow folder of a view.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read, Write as _, pipe},
    os::fd::{AsFd as _, BorrowedFd},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

use external_tools::{OutsideState, Surroundings};
use lint::Cancel;
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;
use shadow::{
    Ended, Exit, Launcher, Limits, OpenError, Program, ReadOnly, Running, Sandbox, Shadow, Stopped,
};

use crate::{checker::Checker, layer::layer};

/// A workspace in which commands run.
pub struct Setup {
    /// Folder of the workspace, free of links.
    pub root: PathBuf,
    /// Files on the disk.
    pub disk: Arc<dyn View>,
    pub launcher: Launcher,
    /// Paths that commands may reach, besides their own programs. They have no network, whatever this contains.
    pub sandbox: Sandbox,
    /// All of their environment, but for what each has of its own.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether no program of the workspace may be run, runs see nothing of the home folder, and leave nothing to later ones.
    pub confined: bool,
}

/// Output and end of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) ended: Ended,
    /// Whether more was printed than is kept.
    pub(crate) is_cut: bool,
}

/// A folder in which a checker's commands run.
pub(crate) struct Folder {
    opened: Mutex<Option<Opened>>,
    environment: Vec<(OsString, OsString)>,
    current: PathBuf,
    limits: Limits,
}

enum Opened {
    /// A view, which commands may write to in memory.
    View(Box<Shadow>),
    Disk(ReadOnly),
}

/// Niceness of the processes: people and their editors go first.
const CHECKER_NICENESS: i32 = 5;

/// Bytes that are kept of what a command prints, for each of the two streams.
const MAX_OUTPUT: u64 = 64 << 20;

impl Setup {
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        let found = self.environment.iter().find(|it| it.0 == name);
        found.map(|it| it.1.clone()).filter(|it| !it.is_empty())
    }

    /// Path of a checker's program for a project in the folder `project`; `None` if it is not there.
    pub(crate) fn find(&self, checker: &Checker, project: &Path) -> Option<PathBuf> {
        self.permitted(checker.tool.find(&self.root, project, &|it| self.variable(it)))
    }

    /// The same for the workspace as a whole.
    pub(crate) fn find_anywhere(&self, checker: &Checker) -> Option<PathBuf> {
        self.permitted(checker.tool.find_anywhere(&self.root, &|it| self.variable(it)))
    }

    fn permitted(&self, program: Option<PathBuf>) -> Option<PathBuf> {
        program.filter(|it| !self.confined || !shadow::leads_through(it, &self.root))
    }

    pub(crate) fn folder_of(&self, project: &WorkspacePath) -> PathBuf {
        if project.is_root() { self.root.clone() } else { self.root.join(project.as_str()) }
    }

    /// Returns the sandbox with the program of a checker, and what it needs.
    fn sandbox_for(&self, checker: &Checker, program: &Path, project: &Path) -> Sandbox {
        let variable = |name: &str| self.variable(name);
        let surroundings =
            self.surroundings(checker, [project.to_owned()].into(), [program.to_owned()].into());
        let none = OutsideState::default();
        let shows = checker.shows.iter().filter(|_| !self.confined);
        let shown = shows.flat_map(|it| surroundings.places(it, &none));
        let shown = shown.filter(|it| !shadow::leads_through(it, &self.root));
        let shown: BTreeSet<_> = shown.map(|it| fs::canonicalize(&it).unwrap_or(it)).collect();
        let stores = self.sandbox.stores.iter().filter(|it| shown.contains(*it)).cloned().collect();
        let shown = shown.into_iter().filter(|it| it.exists());
        let programs = checker.tool.programs(program, &variable, |it| !shadow::leads_through(it, &self.root));
        let read = self.sandbox.read.iter().cloned().chain(shown).collect();
        Sandbox { read, stores, network: shadow::Network::None, ..self.sandbox.clone() }
            .with_programs(&programs, &self.root)
    }

    /// Circumstances of runs of these programs for projects in these folders.
    pub(crate) fn surroundings(
        &self,
        checker: &Checker,
        projects: BTreeSet<PathBuf>,
        programs: BTreeSet<PathBuf>,
    ) -> Surroundings<'_> {
        let variables = self.environment_for(checker).into_iter().collect();
        Surroundings { root: &self.root, projects, programs, variables }
    }

    pub(crate) fn environment_for(&self, checker: &Checker) -> Vec<(OsString, OsString)> {
        let mut all: BTreeMap<&OsStr, &OsStr> =
            self.environment.iter().map(|(name, it)| (&**name, &**it)).collect();
        all.extend(checker.tool.env.iter().map(|(name, it)| (OsStr::new(name), OsStr::new(it))));
        all.into_iter().map(|(name, it)| (name.to_owned(), it.to_owned())).collect()
    }
}

impl Folder {
    /// A folder that shows the view, with the project's folder as the one where commands start.
    pub(crate) fn open(
        setup: &Setup,
        checker: &Checker,
        program: &Path,
        view: &dyn View,
        project: &WorkspacePath,
    ) -> Result<Self, String> {
        let layer =
            layer(view, &*setup.disk).map_err(|error| format!("cannot read what is checked: {error}"))?;
        let open = |sandbox: &Sandbox| {
            Shadow::open(&setup.launcher, &setup.root, &layer, sandbox).map(|it| Opened::View(Box::new(it)))
        };
        Self::opened(setup, checker, program, project, open)
    }

    /// The workspace as it is on the disk, where commands can write to nothing, and see what they would see around any view.
    pub(crate) fn on_disk(
        setup: &Setup,
        checker: &Checker,
        program: &Path,
        project: &WorkspacePath,
    ) -> Result<Self, String> {
        let open = |sandbox: &Sandbox| {
            let sandbox = Sandbox { named_sockets: false, ..sandbox.clone() };
            ReadOnly::open(&setup.launcher, &setup.root, &sandbox).map(Opened::Disk)
        };
        Self::opened(setup, checker, program, project, open)
    }

    fn opened(
        setup: &Setup,
        checker: &Checker,
        program: &Path,
        project: &WorkspacePath,
        open: impl FnOnce(&Sandbox) -> Result<Opened, OpenError> + Send,
    ) -> Result<Self, String> {
        let current = setup.folder_of(project);
        let sandbox = setup.sandbox_for(checker, program, &current);
        let opened = thread::scope(|scope| {
            let open = || {
                // Only this thread's, and that of the processes that it starts.
                let _ = rustix::process::nice(CHECKER_NICENESS);
                open(&sandbox)
            };
            scope.spawn(open).join()
        });
        let broken = || "the thread that opened a folder for it broke off".to_owned();
        let opened = opened
            .map_err(|_| broken())?
            .map_err(|error| format!("cannot make a folder to run it in: {error}"))?;
        let limits = Limits {
            time: Some(checker.timeout()),
            memory: Some(checker.memory << 20),
            processes: None,
            file_size: None,
        };
        let environment = setup.environment_for(checker);
        Ok(Self { opened: Mutex::new(Some(opened)), environment, current, limits })
    }

    /// Runs a command to its end, or until it is cancelled or late; the folder is gone then.
    pub(crate) fn run(
        &self,
        command: Vec<OsString>,
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> Result<Ran, String> {
        self.run_with(command, &[], cancel, deadline)
    }

    /// Runs a command in the same way, with this on its standard input.
    pub(crate) fn run_with(
        &self,
        command: Vec<OsString>,
        input: &[u8],
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> Result<Ran, String> {
        let failed = |error: io::Error| format!("cannot be run: {error}");
        let (stdout, to_stdout) = pipe().map_err(failed)?;
        let (stderr, to_stderr) = pipe().map_err(failed)?;
        let (stdin, mut to_stdin) = pipe().map_err(failed)?;
        let program = Program {
            command,
            environment: self.environment.clone(),
            folder: self.current.clone(),
            terminal: None,
            limits: self.limits,
        };
        let (is_done, over) = (AtomicBool::new(false), Cancel::default());
        let ends = over.clone();
        let _ends = cancel.on_cancel(move || ends.cancel());
        thread::scope(|scope| {
            let read = [scope.spawn(move || kept(stdout)), scope.spawn(move || kept(stderr))];
            // It need not read all of it.
            scope.spawn(move || _ = to_stdin.write_all(input));
            scope.spawn(|| {
                over.wait(deadline);
                if !is_done.load(Relaxed) {
                    self.opened.lock().take();
                }
            });
            let ended = match &*self.opened.lock() {
                Some(opened) => {
                    let files = [stdin.as_fd(), to_stdout.as_fd(), to_stderr.as_fd()];
                    opened.run(program, files).map_err(|error| format!("cannot be run: {error}"))
                }
                None => Err("interrupted".to_owned()),
            };
            // Else what is read never ends.
            drop((stdin, to_stdout, to_stderr));
            let ended = ended.map(|mut it| it.wait());
            is_done.store(true, Relaxed);
            over.cancel();
            let [stdout, stderr] = read.map(|it| it.join().unwrap_or_default());
            Ok(Ran::of([stdout, stderr], ended?))
        })
    }
}

impl Folder {
    /// Keeps what commands wrote to caches of tools for the next run in any branch. The folder is gone then.
    pub(crate) fn keep_caches(self) {
        if let Some(Opened::View(shadow)) = &*self.opened.lock() {
            // Caches that cannot be kept are made anew by the next run.
            let _kept = shadow.keep_caches();
        }
    }
}

impl Opened {
    fn run(&self, program: Program, files: [BorrowedFd<'_>; 3]) -> Result<Running, OpenError> {
        match self {
            Self::View(it) => it.run(program, Some(files)),
            Self::Disk(it) => it.run(program, files),
        }
    }
}

impl Ran {
    fn of([stdout, stderr]: [Vec<u8>; 2], ended: Ended) -> Self {
        let is_cut = [&stdout, &stderr].iter().any(|it| it.len() as u64 > MAX_OUTPUT);
        Self { stdout, stderr, ended, is_cut }
    }

    /// The exit code, or why there is none.
    pub(crate) fn code(&self, checker: &Checker) -> Result<i32, String> {
        match (&self.ended.stopped, &self.ended.exit) {
            (Some(Stopped::Closed), _) => Err("the folder that it ran in broke off".to_owned()),
            (Some(limit), _) => Err(format!("it was ended: {limit}")),
            (None, Exit::Code(code)) => Ok(*code),
            (None, Exit::Signal(signal)) => {
                Err(format!("it was ended by signal {signal}{}", self.last_words(checker)))
            }
            (None, Exit::NotStarted { error }) => {
                Err(format!("it cannot be started: {}", io::Error::from_raw_os_error(*error)))
            }
        }
    }

    /// The start and the end of what it printed for people, to be added to a sentence.
    pub(crate) fn last_words(&self, checker: &Checker) -> String {
        const LINES: usize = 4;
        let is_noise = |it: &&str| checker.noise.as_ref().is_some_and(|noise| noise.is_match(it));
        for printed in [&self.stderr, &self.stdout] {
            let text = String::from_utf8_lossy(printed);
            let lines = text.lines().map(str::trim_end).filter(|it| !it.is_empty() && !is_noise(it));
            let lines: Vec<_> = lines.collect();
            if !lines.is_empty() {
                return format!(": {}", shortened(&lines, LINES).join("; "));
            }
        }
        String::new()
    }
}

/// The first lines and the last ones.
fn shortened<'l>(lines: &[&'l str], most: usize) -> Vec<&'l str> {
    match lines.len().checked_sub(2 * most) {
        None | Some(0) => lines.to_vec(),
        Some(_) => [&lines[..most], &["..."], &lines[lines.len() - most..]].concat(),
    }
}

/// All of it, but for what is too much; read to the end all the same, so that the command does not wait for it.
fn kept(mut from: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let _as_far_as_it_goes = from.by_ref().take(MAX_OUTPUT + 1).read_to_end(&mut kept);
    let _unread = io::copy(&mut from, &mut io::sink());
    kept
}
