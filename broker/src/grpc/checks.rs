//! `CheckService`.

use broker_proto::{v1 as pb, v1::check_service_server::CheckService};
use tokio::sync::mpsc;
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::{Request, Response, Status, async_trait};
use workspaces::DaemonError;

use super::{Front, from_proto, status, to_proto};

/// Messages that may wait for a client before the check waits, too.
const AHEAD: usize = 16;

type Answers<T> = std::pin::Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[async_trait]
impl CheckService for Front {
    type CheckStream = Answers<pb::CheckResponse>;
    type WatchStream = Answers<pb::WatchResponse>;

    async fn check(&self, request: Request<pb::CheckRequest>) -> Result<Response<Self::CheckStream>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let request = from_proto::check(request.into_inner(), deadline)?;
        let events = self.0.check(request).map_err(status::of)?;
        Ok(Response::new(translated(events, |event| {
            to_proto::events(event).into_iter().map(|it| pb::CheckResponse { event: Some(it) }).collect()
        })))
    }

    async fn watch(&self, request: Request<pb::WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let check = request.into_inner().check.ok_or_else(|| status::invalid("check", "it is missing"))?;
        let events = self.0.watch(from_proto::check(check, deadline)?).map_err(status::of)?;
        Ok(Response::new(translated(events, |event| {
            let events = to_proto::watch_events(event).into_iter();
            events.map(|it| pb::WatchResponse { event: Some(it) }).collect()
        })))
    }

    async fn fix_files(
        &self,
        request: Request<pb::FixFilesRequest>,
    ) -> Result<Response<pb::FixFilesResponse>, Status> {
        let request = from_proto::fix(request.into_inner())?;
        let fixed = self.0.fix_files(request).await.map_err(status::of)?;
        Ok(Response::new(to_proto::fixed_files(&fixed)))
    }
}

/// The messages of each event. When the client leaves, the events end, and with them what makes them.
fn translated<E: Send + 'static, M: Send + 'static>(
    mut events: mpsc::Receiver<Result<E, DaemonError>>,
    translate: impl Fn(E) -> Vec<M> + Send + 'static,
) -> Answers<M> {
    let (answers, sent) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        while let Some(event) = tokio::select! {
            event = events.recv() => event,
            () = answers.closed() => None,
        } {
            let messages = event.map_or_else(
                |error| vec![Err(status::of(error))],
                |event| translate(event).into_iter().map(Ok).collect(),
            );
            for message in messages {
                if answers.send(message).await.is_err() {
                    return;
                }
            }
        }
    });
    Box::pin(ReceiverStream::new(sent))
}
