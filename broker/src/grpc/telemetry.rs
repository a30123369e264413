//! Each gRPC call as an operation: its span is a part of the client's, and ends with the last byte of the answer.

use std::{collections::HashSet, sync::LazyLock};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Uri},
    middleware::{Next, from_fn},
    response::Response,
};
use broker_proto::Message as _;
use http_body_util::BodyExt as _;
use prost_types::FileDescriptorSet;
use telemetry::{Kind, Operation};
use tonic::{Code, service::Routes};

/// Name of every method that is not known: a client may ask for any, and each would be one more series of metrics.
const OTHER: &str = "_OTHER";

/// All methods that are served, as `package.Service/Method`.
static METHODS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let sets = [
        broker_proto::DESCRIPTORS,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
    ];
    sets.into_iter().flat_map(methods).collect()
});

/// Looks at the calls of all services, if anything is collected.
pub(super) fn measured(routes: Routes) -> Routes {
    match telemetry::is_on() {
        true => Routes::from(routes.into_axum_router().layer(from_fn(measure))),
        false => routes,
    }
}

async fn measure(request: Request, next: Next) -> Response {
    let operation = Operation::start_for(Kind::Call(method(request.uri())), request.headers());
    let (parts, body) = operation.around(next.run(request)).await.into_parts();
    // An answer without a body has its status here; others end with it.
    if let Some(code) = code(&parts.headers) {
        operation.answered(code);
        return Response::from_parts(parts, body);
    }
    let mut operation = Some(operation);
    let body = body.inspect_frame(move |frame| {
        if let Some(code) = frame.trailers_ref().and_then(code)
            && let Some(operation) = operation.take()
        {
            operation.answered(code);
        }
    });
    Response::from_parts(parts, Body::new(body))
}

fn method(uri: &Uri) -> &'static str {
    let asked = uri.path().trim_start_matches('/');
    METHODS.get(asked).map_or(OTHER, String::as_str)
}

fn methods(set: &[u8]) -> Vec<String> {
    // The bytes that are built into the program are a set of descriptors.
    let set = FileDescriptorSet::decode(set).unwrap_or_default();
    let mut methods = Vec::new();
    for file in &set.file {
        for service in &file.service {
            let service_name = format!("{}.{}", file.package(), service.name());
            methods.extend(service.method.iter().map(|it| format!("{service_name}/{}", it.name())));
        }
    }
    methods
}

fn code(headers: &HeaderMap) -> Option<Code> {
    headers.get("grpc-status").map(|it| Code::from_bytes(it.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_those_that_are_served() {
        let named = |path: &str| method(&path.parse().unwrap());
        assert_eq!(named("/broker.v1.ToolService/CallTool"), "broker.v1.ToolService/CallTool");
        assert_eq!(named("/grpc.health.v1.Health/Check"), "grpc.health.v1.Health/Check");
        let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        assert_eq!(named(reflection), &reflection[1..]);
        for unknown in ["/broker.v1.ToolService/calltool", "/made.up/Name", "/"] {
            assert_eq!(named(unknown), OTHER, "{unknown}");
        }
    }
}
