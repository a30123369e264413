//! `CheckService`.

use broker_proto::{v1 as pb, v1::check_service_server::CheckService};
use futures_util::{Stream, StreamExt as _, stream};
use tonic::{Request, Response, Status, async_trait};
use workspaces::{BaselineRequest, Events, RequestError};

use super::{GrpcServer, from_proto, status, to_proto};

type Answers<T> = std::pin::Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[async_trait]
impl CheckService for GrpcServer {
    type CheckStream = Answers<pb::CheckResponse>;
    type WatchStream = Answers<pb::WatchResponse>;

    async fn check(&self, request: Request<pb::CheckRequest>) -> Result<Response<Self::CheckStream>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let request = from_proto::check(request.into_inner(), deadline)?;
        let events = self.0.check(request).await.map_err(status::of)?;
        Ok(Response::new(translated(events, |event| {
            to_proto::events(event).into_iter().map(|it| pb::CheckResponse { event: Some(it) }).collect()
        })))
    }

    async fn watch(&self, request: Request<pb::WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let check = request.into_inner().check.ok_or_else(|| status::invalid("check", "it is missing"))?;
        let events = self.0.watch(from_proto::check(check, deadline)?).await.map_err(status::of)?;
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
        Ok(Response::new(to_proto::fixed_files(fixed)))
    }

    async fn list_checked_files(
        &self,
        request: Request<pb::ListCheckedFilesRequest>,
    ) -> Result<Response<pb::ListCheckedFilesResponse>, Status> {
        let check = from_proto::named_check(request.into_inner().check)?;
        let files = self.0.list_checked_files(check).await.map_err(status::of)?;
        Ok(Response::new(to_proto::listed_files(files)))
    }

    async fn update_baseline(
        &self,
        request: Request<pb::UpdateBaselineRequest>,
    ) -> Result<Response<pb::UpdateBaselineResponse>, Status> {
        let pb::UpdateBaselineRequest { check, prune } = request.into_inner();
        let request = BaselineRequest { check: from_proto::named_check(check)?, prune };
        let updated = self.0.update_baseline(request).await.map_err(status::of)?;
        Ok(Response::new(to_proto::baseline(updated)))
    }
}

/// The messages of each event. When the client leaves, the stream is dropped, and with it what makes the events.
fn translated<E: Send + 'static, M: Send + 'static>(
    events: Events<E>,
    translate: impl Fn(E) -> Vec<M> + Send + 'static,
) -> Answers<M> {
    let messages = move |event: Result<E, RequestError>| {
        let messages = event.map_or_else(
            |error| vec![Err(status::of(error))],
            |event| translate(event).into_iter().map(Ok).collect(),
        );
        stream::iter(messages)
    };
    Box::pin(events.flat_map(messages))
}
