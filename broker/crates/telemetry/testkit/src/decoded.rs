//! Requests that came, in few words.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use opentelemetry_proto::tonic::{
    common::v1::{KeyValue, any_value::Value},
    metrics::v1::{self as metrics, ResourceMetrics, metric::Data, number_data_point},
    trace::v1::{self as trace, ResourceSpans, status::StatusCode},
};

/// Attributes as text, by name.
pub type Attributes = BTreeMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub name: String,
    pub trace: String,
    pub id: String,
    /// Empty if it has none.
    pub parent: String,
    /// Kind of the span, as `server`.
    pub kind: String,
    pub attributes: Attributes,
    pub is_error: bool,
    /// Source of the span.
    pub resource: Attributes,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    pub name: String,
    pub unit: String,
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub attributes: Attributes,
    /// Number of values for a histogram, the value for others.
    pub value: f64,
    /// The sum of a histogram's values.
    pub sum: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub signal: &'static str,
    pub headers: Attributes,
}

pub(crate) fn request(signal: &'static str, headers: &HeaderMap) -> Request {
    let text = |it: &axum::http::HeaderValue| String::from_utf8_lossy(it.as_bytes()).into_owned();
    Request { signal, headers: headers.iter().map(|(name, it)| (name.to_string(), text(it))).collect() }
}

pub(crate) fn spans(of: ResourceSpans) -> Vec<Span> {
    let resource = attributes(of.resource.unwrap_or_default().attributes);
    of.scope_spans.into_iter().flat_map(|it| it.spans).map(|it| span(it, &resource)).collect()
}

fn span(it: trace::Span, resource: &Attributes) -> Span {
    Span {
        kind: format!("{:?}", it.kind()).to_lowercase(),
        is_error: it.status.as_ref().is_some_and(|it| it.code() == StatusCode::Error),
        trace: hex(&it.trace_id),
        id: hex(&it.span_id),
        parent: hex(&it.parent_span_id),
        name: it.name,
        attributes: attributes(it.attributes),
        resource: resource.clone(),
    }
}

pub(crate) fn metrics(of: ResourceMetrics) -> Vec<Metric> {
    of.scope_metrics.into_iter().flat_map(|it| it.metrics).map(metric).collect()
}

fn metric(it: metrics::Metric) -> Metric {
    let points = match it.data {
        Some(Data::Histogram(data)) => data.data_points.into_iter().map(histogram).collect(),
        Some(Data::Sum(data)) => data.data_points.into_iter().map(number).collect(),
        Some(Data::Gauge(data)) => data.data_points.into_iter().map(number).collect(),
        other => panic!("a metric of another kind: {other:?}"),
    };
    Metric { name: it.name, unit: it.unit, points }
}

#[expect(clippy::cast_precision_loss, reason = "tests count to few")]
fn histogram(it: metrics::HistogramDataPoint) -> Point {
    Point { attributes: attributes(it.attributes), value: it.count as f64, sum: it.sum }
}

#[expect(clippy::cast_precision_loss, reason = "tests count to few")]
fn number(it: metrics::NumberDataPoint) -> Point {
    let value = match it.value {
        Some(number_data_point::Value::AsInt(value)) => value as f64,
        Some(number_data_point::Value::AsDouble(value)) => value,
        None => 0.0,
    };
    Point { attributes: attributes(it.attributes), value, sum: None }
}

fn attributes(list: Vec<KeyValue>) -> Attributes {
    list.into_iter().map(|it| (it.key, text(it.value.and_then(|it| it.value)))).collect()
}

fn text(value: Option<Value>) -> String {
    match value {
        Some(Value::StringValue(it)) => it,
        Some(Value::IntValue(it)) => it.to_string(),
        Some(Value::BoolValue(it)) => it.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
