//! A workspace on the disk, and programs that run in a shadow folder of it.

use std::{
    fs::{self, File},
    io::{Read as _, Seek as _},
    os::fd::AsFd as _,
    path::{Path, PathBuf},
};

use overlay::{Branch, Disk};
use shadow::{Ended, Launcher, Layer, Limits, Program, Running, Sandbox, Shadow};
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
    pub(crate) sandbox: Sandbox,
}

/// What a program printed, and what became of it.
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
        let home = Some(fs::canonicalize(folder.path()).unwrap().join("home"));
        Self { folder, sandbox: Sandbox { home, space: 64 << 20, ..Sandbox::default() } }
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
        Shadow::open(&launcher(), &self.root(), &layer, &self.sandbox).unwrap()
    }

    /// A script's whole life in a folder of its own.
    pub(crate) fn run(&self, script: &str) -> Ran {
        run(&self.open(|_| ()), &self.root(), script)
    }
}

pub(crate) fn launcher() -> Launcher {
    Launcher::new(testkit())
}

/// Names another place of the program, for a user who cannot reach the usual one.
pub(crate) const TESTKIT: &str = "SHADOW_TESTKIT";

pub(crate) fn testkit() -> PathBuf {
    std::env::var_os(TESTKIT).map_or_else(|| env!("CARGO_BIN_EXE_shadow-testkit").into(), PathBuf::from)
}

pub(crate) fn script(folder: &Path, script: &str) -> Program {
    Program {
        command: ["/bin/sh", "-c", script].map(Into::into).into(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into())],
        folder: folder.to_owned(),
        terminal: false,
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
