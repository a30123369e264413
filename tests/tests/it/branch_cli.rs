//! Branches from the command line, with a daemon of the test's own, which ends with it.

mod checks;
mod daemon;
mod edits;
mod merged;
mod tournament;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    ops::Deref,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use serde_json::Value;
use tests::place::{self, Ending, told};

/// A workspace with a daemon of its own.
struct Place(place::Place);

impl Deref for Place {
    type Target = place::Place;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let it = Self(place::Place::new(&[("ruff.toml", "lint.select = [\"F\"]\n")]));
        files.iter().for_each(|(path, text)| it.write(path, text));
        it
    }

    /// Exit code, standard output, standard error without the note that a daemon was started.
    fn told(&self, arguments: &[&str]) -> (i32, String, String) {
        told(self.run(arguments))
    }

    /// The standard output of what must succeed.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let (exit, stdout, stderr) = self.told(arguments);
        assert_eq!((exit, stderr.as_str()), (0, ""), "{arguments:?}: {stdout}");
        stdout
    }

    #[track_caller]
    fn ok_with_input(&self, arguments: &[&str], input: &str) -> String {
        let (exit, stdout, stderr) = told(self.run_with_input(arguments, input));
        assert_eq!((exit, stderr.as_str()), (0, ""), "{arguments:?}: {stdout}");
        stdout
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--output-format", "json"]].concat();
        serde_json::from_str(&self.ok(&arguments)).unwrap()
    }

    /// The daemon's process, if one runs.
    fn pid(&self) -> Option<String> {
        let output = self.run(&["daemon", "status", "--output-format", "json"]);
        let status: Value = serde_json::from_slice(&output.stdout).ok()?;
        status["pid"].as_u64().map(|it| it.to_string())
    }
}
