//! A private daemon for a test, and real clients that speak to it.

use std::{
    fmt::Debug,
    fs::File,
    future::Future,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use broker_proto::v1::{
    self as pb, branch_service_client::BranchServiceClient, check_service_client::CheckServiceClient,
    daemon_service_client::DaemonServiceClient, file_edit::Edit, file_service_client::FileServiceClient,
    rule_service_client::RuleServiceClient, workspace_service_client::WorkspaceServiceClient,
};
use tempfile::TempDir;
use tonic::{
    Code, Status, Streaming,
    transport::{Channel, Endpoint},
};
use tonic_types::{ErrorDetails, StatusExt as _};

/// The longest that a test waits for anything before it fails.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Folder of a daemon's state. Outlives the daemon, so that another can be started on it.
pub struct Home {
    folder: TempDir,
}

/// A running daemon; it is killed when this goes.
pub struct Daemon {
    child: Child,
    socket: PathBuf,
    output: BufReader<ChildStdout>,
    /// Lines that the daemon printed when it was ready.
    pub said: Vec<String>,
}

impl Default for Home {
    fn default() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }
}

impl Home {
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    pub fn socket(&self) -> PathBuf {
        self.path("run").join("broker.sock")
    }

    /// `broker daemon serve` as this home has it, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::broker());
        command.args(["daemon", "serve"]).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        for (variable, name) in [("RUNTIME", "run"), ("STATE", "state"), ("CACHE", "cache")] {
            command.env(format!("BROKER_{variable}_DIR"), self.path(name));
        }
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        command
            .env("HOME", self.folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("PYENV_ROOT")
            .env("NO_COLOR", "1")
            .stderr(log);
        command
    }

    /// Starts a daemon and waits until it is ready.
    pub fn start(&self, arguments: &[&str]) -> Daemon {
        self.started(self.command(arguments), arguments)
    }

    /// Starts a daemon from a shell with limits, as `ulimit` sets them, and waits until it is ready.
    pub fn start_within(&self, limits: &str) -> Daemon {
        let broker = self.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit {limits} && exec \"$0\" \"$@\"")]);
        shell.arg(broker.get_program()).args(broker.get_args()).stdin(Stdio::null()).stdout(Stdio::piped());
        for (name, value) in broker.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        self.started(shell, &[])
    }

    fn started(&self, mut command: Command, arguments: &[&str]) -> Daemon {
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut daemon = Daemon { child, socket: self.socket(), output, said: Vec::new() };
        let lines = if arguments.contains(&"--tcp") { 2 } else { 1 };
        for _ in 0..lines {
            let line = daemon.line();
            assert!(line.starts_with("serving at "), "{line}{}", self.log());
            daemon.said.push(line);
        }
        daemon
    }

    /// Returns the log of the daemons.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

impl Daemon {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the daemon with SIGKILL, as `kill -9` does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether the daemon is still running.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for it to end by itself; whether it ended well.
    pub async fn ended(mut self) -> bool {
        let ended = tokio::task::spawn_blocking(move || self.child.wait().unwrap().success());
        tokio::time::timeout(TEST_TIMEOUT, ended).await.expect("the daemon ends").unwrap()
    }

    pub async fn client(&self) -> Client {
        Client::at(&self.socket).await
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// All services of one daemon over one connection.
#[derive(Clone)]
pub struct Client {
    pub channel: Channel,
}

/// Collected messages of a check.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub started: pb::CheckStarted,
    pub findings: Vec<pb::Finding>,
    pub incomplete: Vec<pb::Incomplete>,
    pub excluded: Vec<pb::ExcludedFile>,
    pub summary: pb::CheckSummary,
}

/// The largest message that a test's client takes.
const MESSAGE: usize = 64 << 20;

impl Client {
    pub fn new(channel: Channel) -> Self {
        Self { channel }
    }

