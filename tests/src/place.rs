//! A workspace for the program as it is run from a shell, and folders of the test's own for all that it keeps elsewhere.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;

/// Whatever is run here reads and writes nothing of the user's. A daemon that was started ends with it.
pub struct Place {
    workspace: TempDir,
    own: TempDir,
}

impl Place {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let it = Self { workspace: tempfile::tempdir().unwrap(), own: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(path, text)| it.write(path, text));
        it
    }

    /// Returns the folder's path with links resolved.
    pub fn root(&self) -> PathBuf {
        fs::canonicalize(self.workspace.path()).unwrap()
    }

    /// A file or folder beside the workspace: `cache`, `state` and `run` are the program's.
    pub fn own(&self, name: &str) -> PathBuf {
        self.own.path().join(name)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Any program, in the workspace's root.
    pub fn isolated(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(arguments).current_dir(self.root()).stdin(Stdio::null());
        for (name, folder) in [
            ("BROKER_CACHE_DIR", "cache"),
            ("BROKER_DATA_DIR", "data"),
            ("BROKER_STATE_DIR", "state"),
            ("BROKER_RUNTIME_DIR", "run"),
        ] {
            command.env(name, self.own(folder));
        }
        command
            .env("NO_COLOR", "1")
            .env("HOME", self.own.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("PYENV_ROOT");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.isolated(crate::broker(), arguments)
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Runs the real git, which must have no complaint. Returns what it prints, without white space around it.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let output = self.isolated("git", &[&identity[..], arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// Standard error without the lines about linters that were not asked, which depend on the programs in `PATH`.
pub fn without_not_asked(stderr: &str) -> String {
    stderr.split_inclusive('\n').filter(|it| !it.starts_with("not asked: ")).collect()
}

/// Exit code, standard output, standard error without the note that a daemon was started.
pub fn told(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let stderr = text(output.stderr);
    let stderr: String =
        stderr.split_inclusive('\n').filter(|it| !it.starts_with("started a daemon")).collect();
    (output.status.code().unwrap(), text(output.stdout), stderr)
}

impl Drop for Place {
    /// Also when the test has failed.
    fn drop(&mut self) {
        if self.own("run/broker.sock").exists() {
            let _nobody_to_tell = self.run(&["daemon", "stop"]);
        }
    }
}

/// Ends a program that would go on, also when the test has failed.
pub struct Ending(pub Child);

impl Ending {
    /// Interrupts the program as Ctrl-C does, and waits for its exit code.
    pub fn interrupt(&mut self) -> Option<i32> {
        self.signal("-INT")
    }

    /// Asks the program to end, as a supervisor does, and waits for its exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        self.signal("-TERM")
    }

    fn signal(&mut self, signal: &str) -> Option<i32> {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        self.0.wait().unwrap().code()
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}
