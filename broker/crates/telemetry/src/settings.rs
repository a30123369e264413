//! The standard variables of OpenTelemetry, each checked before anything is sent.

use std::{ffi::OsString, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use opentelemetry::KeyValue;
use opentelemetry_sdk::trace::Sampler;
use percent_encoding::percent_decode_str;

/// A variable that cannot be followed, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} {problem}")]
pub struct SettingError {
    name: String,
    problem: String,
}

/// Destinations of what is sent, and the name of the sender.
#[derive(Debug)]
pub struct Settings {
    pub(crate) traces: Option<Target>,
    pub(crate) metrics: Option<Target>,
    pub(crate) sampler: Sampler,
    pub(crate) service: String,
    pub(crate) resource: Vec<KeyValue>,
}

/// The collector of one signal.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Address with the signal's path, if the protocol has one.
    pub(crate) endpoint: String,
    pub(crate) protocol: Protocol,
    pub(crate) headers: HeaderMap,
    pub(crate) timeout: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Grpc,
    HttpProtobuf,
}

/// Default of the specification.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Name of the service, unless the environment has another.
const SERVICE: &str = "broker";

impl Settings {
    /// Reads the variables that `variable` gives; `None` if they name no collector, or turn everything off.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Self>, SettingError> {
        let variables = Variables(&variable);
        if variables.is_disabled()? {
            return Ok(None);
        }
        let traces = variables.target("TRACES", "v1/traces")?;
        let metrics = variables.target("METRICS", "v1/metrics")?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let (service, resource) = variables.resource()?;
        Ok(Some(Self { traces, metrics, sampler: variables.sampler()?, service, resource }))
    }
}

/// Variables of a process, or of a test.
struct Variables<'v>(&'v dyn Fn(&str) -> Option<OsString>);

