//! `QueryService`.

use broker_proto::{v1 as pb, v1::query_service_server::QueryService};
use tonic::{Request, Response, Status, async_trait};
use workspaces::MethodRequest;

use super::{GrpcServer, answers, from_proto, status};

#[async_trait]
impl QueryService for GrpcServer {
    async fn query(&self, request: Request<pb::QueryRequest>) -> Result<Response<pb::QueryResponse>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let request = from_proto::query(request.into_inner(), deadline)?;
        let reply = self.0.query(request).await.map_err(status::of)?;
        Ok(Response::new(answers::response(reply)))
    }

    async fn call_method(
        &self,
        request: Request<pb::CallMethodRequest>,
    ) -> Result<Response<pb::CallMethodResponse>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let request = request.into_inner();
        let request = MethodRequest {
            target: from_proto::target(request.target)?,
            server: from_proto::some(request.server),
            method: request.method,
            params: request.params_json,
            class: from_proto::class(request.priority)?,
            deadline,
        };
        let reply = self.0.call_method(request).await.map_err(status::of)?;
        Ok(Response::new(pb::CallMethodResponse {
            server: reply.server,
            result_json: reply.result,
            position_encoding: reply.position_encoding,
            revision: reply.revision.0,
            partial_reason: reply.partial.unwrap_or_default(),
        }))
    }
}
