//! `RunService`.

use std::pin::Pin;

use broker_proto::{v1 as pb, v1::run_service_server::RunService};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::{mpsc, oneshot};
use tonic::{Request, Response, Status, Streaming, async_trait};
use workspaces::{Run, RunId, RunInput};

use super::{GrpcServer, from_proto, status, to_proto};

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[async_trait]
impl RunService for GrpcServer {
    type RunStream = Answers<pb::RunResponse>;
    type ReadLogStream = Answers<pb::ReadLogResponse>;

    async fn run(
        &self,
        request: Request<Streaming<pb::RunRequest>>,
    ) -> Result<Response<Self::RunStream>, Status> {
        let mut messages = request.into_inner();
        let first = messages.message().await?.and_then(|it| it.message);
        let Some(pb::run_request::Message::Start(start)) = first else {
            return Err(status::invalid("start", "it comes first"));
        };
        let Run { inputs, events } = self.0.run(from_proto::run(start)?).await.map_err(status::of)?;
        let (refuse, refused) = oneshot::channel();
        tokio::spawn(hand_on(messages, inputs, refuse));
        let answers = events.map(|it| it.map(to_proto::run_event).map_err(status::of));
        Ok(Response::new(Box::pin(until_refused(answers, refused))))
    }

    async fn list_runs(
        &self,
        request: Request<pb::ListRunsRequest>,
    ) -> Result<Response<pb::ListRunsResponse>, Status> {
        let workspace = from_proto::some(request.into_inner().workspace_id);
        let runs = self.0.list_runs(workspace.as_deref()).await.map_err(status::of)?;
        Ok(Response::new(pb::ListRunsResponse { runs: runs.into_iter().map(to_proto::run).collect() }))
    }

    async fn read_log(
        &self,
        request: Request<pb::ReadLogRequest>,
    ) -> Result<Response<Self::ReadLogStream>, Status> {
        let pb::ReadLogRequest { run_id, workspace_id, offset, follow } = request.into_inner();
        let id = RunId { workspace: from_proto::some(workspace_id), run: run_id };
        let events = self.0.read_log(&id, offset, follow).await.map_err(status::of)?;
        let parts = events.map(|it| it.map(to_proto::log_event).map_err(status::of));
        Ok(Response::new(Box::pin(parts)))
    }

    async fn kill(&self, request: Request<pb::KillRequest>) -> Result<Response<pb::KillResponse>, Status> {
        let pb::KillRequest { run_id, workspace_id, signal } = request.into_inner();
        let id = RunId { workspace: from_proto::some(workspace_id), run: run_id };
        let signal = (signal != 0).then_some(signal);
        let result = self.0.kill(&id, signal).await.map_err(status::of)?;
        Ok(Response::new(pb::KillResponse { exited: result.map(|it| to_proto::run_result(&it)) }))
    }
}

/// Passes on what the client says, until it has no more to say or the run is over.
async fn hand_on(
    mut messages: Streaming<pb::RunRequest>,
    inputs: mpsc::Sender<RunInput>,
    refuse: oneshot::Sender<Status>,
) {
    loop {
        let message = tokio::select! {
            message = messages.message() => message,
            () = inputs.closed() => return,
        };
        let input = match message {
            Ok(Some(message)) => from_proto::run_input(message),
            Ok(None) => return,
            Err(status) => Err(status),
        };
        match input {
            Ok(input) => {
                if inputs.send(input).await.is_err() {
                    return;
                }
            }
            Err(status) => {
                let _over = refuse.send(status);
                return;
            }
        }
    }
}

/// The answers up to a refusal, which is the last: it ends the run, as the events are dropped.
fn until_refused<T: Send + 'static>(
    answers: impl Stream<Item = Result<T, Status>> + Send + Unpin + 'static,
    refused: oneshot::Receiver<Status>,
) -> impl Stream<Item = Result<T, Status>> + Send {
    stream::unfold(Some((answers, Some(refused))), |state| async move {
        let (mut answers, mut refused) = state?;
        loop {
            let Some(receiver) = &mut refused else {
                let answer = answers.next().await?;
                return Some((answer, Some((answers, None))));
            };
            tokio::select! {
                status = receiver => match status {
                    Ok(status) => return Some((Err(status), None)),
                    // The client has no more to say.
                    Err(_) => refused = None,
                },
                answer = answers.next() => return Some((answer?, Some((answers, refused)))),
            }
        }
    })
}
