//! The daemon: real plugins in it, and real clients on its socket.
//!
//! Operations are tested twice from one source, over gRPC through the program and in process on `workspaces` itself: see
//! [`both`]. Processes, sockets and messages are tested over gRPC alone: the modules `doors`, `messages` and `state`.

/// The tests of a module, each over gRPC and in process.
macro_rules! both {
    ($($test:ident,)*) => {
        mod over_grpc {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::daemon::Way::OverGrpc).await;
            })*
        }

        mod in_process {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::daemon::Way::InProcess).await;
            })*
        }
    };
}

mod branches;
mod checks;
mod doors;
mod editors;
mod files;
mod fixes;
mod merge_preview;
mod merged;
mod messages;
mod options;
mod queries;
mod refusals;
#[cfg(target_os = "linux")]
mod runs;
mod state;
#[cfg(target_os = "linux")]
mod tournament;
mod watching;

use std::{fs, path::PathBuf, sync::Arc};

use tempfile::TempDir;
use tests::{
    api::{self, Api},
    daemon::{Client, Daemon, Home, base},
};

/// Way in which a test reaches the daemon's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    OverGrpc,
    InProcess,
}

/// A workspace that a daemon serves, one way or the other.
struct Fixture {
    folder: TempDir,
    client: Arc<Api>,
    workspace: String,
    /// Over gRPC.
    process: Option<(Daemon, Home)>,
}

impl Fixture {
    async fn new(way: Way, files: &[(&str, &str)]) -> Self {
        Self::with(way, &[], files).await
    }

    /// A daemon with these plugins besides its own.
    async fn with(way: Way, plugins: &[PathBuf], files: &[(&str, &str)]) -> Self {
        let folder = folder_of(files);
        let (client, process): (Arc<Api>, _) = match way {
            Way::InProcess => (Arc::new(Api::in_process(plugins)), None),
            Way::OverGrpc => {
                let home = Home::default();
                let named = plugins.iter().flat_map(|it| ["--plugin", it.to_str().unwrap()]);
                let daemon = home.start(&named.collect::<Vec<_>>());
                (Arc::new(Api::over(&daemon.client().await)), Some((daemon, home)))
            }
        };
        let workspace = client.open(folder.path()).await;
        Self { folder, client, workspace, process }
    }

    /// Another client of the same daemon.
    async fn another_client(&self) -> Arc<Api> {
        match &self.process {
            Some((daemon, _)) => Arc::new(Api::over(&daemon.client().await)),
            None => Arc::clone(&self.client),
        }
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
        self.client.fork(api::base(&self.workspace), "").await.unwrap()
    }
}

/// A workspace that a daemon in a process of its own serves, for what is about that process or its messages.
struct Process {
    home: Home,
    folder: TempDir,
    daemon: Daemon,
    client: Client,
    workspace: String,
}

impl Process {
    async fn new(files: &[(&str, &str)]) -> Self {
        let (home, folder) = (Home::default(), folder_of(files));
        let daemon = home.start(&[]);
        let client = daemon.client().await;
        let workspace = client.open(folder.path()).await;
        Self { home, folder, daemon, client, workspace }
    }

    /// Another daemon in place of this one, which is killed.
    async fn restart(&mut self) {
        self.daemon.kill();
        self.daemon = self.home.start(&[]);
        self.client = self.daemon.client().await;
    }

    async fn fork(&self) -> String {
        self.client.fork(base(&self.workspace), "").await.unwrap()
    }
}

fn folder_of(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_all(folder.path().to_owned(), files);
    folder
}

fn write_all(folder: PathBuf, files: &[(&str, &str)]) {
    for (path, text) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

/// `path:line code` of each finding, sorted.
fn found(findings: &[api::Finding]) -> Vec<String> {
    let mut all: Vec<_> = findings.iter().map(|it| format!("{}:{} {}", it.path, it.line, it.code)).collect();
    all.sort();
    all
}
