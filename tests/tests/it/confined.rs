//! Linters that are confined, in workspaces that do what they can to have code run or to learn something: guests of the tests that
//! try all they can, and real tools where they are installed.

mod guests;
mod real;
mod servers;

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;
use tests::place::Place;

/// Part of each text that is to stay secret.
const SECRET: &str = "of-the-home-alone";

/// Files of the home folder that hold one.
const SECRETS: [&str; 3] = [".ssh/id_ed25519", ".config/gh/hosts.yml", ".cargo/credentials.toml"];

/// A workspace, a home folder with secrets, and something that listens.
struct Hostile {
    place: Place,
    listener: TcpListener,
    path: String,
}

impl Hostile {
    /// With the folder `programs` in `PATH`, before the system's.
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Place::new(files);
        for secret in SECRETS {
            let file = place.own(secret);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, SECRET).unwrap();
        }
        symlink(place.own(SECRETS[0]), place.root().join("leak")).unwrap();
        let path = format!("{}:/usr/bin:/bin", place.own("bin").display());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { place, listener, path }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.place.command(arguments).env("PATH", &self.path).output().unwrap()
    }

    /// Findings of the linter, what else is said, and the exit code.
    fn check(&self, arguments: &[&str]) -> (Vec<String>, String, Option<i32>) {
        let output = self.run(&[&["check", "--output-format", "json"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let report: Value =
            serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
        let message = |it: &Value| it["message"].as_str().unwrap().to_owned();
        let reasons = ["incomplete", "unavailable"].map(|it| report[it].to_string());
        let messages = report["findings"].as_array().unwrap().iter().map(message).collect();
        (messages, format!("{} {stderr}", reasons.join(" ")), output.status.code())
    }

    /// Nothing was told to the listener, and nothing was left on the disk.
    #[track_caller]
    fn expect_no_trace(&self) {
        assert!(self.listener.accept().is_err(), "something reached the network");
        let own = self.place.own("");
        let traces = [own, self.place.root()].map(|it| traces_in(&it));
        assert!(traces.iter().all(Vec::is_empty), "{traces:?}");
    }

    /// Command of a shell that leaves a trace in the workspace, beside it and on the network.
    fn trace(&self, name: &str) -> String {
        let port = self.listener.local_addr().unwrap().port();
        let places = [self.place.root(), self.place.own("")].map(|it| it.join(format!("pwned-{name}")));
        let [inside, beside] = places.map(|it| it.display().to_string());
        format!("touch {inside}; touch {beside}; (exec 3<>/dev/tcp/127.0.0.1/{port})")
    }

    /// A program that leaves a trace, below the workspace.
    fn shim(&self, path: &str) {
        let script = format!("#!/bin/bash\n{{ {}; }} 2>/dev/null\nexit 0\n", self.trace("shim"));
        program(&self.place.root().join(path), &script);
    }
}

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Files and folders, not far below this one, that tell of a trace.
fn traces_in(folder: &Path) -> Vec<PathBuf> {
    let entries: Vec<_> = folder.read_dir().into_iter().flatten().flatten().map(|it| it.path()).collect();
    let is_trace = |it: &&PathBuf| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with("pwned"));
    entries.iter().filter(is_trace).cloned().collect()
}
