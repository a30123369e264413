//! The API over a connection.

mod operations;
mod tools;

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::OnceLock,
    time::Duration,
};

use agents::Effect;
#[cfg(target_os = "linux")]
use broker_proto::v1::run_service_client::RunServiceClient;
use broker_proto::v1::{
    self as pb, branch_service_client::BranchServiceClient, check_service_client::CheckServiceClient,
    daemon_service_client::DaemonServiceClient, file_service_client::FileServiceClient,
    query_service_client::QueryServiceClient, rule_service_client::RuleServiceClient,
    server_service_client::ServerServiceClient, tool_service_client::ToolServiceClient,
    workspace_service_client::WorkspaceServiceClient,
};
use parking_lot::Mutex;
use tonic::{Request, Response, Status, transport::Channel};
use workspaces::{ErrorKind, OpenedWorkspace, RequestError};

use crate::{
    connection::{Connection, Options},
    error::{self, is_ended, is_not_open},
    from_wire,
};

/// Limit on one message of the daemon in bytes, which is the daemon's own: the findings of whole files come in one.
const MAX_MESSAGE: usize = 256 << 20;

/// Reason of errors of requests that may have been done by a daemon that ended meanwhile.
const RESTARTED: &str = "DAEMON_RESTARTED";

/// A daemon behind a connection.
pub struct Remote {
    connection: Connection,
    /// Roots and variables of the workspaces that were opened, by handle.
    opened: Mutex<BTreeMap<String, OpenRequest>>,
    /// Counts openings; one opens workspaces again at a time.
    openings: tokio::sync::Mutex<u64>,
    /// Effects of tools, once they were listed.
    effects: OnceLock<HashMap<String, Effect>>,
}

#[derive(Clone)]
struct OpenRequest {
    root: PathBuf,
    environment: Option<BTreeMap<String, String>>,
}

macro_rules! service {
    ($name:ident, $client:ident) => {
        fn $name(&self) -> $client<Channel> {
            $client::new(self.connection.channel.clone()).max_decoding_message_size(MAX_MESSAGE)
        }
    };
}

impl Remote {
    /// Connects at the first request. A daemon is started when a workspace is opened. To be called where a runtime is.
    pub fn lazy(options: Options) -> Self {
        Self::of(Connection::new(options))
    }

    /// Finds a daemon, or starts one. To be called where a runtime is.
    pub async fn connect(options: Options) -> Result<Self, RequestError> {
        let remote = Self::lazy(options);
        remote.connection.ensure().await?;
        Ok(remote)
    }

    /// Finds a daemon; `None` if none runs. To be called where a runtime is.
    pub async fn running(options: Options) -> Result<Option<Self>, RequestError> {
        let remote = Self::lazy(Options { start: false, ..options });
        Ok(remote.connection.ensure().await?.then_some(remote))
    }

    /// Over a channel to a daemon that is there.
    pub fn over(channel: Channel) -> Self {
        Self::of(Connection::over(channel))
    }

    fn of(connection: Connection) -> Self {
        Self { connection, opened: Mutex::default(), openings: Default::default(), effects: OnceLock::new() }
    }

    service!(branches, BranchServiceClient);
    service!(checks, CheckServiceClient);
    service!(daemon, DaemonServiceClient);
    service!(files, FileServiceClient);
    service!(queries, QueryServiceClient);
    service!(rules, RuleServiceClient);
    #[cfg(target_os = "linux")]
    service!(runs, RunServiceClient);
    service!(servers, ServerServiceClient);
    service!(tools, ToolServiceClient);
    service!(workspaces, WorkspaceServiceClient);

    /// Asks for something that may be done twice.
    async fn read<T, F>(&self, ask: impl Fn() -> F) -> Result<T, RequestError>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let openings = self.openings().await;
        match answer(ask().await) {
            Err(error) if self.connection.reopens() && (is_ended(&error) || is_not_open(&error)) => {
                self.open_again(openings).await?;
                answer(ask().await)
            }
            answer => answer,
        }
    }

    /// Asks for something that may not be done twice.
    async fn change<T>(
        &self,
        asked: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, RequestError> {
        let openings = self.openings().await;
        match answer(asked.await) {
            Err(error) if self.connection.reopens() && is_ended(&error) => {
                self.open_again(openings).await?;
                Err(restarted("see whether this was done, then ask again"))
            }
            answer => answer,
        }
    }

    async fn openings(&self) -> u64 {
        if self.connection.reopens() { *self.openings.lock().await } else { 0 }
    }

    /// Opens all workspaces again, unless another request has done so since there were `before` openings.
    async fn open_again(&self, before: u64) -> Result<(), RequestError> {
        let mut openings = self.openings.lock().await;
        if *openings != before {
            return Ok(());
        }
        self.connection.ensure().await?;
        let all: Vec<_> = self.opened.lock().values().cloned().collect();
        for request in all {
            self.open(self.renewed(request).await?).await?;
        }
        *openings += 1;
        Ok(())
    }

    /// The request with the variables of now.
    async fn renewed(&self, request: OpenRequest) -> Result<OpenRequest, RequestError> {
        let Some(environment) = self.connection.environment() else { return Ok(request) };
        let renewed = tokio::task::spawn_blocking(move || {
            let environment = Some(environment(&request.root));
            OpenRequest { environment, ..request }
        });
        renewed.await.map_err(|error| {
            let sentence = format!("the environment cannot be read: {error}");
            RequestError::new(ErrorKind::Internal, "BUG", sentence)
        })
    }

    async fn open(&self, request: OpenRequest) -> Result<OpenedWorkspace, RequestError> {
        let OpenRequest { root, environment } = request;
        let root = utf8(root)?;
        let environment = environment.map(|it| pb::Environment { variables: it.into_iter().collect() });
        let request = pb::OpenWorkspaceRequest { root, environment };
        from_wire::opened(answer(self.workspaces().open_workspace(request).await)?)
    }
}

fn answer<T>(answer: Result<Response<T>, Status>) -> Result<T, RequestError> {
    answer.map(Response::into_inner).map_err(|status| error::error(&status))
}

/// The error of a request that may have been done.
fn restarted(remedy: &str) -> RequestError {
    let sentence = format!("the daemon ended meanwhile and was started anew; {remedy}");
    RequestError::new(ErrorKind::Aborted, RESTARTED, sentence)
}

fn within<T>(deadline: Option<Duration>, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(deadline) = deadline {
        request.set_timeout(deadline);
    }
    request
}

fn utf8(root: PathBuf) -> Result<String, RequestError> {
    let text = root.into_os_string().into_string();
    text.map_err(|it| RequestError::invalid("root", format!("the name of {} is not UTF-8", it.display())))
}

#[cfg(test)]
mod tests {
    use workspaces::Workspaces as _;

    use super::*;
    use crate::endpoint::{Claimed, Endpoint};

    #[tokio::test]
    async fn a_daemon_that_answers_nothing_is_not_waited_for_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint { socket: dir.path().join("run/broker.sock") };
        endpoint.make_folder().unwrap();
        let Claimed::Ours(claim) = endpoint.claim().unwrap() else { panic!("it is free") };
        // Takes connections as a daemon does that was stopped: the system queues them.
        let _listening = claim.listen().unwrap();
        let mut remote = Remote::lazy(Options { endpoint, ..Options::of_user() });
        remote.connection.timeout = Duration::from_millis(1);
        let error = remote.open_workspace("/".into(), None).await.unwrap_err();
        assert!(error.sentence.contains("does not answer"), "{error}");
        assert!(error.hint.unwrap().contains("kill"));
    }
}
