//! The daemon from outside: real clients on its socket, real plugins in it.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests look at the disk, and may fail")]

mod branches;
mod checks;
mod doors;
mod files;
mod fixes;
mod refusals;
mod state;
mod watching;

use std::{fs, path::PathBuf};

use tests::daemon::{Client, Daemon, Home, base};

/// A workspace that a daemon serves.
struct Fixture {
    home: Home,
    folder: tempfile::TempDir,
    daemon: Daemon,
    client: Client,
    workspace: String,
}

impl Fixture {
    async fn new(files: &[(&str, &str)]) -> Self {
        Self::with(&[], files).await
    }

    /// A daemon with these arguments.
    async fn with(arguments: &[&str], files: &[(&str, &str)]) -> Self {
        let (home, folder) = (Home::default(), tempfile::tempdir().unwrap());
        let daemon = home.start(arguments);
        let client = daemon.client().await;
        write_all(folder.path().to_owned(), files);
        let workspace = client.open(folder.path()).await;
        Self { home, folder, daemon, client, workspace }
    }

    /// Another daemon in place of this one, which is killed.
    async fn restart(&mut self) {
        self.daemon.kill();
        self.daemon = self.home.start(&[]);
        self.client = self.daemon.client().await;
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        write_all(self.folder.path().to_owned(), &[(path, text)]);
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    async fn fork(&self) -> String {
        self.client.fork(base(&self.workspace), "").await.unwrap()
    }
}

fn write_all(folder: PathBuf, files: &[(&str, &str)]) {
    for (path, text) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

/// `path:line code` of each finding.
fn found(findings: &[broker_proto::v1::Finding]) -> Vec<String> {
    let line = |it: &broker_proto::v1::Finding| it.range.as_ref().unwrap().start.as_ref().unwrap().line;
    let mut all: Vec<_> = findings.iter().map(|it| format!("{}:{} {}", it.path, line(it), it.code)).collect();
    all.sort();
    all
}
