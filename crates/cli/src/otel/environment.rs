//! The standard `OTEL_*` variables.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use meanwhile::model::Sampler;
use meanwhile::settings::TraceSettings;
use percent_encoding::percent_decode_str;

/// The default timeout of an export.
const USUAL_TIMEOUT_MS: u64 = 10_000;
/// The default service name.
const SERVICE: &str = "meanwhile";

/// The receiver of spans.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Receiver {
    /// The URL that spans are posted to.
    pub(super) url: String,
    /// Headers. They may contain secrets and are never shown.
    pub(super) headers: Vec<(String, String)>,
    /// A file with additional certificates.
    pub(super) certificate: Option<PathBuf>,
    pub(super) timeout: Duration,
    /// The attributes of this program: `service.name` and others.
    pub(super) resource: Vec<(String, String)>,
    /// Why nothing can be sent, if that is already known.
    pub(super) obstacle: Option<String>,
}

/// Reads the settings for a start from the environment, without a system call.
pub(crate) fn trace_settings() -> TraceSettings {
    let name = own("OTEL_TRACES_SAMPLER").unwrap_or_default();
    let argument = own("OTEL_TRACES_SAMPLER_ARG");
    TraceSettings { sampler: Sampler::from_words(&name, argument.as_deref()), export: url_in(&own).is_some() }
}

/// Looks a variable up in the environment of this process.
fn own(name: &str) -> Option<String> {
    env::var(name).ok()
}

impl Receiver {
    /// Reads it from the environment of this process.
    pub(crate) fn own() -> Option<Self> {
        Self::from_variables(&own)
    }

    /// Reads it from other variables, such as those of a task.
    pub(crate) fn among(variables: &[(String, String)]) -> Option<Self> {
        Self::from_variables(&|name: &str| {
            variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        })
    }

