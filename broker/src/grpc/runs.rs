//! `RunService`.

use std::pin::Pin;

use broker_proto::{v1 as pb, v1::run_service_server::RunService};
use tokio::sync::mpsc;
use tokio_stream::{Stream, StreamExt as _, wrappers::ReceiverStream};
use tonic::{Request, Response, Status, Streaming, async_trait};
use workspaces::{RunId, RunInput};

use super::{Front, from_proto, status, to_proto};

/// Messages of a client that may wait for its command.
const AHEAD: usize = 4;

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[async_trait]
impl RunService for Front {
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
        let (inputs, received) = mpsc::channel(AHEAD);
        let events = self.0.run(from_proto::run(start)?, received).await.map_err(status::of)?;
        let (refuse, refused) = mpsc::channel(1);
        tokio::spawn(hand_on(messages, inputs, refuse));
        let events = ReceiverStream::new(events);
        let answers = events.map(|it| it.map(to_proto::run_event).map_err(status::of));
        // What makes no sense ends the run: the end of this stream is its client's leaving.
        let refused = ReceiverStream::new(refused).map(Err);
        Ok(Response::new(Box::pin(until_refused(answers, refused))))
    }

    async fn list_runs(
        &self,
        request: Request<pb::ListRunsRequest>,
    ) -> Result<Response<pb::ListRunsResponse>, Status> {
        let workspace = from_proto::some(request.into_inner().workspace_id);
        let runs = self.0.runs(workspace.as_deref()).map_err(status::of)?;
        Ok(Response::new(pb::ListRunsResponse { runs: runs.into_iter().map(to_proto::run).collect() }))
    }

    async fn read_log(
        &self,
        request: Request<pb::ReadLogRequest>,
    ) -> Result<Response<Self::ReadLogStream>, Status> {
        let pb::ReadLogRequest { run_id, workspace_id, offset, follow } = request.into_inner();
        let id = RunId { workspace: from_proto::some(workspace_id), run: run_id };
        let events = self.0.read_log(&id, offset, follow).map_err(status::of)?;
        let events = ReceiverStream::new(events);
        Ok(Response::new(Box::pin(events.map(|it| Ok(to_proto::log_event(it))))))
    }

    async fn kill(&self, request: Request<pb::KillRequest>) -> Result<Response<pb::KillResponse>, Status> {
        let pb::KillRequest { run_id, workspace_id, signal } = request.into_inner();
        let id = RunId { workspace: from_proto::some(workspace_id), run: run_id };
        let signal = (signal != 0).then_some(signal);
        let result = self.0.kill(&id, signal).await.map_err(status::of)?;
        Ok(Response::new(pb::KillResponse { exited: result.map(|it| to_proto::run_result(&it)) }))
    }
}

/// Hands on what the client says, until it has no more to say or the run is over.
async fn hand_on(
    mut messages: Streaming<pb::RunRequest>,
    inputs: mpsc::Sender<RunInput>,
    refuse: mpsc::Sender<Status>,
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
                let _over = refuse.send(status).await;
                return;
            }
        }
    }
}

/// The answers up to the first refusal, which is the last.
fn until_refused<T: Send + 'static>(
    mut answers: impl Stream<Item = Result<T, Status>> + Send + Unpin + 'static,
    mut refused: impl Stream<Item = Result<T, Status>> + Send + Unpin + 'static,
) -> impl Stream<Item = Result<T, Status>> + Send {
    let (sender, sent) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let (answer, is_last) = tokio::select! {
                Some(status) = refused.next() => (Some(status), true),
                answer = answers.next() => (answer, false),
                () = sender.closed() => return,
            };
            let Some(answer) = answer else { return };
            if sender.send(answer).await.is_err() || is_last {
                return;
            }
        }
    });
    ReceiverStream::new(sent)
}