    /// A client of the daemon that listens at this socket.
    pub async fn at(socket: &Path) -> Self {
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display())).unwrap();
        Self::new(endpoint.connect().await.expect("the daemon listens"))
    }

    pub fn workspaces(&self) -> WorkspaceServiceClient<Channel> {
        WorkspaceServiceClient::new(self.channel.clone())
    }

    pub fn branches(&self) -> BranchServiceClient<Channel> {
        BranchServiceClient::new(self.channel.clone()).max_decoding_message_size(MESSAGE)
    }

    pub fn files(&self) -> FileServiceClient<Channel> {
        FileServiceClient::new(self.channel.clone())
    }

    pub fn checks(&self) -> CheckServiceClient<Channel> {
        CheckServiceClient::new(self.channel.clone()).max_decoding_message_size(MESSAGE)
    }

    pub fn rules(&self) -> RuleServiceClient<Channel> {
        RuleServiceClient::new(self.channel.clone()).max_decoding_message_size(MESSAGE)
    }

    pub fn daemon(&self) -> DaemonServiceClient<Channel> {
        DaemonServiceClient::new(self.channel.clone())
    }

    pub async fn status(&self) -> pb::GetStatusResponse {
        self.daemon().get_status(pb::GetStatusRequest {}).await.unwrap().into_inner()
    }

    /// The handle of the workspace in `root`.
    pub async fn open(&self, root: &Path) -> String {
        let opened = self.try_open(root).await.unwrap();
        assert_eq!(opened.unreadable, [""; 0]);
        opened.workspace.unwrap().workspace_id
    }

    pub async fn try_open(&self, root: &Path) -> Result<pb::OpenWorkspaceResponse, Status> {
        let request = pb::OpenWorkspaceRequest { root: root.to_str().unwrap().to_owned(), environment: None };
        Ok(self.workspaces().open_workspace(request).await?.into_inner())
    }

    /// The handle of a new branch.
    pub async fn fork(&self, parent: pb::Target, name: &str) -> Result<String, Status> {
        let request = pb::ForkBranchRequest {
            parent: Some(parent),
            name: name.to_owned(),
            ..pb::ForkBranchRequest::default()
        };
        Ok(self.branches().fork_branch(request).await?.into_inner().branch.unwrap().branch_id)
    }

    pub async fn get(&self, id: &str) -> Result<pb::GetBranchResponse, Status> {
        let request = pb::GetBranchRequest { branch_id: id.to_owned(), ..pb::GetBranchRequest::default() };
        Ok(self.branches().get_branch(request).await?.into_inner())
    }

    /// The new revision.
    pub async fn edit(&self, id: &str, edits: Vec<Edit>) -> Result<u64, Status> {
        let edits = edits.into_iter().map(|it| pb::FileEdit { edit: Some(it) }).collect();
        let request =
            pb::EditFilesRequest { branch_id: id.to_owned(), edits, ..pb::EditFilesRequest::default() };
        Ok(self.files().edit_files(request).await?.into_inner().revision)
    }

    pub async fn commit(&self, id: &str, force: &[&str]) -> Result<pb::CommitBranchResponse, Status> {
        let request = pb::CommitBranchRequest {
            branch_id: id.to_owned(),
            force_paths: force.iter().map(|it| (*it).to_owned()).collect(),
            ..pb::CommitBranchRequest::default()
        };
        Ok(self.branches().commit_branch(request).await?.into_inner())
    }

    pub async fn discard(&self, id: &str) -> Result<(), Status> {
        let request = pb::DiscardBranchRequest { branch_id: id.to_owned() };
        self.branches().discard_branch(request).await.map(drop)
    }

    pub async fn read(&self, target: pb::Target, path: &str) -> Result<(pb::FileInfo, Vec<u8>), Status> {
        self.read_at(target, path, None).await
    }

    pub async fn read_at(
        &self,
        target: pb::Target,
        path: &str,
        revision: Option<u64>,
    ) -> Result<(pb::FileInfo, Vec<u8>), Status> {
        let request =
            pb::ReadFileRequest { target: Some(target), path: path.to_owned(), revision, of_parent: false };
        let mut parts = self.files().read_file(request).await?.into_inner();
        let (mut info, mut bytes) = (None, Vec::new());
        while let Some(part) = parts.message().await? {
            match part.part.unwrap() {
                pb::read_file_response::Part::Info(it) => assert!(info.replace(it).is_none()),
                pb::read_file_response::Part::Content(it) => bytes.extend_from_slice(&it),
            }
        }
        Ok((info.expect("the information comes first"), bytes))
    }

    pub async fn check(&self, request: pb::CheckRequest) -> Result<Answer, Status> {
        gather(self.checks().check(request).await?.into_inner()).await
    }
}

/// Everything that a check says until its end.
pub async fn gather(mut events: Streaming<pb::CheckResponse>) -> Result<Answer, Status> {
    use pb::check_response::Event as It;
    let (mut answer, mut is_done) = (Answer::default(), false);
    while let Some(event) = events.message().await? {
        assert!(!is_done, "the summary is the last");
        match event.event.unwrap() {
            It::Started(it) => answer.started = it,
            It::Findings(it) => answer.findings.extend(it.findings),
            It::Incomplete(it) => answer.incomplete.push(it),
            It::Excluded(it) => answer.excluded.push(it),
            It::Summary(it) => (answer.summary, is_done) = (it, true),
        }
    }
    assert!(is_done, "a check without an error ends with a summary");
    Ok(answer)
}

/// The base of a workspace.
pub fn base(workspace: &str) -> pb::Target {
    pb::Target { target: Some(pb::target::Target::WorkspaceId(workspace.to_owned())) }
}

/// A branch.
pub fn branch(id: &str) -> pb::Target {
    pb::Target { target: Some(pb::target::Target::BranchId(id.to_owned())) }
}

/// Asks for `paths` of a target; for everything if there are none.
pub fn ask(target: pb::Target, paths: &[&str]) -> pb::CheckRequest {
    pb::CheckRequest {
        target: Some(target),
        paths: paths.iter().map(|it| (*it).to_owned()).collect(),
        ..pb::CheckRequest::default()
    }
}

/// A new content for a file.
pub fn write(path: &str, content: impl Into<Vec<u8>>) -> Edit {
    let content: Vec<u8> = content.into();
    Edit::Write(pb::WriteFile { path: path.to_owned(), content: content.into(), ..pb::WriteFile::default() })
}

/// A refusal: its code, its reason for programs, and the other details.
pub fn refusal<T: Debug>(answer: Result<T, Status>) -> (Code, String, ErrorDetails) {
    let status = answer.expect_err("it is refused");
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
    assert_eq!(info.domain, "broker");
    (status.code(), info.reason.clone(), details)
}

/// Waits until `is_so`, and fails if that takes too long.
pub async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let wait = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(TEST_TIMEOUT, wait).await.is_ok(), "this never came: {what}");
}

/// Numbers that look random and are the same for the same seed.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// A number from the environment.
pub fn variable(name: &str, default: usize) -> usize {
    std::env::var(name).ok().map_or(default, |it| it.parse().expect("a number"))
}