    fn from_variables(look_up: &impl Fn(&str) -> Option<String>) -> Option<Self> {
        let url = url_in(look_up)?;
        let of_traces = |rest: &str| {
            let own = given(look_up, &format!("OTEL_EXPORTER_OTLP_TRACES_{rest}"));
            own.or_else(|| given(look_up, &format!("OTEL_EXPORTER_OTLP_{rest}")))
        };
        let timeout_ms = of_traces("TIMEOUT").and_then(|text| text.parse().ok()).unwrap_or(USUAL_TIMEOUT_MS);
        let mut resource = pairs(&given(look_up, "OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
        if let Some(name) = given(look_up, "OTEL_SERVICE_NAME") {
            resource.retain(|(known, _)| known != "service.name");
            resource.push(("service.name".to_owned(), name));
        } else if resource.iter().all(|(known, _)| known != "service.name") {
            resource.push(("service.name".to_owned(), SERVICE.to_owned()));
        }
        let obstacle = obstacle(&url, of_traces("PROTOCOL").as_deref());
        Some(Self {
            url,
            headers: pairs(&of_traces("HEADERS").unwrap_or_default()),
            certificate: of_traces("CERTIFICATE").map(PathBuf::from),
            timeout: Duration::from_millis(timeout_ms),
            resource,
            obstacle,
        })
    }

    /// Returns the URL without a password.
    pub(crate) fn endpoint(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else { return self.url.clone() };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        format!("{scheme}://{host}{}", path.split('?').next().unwrap_or_default())
    }
}

/// Returns the URL for spans, if one is set.
fn url_in(look_up: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let own = given(look_up, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let common = given(look_up, "OTEL_EXPORTER_OTLP_ENDPOINT");
    let url = own.or_else(|| common.map(|base| format!("{}/v1/traces", base.trim_end_matches('/'))))?;
    let is_off = given(look_up, "OTEL_SDK_DISABLED").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    let exporters = given(look_up, "OTEL_TRACES_EXPORTER").unwrap_or_else(|| "otlp".to_owned());
    let is_asked_for = exporters.split(',').any(|word| word.trim() == "otlp");
    (is_asked_for && !is_off).then_some(url)
}

/// Treats an empty variable as unset.
fn given(look_up: &impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    look_up(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn obstacle(url: &str, protocol: Option<&str>) -> Option<String> {
    match protocol {
        None | Some("http/protobuf") => {}
        Some(other) => {
            return Some(format!("OTEL_EXPORTER_OTLP_PROTOCOL={other} is not supported; use http/protobuf"));
        }
    }
    let is_url = url.starts_with("http://") || url.starts_with("https://");
    (!is_url).then(|| "the endpoint is not an http:// or https:// URL".to_owned())
}

/// Reads `name=value,name=value`, with %-escapes in values.
fn pairs(text: &str) -> Vec<(String, String)> {
    let split = text.split(',').filter_map(|pair| pair.split_once('='));
    let unescaped = |value: &str| percent_decode_str(value.trim()).decode_utf8_lossy().into_owned();
    let trimmed = split.map(|(name, value)| (name.trim().to_owned(), unescaped(value)));
    trimmed.filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(variables: &[(&str, &str)]) -> Option<Receiver> {
        let owned: Vec<_> = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Receiver::among(&owned)
    }

    const BASE: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");

    #[test]
    fn nothing_is_sent_unless_somebody_names_a_receiver() {
        assert!(receiver(&[]).is_none());
        assert!(receiver(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).is_none());
        assert!(receiver(&[BASE, ("OTEL_SDK_DISABLED", "TRUE")]).is_none());
        assert!(receiver(&[BASE, ("OTEL_TRACES_EXPORTER", "none")]).is_none());
        assert!(receiver(&[BASE, ("OTEL_TRACES_EXPORTER", "console,otlp")]).is_some());
        assert!(receiver(&[BASE, ("OTEL_SDK_DISABLED", "false")]).is_some());
    }

    #[test]
    fn the_address_is_completed_or_taken_as_it_is() {
        assert_eq!(receiver(&[BASE]).unwrap().url, "http://localhost:4318/v1/traces");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://other/spans");
        assert_eq!(receiver(&[BASE, own]).unwrap().url, "http://other/spans");
    }

    #[test]
    fn what_is_for_traces_counts_more() {
        let found = receiver(&[
            BASE,
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "100"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "200"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a%2Cb, x = y,=,odd"),
        ])
        .unwrap();
        assert_eq!(found.timeout, Duration::from_millis(200));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found.headers, [pair("authorization", "Bearer a,b"), pair("x", "y")]);
    }

    #[test]
    fn the_service_has_a_name() {
        let name = |variables: &[(&str, &str)]| receiver(variables).unwrap().resource;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(name(&[BASE]), [pair("service.name", "meanwhile")]);
        let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "a=1,service.name=mine");
        assert_eq!(name(&[BASE, attributes]), [pair("a", "1"), pair("service.name", "mine")]);
        let named = name(&[BASE, attributes, ("OTEL_SERVICE_NAME", "agent")]);
        assert_eq!(named, [pair("a", "1"), pair("service.name", "agent")]);
    }

    #[test]
    fn what_cannot_be_done_is_known_beforehand() {
        let obstacle = |variables: &[(&str, &str)]| receiver(variables).unwrap().obstacle;
        assert_eq!(obstacle(&[BASE]), None);
        assert_eq!(obstacle(&[BASE, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]), None);
        assert!(obstacle(&[BASE, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).unwrap().contains("grpc"));
        let tls = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://a.example/v1/traces");
        assert_eq!(obstacle(&[tls]), None);
        assert!(obstacle(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")]).is_some());
    }

    #[test]
    fn no_password_is_shown() {
        let secret = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://me:secret@host:1/v1/traces?key=secret");
        assert_eq!(receiver(&[secret]).unwrap().endpoint(), "http://host:1/v1/traces");
    }
}