impl Variables<'_> {
    /// An empty value counts as none.
    fn text(&self, name: &str) -> Result<Option<String>, SettingError> {
        let Some(value) = (self.0)(name).filter(|it| !it.is_empty()) else { return Ok(None) };
        let value = value.into_string().map_err(|_| error(name, "is not UTF-8"))?;
        Ok(Some(value.trim().to_owned()))
    }

    fn is_disabled(&self) -> Result<bool, SettingError> {
        const NAME: &str = "OTEL_SDK_DISABLED";
        match self.text(NAME)? {
            None => Ok(false),
            Some(it) if it.eq_ignore_ascii_case("false") => Ok(false),
            Some(it) if it.eq_ignore_ascii_case("true") => Ok(true),
            Some(it) => Err(unknown(NAME, &it, "`true` or `false`")),
        }
    }

    /// The collector of a signal, if one is named.
    fn target(&self, signal: &str, path: &str) -> Result<Option<Target>, SettingError> {
        if !self.is_exported(signal)? {
            return Ok(None);
        }
        let Some((endpoint, is_own)) = self.endpoint(signal)? else { return Ok(None) };
        let protocol = self.protocol(signal)?;
        let endpoint = match (protocol, is_own) {
            (Protocol::HttpProtobuf, false) => format!("{}/{path}", endpoint.trim_end_matches('/')),
            (Protocol::HttpProtobuf, true) | (Protocol::Grpc, _) => endpoint,
        };
        self.expect_no_compression(signal)?;
        let (headers, timeout) = (self.headers(signal)?, self.timeout(signal)?);
        Ok(Some(Target { endpoint, protocol, headers, timeout }))
    }

    fn is_exported(&self, signal: &str) -> Result<bool, SettingError> {
        let name = format!("OTEL_{signal}_EXPORTER");
        match self.text(&name)?.as_deref() {
            None | Some("otlp") => Ok(true),
            Some("none") => Ok(false),
            Some(other) => Err(unknown(&name, other, "`otlp` or `none`")),
        }
    }

    /// The address, and whether it is that of this signal alone.
    fn endpoint(&self, signal: &str) -> Result<Option<(String, bool)>, SettingError> {
        let Some((name, endpoint)) = self.of_signal(signal, "ENDPOINT")? else { return Ok(None) };
        let uri: Option<Uri> = endpoint.parse().ok();
        let is_http = |it: &Uri| matches!(it.scheme_str(), Some("http" | "https")) && it.host().is_some();
        if !uri.as_ref().is_some_and(is_http) {
            return Err(unknown(&name, &endpoint, "an address that begins with `http://` or `https://`"));
        }
        Ok(Some((endpoint, name.contains(signal))))
    }

    fn protocol(&self, signal: &str) -> Result<Protocol, SettingError> {
        match self.of_signal(signal, "PROTOCOL")? {
            None => Ok(Protocol::HttpProtobuf),
            Some((_, it)) if it == "http/protobuf" => Ok(Protocol::HttpProtobuf),
            Some((_, it)) if it == "grpc" => Ok(Protocol::Grpc),
            Some((name, it)) => Err(unknown(&name, &it, "`http/protobuf` or `grpc`")),
        }
    }

    fn expect_no_compression(&self, signal: &str) -> Result<(), SettingError> {
        match self.of_signal(signal, "COMPRESSION")? {
            Some((name, it)) if it != "none" => Err(unknown(&name, &it, "`none`")),
            _ => Ok(()),
        }
    }

    /// Headers often are secrets: no message shows their values.
    fn headers(&self, signal: &str) -> Result<HeaderMap, SettingError> {
        let Some((name, list)) = self.of_signal(signal, "HEADERS")? else { return Ok(HeaderMap::new()) };
        let pairs = pairs(&list).ok_or_else(|| error(&name, "is not a list like `name=value,name=value`"))?;
        let mut headers = HeaderMap::new();
        for (key, value) in pairs {
            let value = HeaderValue::try_from(value);
            let (Ok(key), Ok(mut value)) = (HeaderName::try_from(key), value) else {
                return Err(error(&name, "has a name or a value that no header can have"));
            };
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        Ok(headers)
    }

    fn timeout(&self, signal: &str) -> Result<Duration, SettingError> {
        let Some((name, text)) = self.of_signal(signal, "TIMEOUT")? else { return Ok(TIMEOUT) };
        match text.parse() {
            Ok(millis) if millis > 0 => Ok(Duration::from_millis(millis)),
            _ => Err(unknown(&name, &text, "a number of milliseconds")),
        }
    }

    fn sampler(&self) -> Result<Sampler, SettingError> {
        const NAME: &str = "OTEL_TRACES_SAMPLER";
        const KNOWN: &str =
            "`always_on`, `always_off` or `traceidratio`, or one of these after `parentbased_`";
        let name = self.text(NAME)?.unwrap_or_else(|| "parentbased_always_on".to_owned());
        let root = name.strip_prefix("parentbased_");
        let sampler = match root.unwrap_or(&name) {
            "always_on" => Sampler::AlwaysOn,
            "always_off" => Sampler::AlwaysOff,
            "traceidratio" => Sampler::TraceIdRatioBased(self.ratio()?),
            _ => return Err(unknown(NAME, &name, KNOWN)),
        };
        Ok(match root {
            Some(_) => Sampler::ParentBased(Box::new(sampler)),
            None => sampler,
        })
    }

    fn ratio(&self) -> Result<f64, SettingError> {
        const NAME: &str = "OTEL_TRACES_SAMPLER_ARG";
        let Some(text) = self.text(NAME)? else { return Ok(1.0) };
        let ratio = text.parse().ok().filter(|it| (0.0..=1.0).contains(it));
        ratio.ok_or_else(|| unknown(NAME, &text, "a number from 0 to 1"))
    }

    /// The name of the service, and what else the environment says of it.
    fn resource(&self) -> Result<(String, Vec<KeyValue>), SettingError> {
        const NAME: &str = "OTEL_RESOURCE_ATTRIBUTES";
        let list = self.text(NAME)?.unwrap_or_default();
        let mut all = pairs(&list).ok_or_else(|| error(NAME, "is not a list like `key=value,key=value`"))?;
        let named = all.iter().position(|it| it.0 == "service.name").map(|it| all.remove(it).1);
        let service = self.text("OTEL_SERVICE_NAME")?.or(named).unwrap_or_else(|| SERVICE.to_owned());
        Ok((service, all.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect()))
    }

    /// The signal's own variable, or else that of all signals.
    fn of_signal(&self, signal: &str, what: &str) -> Result<Option<(String, String)>, SettingError> {
        for name in [format!("OTEL_EXPORTER_OTLP_{signal}_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")] {
            if let Some(value) = self.text(&name)? {
                return Ok(Some((name, value)));
            }
        }
        Ok(None)
    }
}

/// The pairs of a list as W3C baggage has them, values percent-encoded; `None` if it is none.
fn pairs(list: &str) -> Option<Vec<(String, String)>> {
    let pair = |text: &str| {
        let (key, value) = text.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        (!key.trim().is_empty()).then(|| (key.trim().to_owned(), value.into_owned()))
    };
    list.split(',').filter(|it| !it.trim().is_empty()).map(pair).collect()
}

fn error(name: &str, problem: &str) -> SettingError {
    SettingError { name: name.to_owned(), problem: problem.to_owned() }
}

fn unknown(name: &str, value: &str, wanted: &str) -> SettingError {
    error(name, &format!("is `{}`, and should be {wanted}", value.escape_debug()))
}

#[cfg(test)]
mod tests;
