//! Connection to the daemon, which may end and be restarted during a session.

use std::rc::Rc;

#[cfg(target_os = "linux")]
use broker_proto::v1::run_service_client::RunServiceClient;
use broker_proto::v1::{
    branch_service_client::BranchServiceClient, check_service_client::CheckServiceClient,
    file_service_client::FileServiceClient, query_service_client::QueryServiceClient,
    rule_service_client::RuleServiceClient, server_service_client::ServerServiceClient,
    workspace_service_client::WorkspaceServiceClient,
};
use lint::Cancel;
use tonic::{Status, transport::Channel};

use crate::{CliError, client, client::Client};

/// Connection of one session, shared by all its folders.
pub(crate) struct Link {
    /// Reconnects by itself.
    channel: Channel,
    start: Start,
}

/// How a daemon is started if none runs.
pub(crate) enum Start {
    /// In a process of its own. The start is given up when this is cancelled.
    Daemon(Cancel),
    /// It is not started: it runs in this process.
    InProcess,
}

/// Limit on the size of one message of the daemon, in bytes.
const MAX_MESSAGE: usize = 256 << 20;

macro_rules! service {
    ($name:ident, $client:ident) => {
        pub(super) fn $name(&self) -> $client<Channel> {
            $client::new(self.channel.clone()).max_decoding_message_size(MAX_MESSAGE)
        }
    };
}

impl Link {
    pub(crate) fn new(channel: Channel, start: Start) -> Rc<Self> {
        Rc::new(Self { channel, start })
    }

    /// Makes sure that a daemon runs.
    pub(super) async fn ensure(&self) -> Result<(), CliError> {
        let Start::Daemon(cancel) = &self.start else { return Ok(()) };
        let cancel = cancel.clone();
        let started = tokio::task::spawn_blocking(move || Client::connect(&cancel, None).map(drop)).await;
        started.map_err(|error| CliError::files(error.to_string()))?
    }

    service!(branches, BranchServiceClient);
    service!(checks, CheckServiceClient);
    service!(files, FileServiceClient);
    service!(queries, QueryServiceClient);
    service!(rules, RuleServiceClient);
    #[cfg(target_os = "linux")]
    service!(runs, RunServiceClient);
    service!(servers, ServerServiceClient);
    service!(workspaces, WorkspaceServiceClient);
}

/// Whether the error means that the workspace must be opened again: the daemon has ended or is ending, or is a new one that does
/// not know the workspace or this editor.
pub(super) fn is_gone(status: &Status) -> bool {
    let reason = client::reason(status);
    client::is_gone(status)
        || matches!(reason.as_str(), "SHUTTING_DOWN" | "EDITOR_GONE" | "WORKSPACE_GONE")
        || (status.code() == tonic::Code::Cancelled && reason.is_empty())
}
