//! A workspace on the disk, and programs that run in a shadow folder of it.

use std::{
    fs::{self, File},
    io::{Read as _, Seek as _},
    os::{fd::AsFd as _, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use overlay::{Branch, Disk};
use shadow::{
    Backend, Choice, Ended, Isolation, Launcher, Layer, Limits, Program, Running, Sandbox, Shadow, Storage,
};
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
    pub(crate) sandbox: Sandbox,
    backend: Backend,
}

/// Each way to make a folder.
const WAYS: [(Backend, Isolation); 4] = [
    (Backend::Overlayfs, Isolation::Auto),
    (Backend::Copy, Isolation::Auto),
    (Backend::Copy, Isolation::Off),
    (Backend::Fuse, Isolation::Off),
];

/// Output and end of a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) ended: Ended,
}

impl World {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join("work").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(folder.path().join("work")).unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        settle(folder.path());
        let home = Some(fs::canonicalize(folder.path()).unwrap().join("home"));
        let sandbox = Sandbox { home, space: 64 << 20, ..Sandbox::default() };
        Self { folder, sandbox, backend: Backend::Overlayfs }
    }

    /// Returns the same workspace for each backend, isolated or not.
    pub(crate) fn each(files: &[(&str, &str)]) -> impl Iterator<Item = Self> {
        let is_there = |it: &(Backend, Isolation)| it.0 != Backend::Fuse || fuse_is_there();
        WAYS.into_iter().filter(is_there).map(|it| Self::by(it, files))
    }

    fn by((backend, isolation): (Backend, Isolation), files: &[(&str, &str)]) -> Self {
        let world = Self::new(files);
        Self { backend, sandbox: Sandbox { isolation, ..world.sandbox }, ..world }
    }

    /// Returns the same workspace for each backend that isolates.
    pub(crate) fn each_isolated(files: &[(&str, &str)]) -> impl Iterator<Item = Self> {
        Self::each(files).filter(|it| it.sandbox.isolation != Isolation::Off)
    }

    /// Returns a workspace for a copy, without isolation.
    pub(crate) fn copied(files: &[(&str, &str)]) -> Self {
        Self::by((Backend::Copy, Isolation::Off), files)
    }

    /// Returns the same workspace for each backend that does not isolate.
    pub(crate) fn each_unisolated(files: &[(&str, &str)]) -> impl Iterator<Item = Self> {
        Self::each(files).filter(|it| it.sandbox.isolation == Isolation::Off)
    }

    /// Returns a workspace for a folder merged by FUSE; `None` where there is none.
    pub(crate) fn merged(files: &[(&str, &str)]) -> Option<Self> {
        fuse_is_there().then(|| Self::by((Backend::Fuse, Isolation::Off), files))
    }

    pub(crate) fn storage(&self) -> Storage {
        Storage::new(self.beside("cache"))
    }

    pub(crate) fn launcher(&self) -> Launcher {
        let launcher = Launcher::new(testkit()).with_storage(self.storage());
        if self.backend == Backend::Copy { launcher.with_copies_only() } else { launcher }
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path().join("work")).unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.sandbox.home.clone().unwrap()
    }

    /// A place beside the workspace.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    pub(crate) fn open(&self, edit: impl FnOnce(&mut Branch)) -> Shadow {
        let mut branch = Branch::new(std::sync::Arc::new(Disk::new(&self.root()).unwrap()));
        edit(&mut branch);
        let layer = Layer::of(&branch.snapshot()).unwrap();
        let shadow = Shadow::open(&self.launcher(), &self.root(), &layer, &self.sandbox).unwrap();
        let isolated = self.sandbox.isolation != Isolation::Off;
        assert_eq!(shadow.choice(), Choice { backend: self.backend, isolated });
        shadow
    }

    /// A script's whole life in a folder of its own.
    pub(crate) fn run(&self, script: &str) -> Ran {
        run(&self.open(|_| ()), &self.root(), script)
    }
}

/// Waits until what is changed from now on has a later stamp than all before: the clock of file systems goes by steps.
pub(crate) fn settle(folder: &Path) {
    let changed = || {
        let trial = folder.join("clock");
        fs::write(&trial, "").unwrap();
        let changed = fs::metadata(&trial).map(|it| (it.ctime(), it.ctime_nsec())).unwrap();
        fs::remove_file(&trial).unwrap();
        changed
    };
    let before = changed();
    while changed() == before {
        std::thread::yield_now();
    }
}

/// Has tests fail where no folder can be mounted by FUSE.
pub(crate) const NEEDS_FUSE: &str = "BROKER_TEST_FUSE";

/// Whether folders can be mounted by FUSE here, as is tried once.
#[expect(clippy::print_stderr, reason = "what is left out is said")]
fn fuse_is_there() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| {
        let world = World::by((Backend::Fuse, Isolation::Off), &[]);
        let choice = world.launcher().choose(&world.root(), &world.sandbox).unwrap();
        let is_there = choice.backend == Backend::Fuse;
        assert!(is_there || std::env::var_os(NEEDS_FUSE).is_none(), "no folder can be mounted by FUSE");
        if !is_there {
            eprintln!("skipped for FUSE: /dev/fuse or fusermount3 is missing, or may not be used");
        }
        is_there
    })
}

/// Names another place of the program, for a user who cannot reach the usual one.
pub(crate) const TESTKIT: &str = "SHADOW_TESTKIT";

/// Has the program run without isolation, in a copy, with what is kept in this folder.
pub(crate) const COPIES: &str = "SHADOW_TESTKIT_COPIES";
/// Has the program run without isolation, in a folder merged by FUSE, with what is kept in this folder.
pub(crate) const MERGED: &str = "SHADOW_TESTKIT_MERGED";

pub(crate) fn testkit() -> PathBuf {
    std::env::var_os(TESTKIT).map_or_else(|| env!("CARGO_BIN_EXE_shadow-testkit").into(), PathBuf::from)
}

pub(crate) fn script(folder: &Path, script: &str) -> Program {
    Program {
        command: ["/bin/sh", "-c", script].map(Into::into).into(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into())],
        folder: folder.to_owned(),
        terminal: None,
        limits: Limits::default(),
    }
}

pub(crate) fn run(shadow: &Shadow, folder: &Path, text: &str) -> Ran {
    run_program(shadow, script(folder, text))
}

pub(crate) fn run_program(shadow: &Shadow, program: Program) -> Ran {
    let (mut output, mut errors) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let ended = start(shadow, program, &output, &errors).wait();
    Ran { output: text_of(&mut output), errors: text_of(&mut errors), ended }
}

pub(crate) fn start(shadow: &Shadow, program: Program, output: &File, errors: &File) -> Running {
    let nothing = File::open("/dev/null").unwrap();
    shadow.run(program, Some([nothing.as_fd(), output.as_fd(), errors.as_fd()])).unwrap()
}

pub(crate) fn text_of(file: &mut File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}
