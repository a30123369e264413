//! The API of tools, wherever the daemon runs: implemented here for the agents of this process and in the crate `client` over a
//! connection.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use workspaces::{DaemonError, RequestError};

use crate::{Agents, Call, INSTRUCTIONS, Preview, Reply, ToolInfo, list};

/// The tools, and how to work with them.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolList {
    pub tools: Vec<ToolInfo>,
    /// Instructions for the model.
    pub instructions: String,
}

/// Tools that a model calls by name, with JSON.
#[async_trait]
pub trait Tools: Send + Sync {
    async fn list_tools(&self) -> Result<ToolList, RequestError>;
    /// Answers a call. An error only if its workspace is not open, or the time is over.
    async fn call_tool(&self, call: Call) -> Result<Reply, RequestError>;
    /// Findings that edits would bring.
    async fn preview_edits(&self, preview: Preview) -> Result<Reply, RequestError>;
}

#[async_trait]
impl Tools for Arc<Agents> {
    async fn list_tools(&self) -> Result<ToolList, RequestError> {
        Ok(ToolList { tools: list().cloned().collect(), instructions: INSTRUCTIONS.to_owned() })
    }

    async fn call_tool(&self, call: Call) -> Result<Reply, RequestError> {
        within(call.deadline, self.call(call)).await
    }

    async fn preview_edits(&self, preview: Preview) -> Result<Reply, RequestError> {
        within(preview.deadline, self.preview(preview)).await
    }
}

async fn within(
    deadline: Option<Duration>,
    answer: impl Future<Output = Result<Reply, DaemonError>>,
) -> Result<Reply, RequestError> {
    let answer = match deadline {
        None => answer.await,
        Some(deadline) => {
            tokio::time::timeout(deadline, answer).await.unwrap_or(Err(DaemonError::DeadlineExceeded))
        }
    };
    Ok(answer?)
}
