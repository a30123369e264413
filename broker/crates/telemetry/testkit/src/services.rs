//! Both protocols, each with both signals.

use std::sync::Arc;

use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use opentelemetry_proto::tonic::collector::{
    metrics::v1::{
        ExportMetricsServiceRequest, ExportMetricsServiceResponse, metrics_service_server::MetricsService,
    },
    trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse, trace_service_server::TraceService},
};
use parking_lot::Mutex;
use prost::Message;
use tonic::{Response, Status, async_trait};

use crate::{Received, decoded};

#[derive(Clone)]
pub(crate) struct Kept(pub(crate) Arc<Mutex<Received>>);

impl Kept {
    fn keep_traces(&self, headers: &HeaderMap, request: ExportTraceServiceRequest) {
        let mut received = self.0.lock();
        received.requests.push(decoded::request("traces", headers));
        received.spans.extend(request.resource_spans.into_iter().flat_map(decoded::spans));
    }

    fn keep_metrics(&self, headers: &HeaderMap, request: ExportMetricsServiceRequest) {
        let mut received = self.0.lock();
        received.requests.push(decoded::request("metrics", headers));
        received.metrics = request.resource_metrics.into_iter().flat_map(decoded::metrics).collect();
    }
}

pub(crate) async fn traces(State(kept): State<Kept>, headers: HeaderMap, body: Bytes) -> StatusCode {
    kept.keep_traces(&headers, decode(&body));
    StatusCode::OK
}

pub(crate) async fn metrics(State(kept): State<Kept>, headers: HeaderMap, body: Bytes) -> StatusCode {
    kept.keep_metrics(&headers, decode(&body));
    StatusCode::OK
}

#[async_trait]
impl TraceService for Kept {
    async fn export(
        &self,
        request: tonic::Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        self.keep_traces(&metadata.into_headers(), request);
        Ok(Response::new(Default::default()))
    }
}

#[async_trait]
impl MetricsService for Kept {
    async fn export(
        &self,
        request: tonic::Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        self.keep_metrics(&metadata.into_headers(), request);
        Ok(Response::new(Default::default()))
    }
}

/// Decodes a body. One that is no protobuf fails the request, and the test with it.
fn decode<M: Message + Default>(body: &Bytes) -> M {
    M::decode(body.clone()).unwrap()
}
