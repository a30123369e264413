//! Tests of variables, without a process that has them.

use std::collections::HashMap;

use super::*;

const COLLECTOR: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
    let all: HashMap<_, _> = variables.iter().copied().collect();
    Settings::read(|it| all.get(it).map(OsString::from)).map_err(|it| it.to_string())
}

fn with(more: &[(&str, &str)]) -> Settings {
    read(&[&[COLLECTOR], more].concat()).unwrap().unwrap()
}

#[test]
fn no_collector_no_settings() {
    let bad_but_unused = ("OTEL_EXPORTER_OTLP_PROTOCOL", "pigeon");
    let off: [&[(&str, &str)]; 5] = [
        &[],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")],
        &[("OTEL_SERVICE_NAME", "mine"), bad_but_unused],
        &[COLLECTOR, ("OTEL_SDK_DISABLED", "TRUE"), bad_but_unused],
        &[COLLECTOR, ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")],
    ];
    for variables in off {
        assert!(read(variables).unwrap().is_none(), "{variables:?}");
    }
}

#[test]
fn defaults_are_those_of_the_specification() {
    let settings = with(&[]);
    let (traces, metrics) = (settings.traces.unwrap(), settings.metrics.unwrap());
    assert_eq!(traces.endpoint, "http://collector:4318/v1/traces");
    assert_eq!(metrics.endpoint, "http://collector:4318/v1/metrics");
    assert_eq!((traces.protocol, traces.timeout.as_secs()), (Protocol::HttpProtobuf, 10));
    assert_eq!(settings.service, "broker");
    assert_eq!(format!("{:?}", settings.sampler), "ParentBased(AlwaysOn)");
}

#[test]
fn a_signal_may_have_its_own() {
    let settings = with(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces/as/is"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "300"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, key = v"),
    ]);
    let (traces, metrics) = (settings.traces.unwrap(), settings.metrics.unwrap());
    assert_eq!((&*traces.endpoint, traces.protocol), ("https://traces/as/is", Protocol::HttpProtobuf));
    assert_eq!((&*metrics.endpoint, metrics.protocol), ("http://collector:4318/", Protocol::Grpc));
    assert_eq!(traces.timeout.as_millis(), 300);
    assert_eq!(
        (&traces.headers["authorization"], &traces.headers["key"]),
        (&"Bearer x".parse().unwrap(), &"v".parse().unwrap())
    );
    let one = read(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://metrics")]).unwrap().unwrap();
    assert!(one.traces.is_none() && one.metrics.is_some());
}

#[test]
fn the_service_is_named_once() {
    let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=b,team=a%2Cb");
    let settings = with(&[attributes]);
    assert_eq!((&*settings.service, settings.resource), ("b", vec![KeyValue::new("team", "a,b")]));
    assert_eq!(with(&[attributes, ("OTEL_SERVICE_NAME", "a")]).service, "a");
}

#[test]
fn samplers() {
    let named = |name, argument| {
        let settings = with(&[("OTEL_TRACES_SAMPLER", name), ("OTEL_TRACES_SAMPLER_ARG", argument)]);
        format!("{:?}", settings.sampler)
    };
    assert_eq!(named("always_off", ""), "AlwaysOff");
    assert_eq!(named("traceidratio", "0.25"), "TraceIdRatioBased(0.25)");
    assert_eq!(named("parentbased_traceidratio", ""), "ParentBased(TraceIdRatioBased(1.0))");
}

#[test]
fn what_is_wrong_is_one_line() {
    let wrong = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://host"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a b=secret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0A"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team"),
        ("OTEL_SDK_DISABLED", "1"),
        ("OTEL_TRACES_EXPORTER", "zipkin\n"),
        ("OTEL_TRACES_SAMPLER", "parentbased_xray"),
        ("OTEL_METRICS_EXPORTER", "a\nb"),
    ];
    let said: Vec<_> = wrong.iter().map(|it| read(&[COLLECTOR, *it]).unwrap_err()).collect();
    assert_eq!(said.join("\n"), WRONG.trim());
}

const WRONG: &str = "
OTEL_EXPORTER_OTLP_ENDPOINT is `localhost:4317`, and should be an address that begins with `http://` or `https://`
OTEL_EXPORTER_OTLP_ENDPOINT is `ftp://host`, and should be an address that begins with `http://` or `https://`
OTEL_EXPORTER_OTLP_ENDPOINT is `http://`, and should be an address that begins with `http://` or `https://`
OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is `http/json`, and should be `http/protobuf` or `grpc`
OTEL_EXPORTER_OTLP_COMPRESSION is `gzip`, and should be `none`
OTEL_EXPORTER_OTLP_TIMEOUT is `10s`, and should be a number of milliseconds
OTEL_EXPORTER_OTLP_TIMEOUT is `0`, and should be a number of milliseconds
OTEL_EXPORTER_OTLP_HEADERS is not a list like `name=value,name=value`
OTEL_EXPORTER_OTLP_HEADERS has a name or a value that no header can have
OTEL_EXPORTER_OTLP_HEADERS has a name or a value that no header can have
OTEL_RESOURCE_ATTRIBUTES is not a list like `key=value,key=value`
OTEL_SDK_DISABLED is `1`, and should be `true` or `false`
OTEL_TRACES_EXPORTER is `zipkin`, and should be `otlp` or `none`
OTEL_TRACES_SAMPLER is `parentbased_xray`, and should be `always_on`, `always_off` or `traceidratio`, or one of these after `parentbased_`
OTEL_METRICS_EXPORTER is `a\\nb`, and should be `otlp` or `none`
";

#[cfg(unix)]
#[test]
fn what_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;
    let variable = |name: &str| (name == COLLECTOR.0).then(|| OsString::from_vec(vec![b'h', 0xFF]));
    let said = Settings::read(variable).unwrap_err().to_string();
    assert_eq!(said, "OTEL_EXPORTER_OTLP_ENDPOINT is not UTF-8");
}
