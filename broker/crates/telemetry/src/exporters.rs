//! Makes providers from settings, which batch on threads of their own and send by OTLP.

use std::{collections::HashMap, error::Error};

use http::HeaderMap;
use opentelemetry::KeyValue;
use opentelemetry_otlp::{
    MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _, WithTonicConfig as _,
    tonic_types::{metadata::MetadataMap, transport::ClientTlsConfig},
};
use opentelemetry_sdk::{
    Resource,
    metrics::SdkMeterProvider,
    resource::TelemetryResourceDetector,
    trace::{Sampler, SdkTracerProvider},
};
use tokio::runtime::Handle;

use crate::{
    http_client::TaskClient,
    settings::{Protocol, Settings, Target},
};

type Failure = Box<dyn Error + Send + Sync>;

/// Builds an exporter; those of the two signals have the same methods, but no trait in common.
macro_rules! exporter {
    ($builder:expr, $target:expr, $runtime:expr) => {
        match $target.protocol {
            Protocol::HttpProtobuf => $builder
                .with_http()
                .with_http_client(TaskClient::new($target, $runtime)?)
                .with_headers(texts(&$target.headers))
                .with_endpoint(&$target.endpoint)
                .with_timeout($target.timeout)
                .with_protocol(opentelemetry_otlp::Protocol::HttpBinary)
                .build()?,
            Protocol::Grpc => {
                let builder = $builder
                    .with_tonic()
                    .with_metadata(MetadataMap::from_headers($target.headers.clone()))
                    .with_endpoint(&$target.endpoint)
                    .with_timeout($target.timeout);
                match $target.endpoint.starts_with("https") {
                    true => builder.with_tls_config(ClientTlsConfig::new().with_native_roots()).build()?,
                    false => builder.build()?,
                }
            }
        }
    };
}

/// Sends spans.
pub(crate) fn traces(
    target: &Target,
    resource: Resource,
    sampler: Sampler,
    runtime: &Handle,
) -> Result<SdkTracerProvider, Failure> {
    let exporter = exporter!(SpanExporter::builder(), target, runtime);
    let provider = SdkTracerProvider::builder().with_resource(resource).with_sampler(sampler);
    Ok(provider.with_batch_exporter(exporter).build())
}

/// Sends metrics at intervals.
pub(crate) fn metrics(
    target: &Target,
    resource: Resource,
    runtime: &Handle,
) -> Result<SdkMeterProvider, Failure> {
    let exporter = exporter!(MetricExporter::builder(), target, runtime);
    Ok(SdkMeterProvider::builder().with_resource(resource).with_periodic_exporter(exporter).build())
}

/// Returns the source of the signals.
pub(crate) fn resource(settings: &Settings, version: &'static str) -> Resource {
    let own = [
        KeyValue::new("service.version", version),
        KeyValue::new("process.pid", i64::from(std::process::id())),
    ];
    Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_attributes(own)
        .with_attributes(settings.resource.iter().cloned())
        .with_service_name(settings.service.clone())
        .build()
}

/// All are text, since they come from a variable.
fn texts(headers: &HeaderMap) -> HashMap<String, String> {
    let text = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        Some((name.to_string(), value.to_str().ok()?.to_owned()))
    };
    headers.iter().filter_map(text).collect()
}
