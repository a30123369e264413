//! A daemon of its own for the measurement, and how it is asked.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use broker_proto::v1::{self, check_response, file_edit, target};
use tempfile::TempDir;
use tonic::transport::Channel;

/// No single request takes so long.
const LIMIT: Duration = Duration::from_secs(900);

/// Answers may be large.
const LARGEST_MESSAGE: usize = 256 << 20;

/// A process that ends with the measurement.
pub(crate) struct Daemon {
    process: Child,
    folder: TempDir,
}

impl Daemon {
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(program);
        command.args(["daemon", "serve", "--idle-exit", "0"]).stdout(Stdio::piped()).stdin(Stdio::null());
        for name in ["RUNTIME", "STATE", "CACHE", "DATA"] {
            command.env(format!("BROKER_{name}_DIR"), folder.path().join(name.to_lowercase()));
        }
        let process = command.spawn().with_context(|| format!("cannot run {}", program.display()))?;
        let mut daemon = Self { process, folder };
        let mut line = String::new();
        let output = daemon.process.stdout.take().context("its output was asked for")?;
        BufReader::new(output).read_line(&mut line)?;
        ensure!(line.starts_with("serving at"), "the daemon did not start: {line}");
        Ok(daemon)
    }

    /// A new connection: what shares one shares its queue, too.
    pub(crate) async fn connect(&self) -> Result<Client> {
        Client::connect(&self.folder.path().join("run/broker.sock")).await
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ended_already = self.process.kill();
        let _ended_already = self.process.wait();
    }
}

/// A client with a connection. Clones share it.
#[derive(Clone)]
pub(crate) struct Client(Channel);

/// Outcome of a check, and its time to the end of the stream as the client saw it.
pub(crate) struct Checked {
    pub(crate) summary: v1::CheckSummary,
    pub(crate) time: Duration,
}

impl Checked {
    /// Time beyond waiting for its turn, as the daemon reports it.
    pub(crate) fn beyond_queueing(&self) -> Duration {
        Duration::from_micros(self.summary.duration_us.saturating_sub(self.summary.queued_us))
    }

    pub(crate) fn queued(&self) -> Duration {
        Duration::from_micros(self.summary.queued_us)
    }

    /// Answers that were there already, and all answers.
    pub(crate) fn cached(&self) -> (u64, u64) {
        let all = |it: &v1::LinterSummary| it.complete + it.excluded + it.partial + it.pending + it.failed;
        let linters = &self.summary.linters;
        (
            linters.iter().map(|it| u64::from(it.cached)).sum(),
            linters.iter().map(|it| u64::from(all(it))).sum(),
        )
    }
}

pub(crate) fn branch(id: &str) -> v1::Target {
    v1::Target { target: Some(target::Target::BranchId(id.to_owned())) }
}

pub(crate) fn base(id: &str) -> v1::Target {
    v1::Target { target: Some(target::Target::WorkspaceId(id.to_owned())) }
}

impl Client {
    pub(crate) async fn connect(socket: &Path) -> Result<Self> {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("unix://{}", socket.display()))?;
        Ok(Self(endpoint.timeout(LIMIT).connect().await?))
    }

    pub(crate) async fn open(&self, root: &Path) -> Result<String> {
        let root = root.to_str().context("the cache folder's name is not UTF-8")?.to_owned();
        let mut service = v1::workspace_service_client::WorkspaceServiceClient::new(self.0.clone());
        let answer =
            service.open_workspace(v1::OpenWorkspaceRequest { root, environment: None }).await?.into_inner();
        Ok(answer.workspace.context("a workspace was opened")?.workspace_id)
    }

    pub(crate) async fn fork(&self, parent: v1::Target) -> Result<(String, Duration)> {
        let mut service = v1::branch_service_client::BranchServiceClient::new(self.0.clone());
        let request = v1::ForkBranchRequest { parent: Some(parent), ..Default::default() };
        let start = Instant::now();
        let answer = service.fork_branch(request).await?.into_inner();
        Ok((answer.branch.context("a branch was forked")?.branch_id, start.elapsed()))
    }

    pub(crate) async fn discard(&self, branch_id: &str) -> Result<()> {
        let mut service = v1::branch_service_client::BranchServiceClient::new(self.0.clone());
        service.discard_branch(v1::DiscardBranchRequest { branch_id: branch_id.to_owned() }).await?;
        Ok(())
    }

    /// Writes one file; how long it took until it was acknowledged.
    pub(crate) async fn write(&self, branch_id: &str, path: &str, content: &str) -> Result<Duration> {
        let mut service = v1::file_service_client::FileServiceClient::new(self.0.clone());
        let write = v1::WriteFile {
            path: path.to_owned(),
            content: content.as_bytes().to_vec().into(),
            ..Default::default()
        };
        let edits = vec![v1::FileEdit { edit: Some(file_edit::Edit::Write(write)) }];
        let request = v1::EditFilesRequest { branch_id: branch_id.to_owned(), edits, ..Default::default() };
        let start = Instant::now();
        service.edit_files(request).await?;
        Ok(start.elapsed())
    }

    /// Checks `paths`, or everything; refuses an answer that is not complete.
    pub(crate) async fn check(
        &self,
        target: v1::Target,
        paths: &[&str],
        priority: v1::Priority,
    ) -> Result<Checked> {
        self.ask(request(target, paths, priority)).await
    }

    /// Takes an answer that is not complete as well.
    pub(crate) async fn check_any(
        &self,
        target: v1::Target,
        paths: &[&str],
        priority: v1::Priority,
    ) -> Result<Checked> {
        self.ask_any(request(target, paths, priority)).await
    }

    /// Refuses an answer that is not complete.
    pub(crate) async fn ask(&self, request: v1::CheckRequest) -> Result<Checked> {
        let checked = self.ask_any(request).await?;
        if checked.summary.completeness() != v1::Completeness::Complete {
            bail!("a check was not complete: {:?}", checked.summary);
        }
        Ok(checked)
    }

    /// Takes what is not complete as well.
    pub(crate) async fn ask_any(&self, request: v1::CheckRequest) -> Result<Checked> {
        let mut service = v1::check_service_client::CheckServiceClient::new(self.0.clone())
            .max_decoding_message_size(LARGEST_MESSAGE);
        let start = Instant::now();
        let mut stream = service.check(request).await?.into_inner();
        let mut summary = None;
        while let Some(message) = stream.message().await? {
            if let Some(check_response::Event::Summary(it)) = message.event {
                summary = Some(it);
            }
        }
        let time = start.elapsed();
        Ok(Checked { summary: summary.context("a check ends with a summary")?, time })
    }

    pub(crate) async fn resident_bytes(&self) -> Result<u64> {
        let mut service = v1::daemon_service_client::DaemonServiceClient::new(self.0.clone());
        Ok(service.get_status(v1::GetStatusRequest {}).await?.into_inner().resident_bytes)
    }
}

fn request(target: v1::Target, paths: &[&str], priority: v1::Priority) -> v1::CheckRequest {
    v1::CheckRequest {
        target: Some(target),
        paths: paths.iter().map(|it| (*it).to_owned()).collect(),
        priority: priority.into(),
        ..Default::default()
    }
}
