//! A workspace in which the real ty may run, where `BROKER_TEST_TY` names it.

use std::{path::PathBuf, process::Output};

use crate::place::Place;

/// A Python project that is trusted, for which ty is there.
pub struct Trusted {
    pub place: Place,
    path: String,
}

impl Trusted {
    /// `None` without ty.
    pub fn new(files: &[(&str, &str)]) -> Option<Self> {
        let Some(ty) = std::env::var_os("BROKER_TEST_TY").map(PathBuf::from) else {
            println!("skipped: BROKER_TEST_TY is not set");
            return None;
        };
        let path = format!("{}:/usr/bin:/bin", ty.parent().unwrap().display());
        let it = Self { place: Place::new(&[("ty.toml", "")]), path };
        files.iter().for_each(|(path, text)| it.place.write(path, text));
        it.ok(&["trust"]);
        Some(it)
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.place.command(arguments).env("PATH", &self.path).output().unwrap()
    }

    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Into the branch `try`.
    pub fn write(&self, path: &str, text: &str) {
        let output = self.place.run_with_input(&["branch", "write", "try", path], text);
        assert!(output.status.success());
    }
}
