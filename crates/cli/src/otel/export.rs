//! Sends spans, one request per batch.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use meanwhile::engine::{ExportReceipt, ExportState, Runtime, Span, Urgency};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use super::environment::Receiver;
use super::message;
use crate::error::CommandError;

/// Maximum size of an answer.
const MAX_BYTES: u64 = 64 << 10;
/// Maximum number of characters of an answer that are kept.
const MAX_CHARACTERS: usize = 200;

/// Sends all waiting spans.
pub(crate) fn deliver(
    runtime: &Runtime,
    receiver: &Receiver,
    urgency: Urgency,
) -> Result<ExportState, CommandError> {
    let (tls, obstacle) = match tls(receiver) {
        Ok(tls) => (tls, receiver.obstacle.clone()),
        Err(obstacle) => (TlsConfig::default(), Some(obstacle)),
    };
    let agent: Agent = Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(receiver.timeout))
        .http_status_as_error(false)
        // A redirect would turn POST into GET.
        .max_redirects(0)
        .user_agent(concat!("meanwhile/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let send = |spans: &[Span]| match &obstacle {
        Some(obstacle) => Err(obstacle.clone()),
        None => post(&agent, receiver, spans),
    };
    Ok(runtime.traces().deliver_spans(&receiver.endpoint(), urgency, send)?)
}

/// Returns the certificates of the given file, or else those of the system.
fn tls(receiver: &Receiver) -> Result<TlsConfig, String> {
    let roots = match &receiver.certificate {
        None => RootCerts::PlatformVerifier,
        Some(path) => {
            let unusable =
                |why: &dyn Display| format!("cannot use the certificate {}: {why}", path.display());
            let text = std::fs::read(path).map_err(|error| unusable(&error))?;
            let items = parse_pem(&text).filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            });
            let certificates: Vec<_> = items.collect();
            if certificates.is_empty() {
                return Err(unusable(&"no PEM certificate in the file"));
            }
            RootCerts::Specific(Arc::new(certificates))
        }
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider);
    Ok(tls.build())
}

/// Sends one request. The next process retries.
fn post(agent: &Agent, receiver: &Receiver, spans: &[Span]) -> Result<ExportReceipt, String> {
    let mut request = agent.post(&receiver.url).header("content-type", "application/x-protobuf");
    for (name, value) in &receiver.headers {
        request = request.header(name, value);
    }
    let body = message::request(spans, &receiver.resource).encode_to_vec();
    let mut response = request.send(&body).map_err(|error| in_words(&error))?;
    let answer = response.body_mut().with_config().limit(MAX_BYTES).read_to_vec().unwrap_or_default();
    let status = response.status();
    if !status.is_success() {
        let said = shown(&String::from_utf8_lossy(&answer));
        return Err(format!("HTTP {status}{}{said}", if said.is_empty() { "" } else { ": " }));
    }
    // An unreadable answer counts as success.
    let answer = ExportTraceServiceResponse::decode(&*answer).unwrap_or_default();
    let partly = answer.partial_success.unwrap_or_default();
    let message = Some(shown(&partly.error_message)).filter(|message| !message.is_empty());
    Ok(ExportReceipt { rejected: partly.rejected_spans.max(0).unsigned_abs(), message })
}

fn in_words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "connection refused".to_owned()
        }
        ureq::Error::Timeout(_) => "timed out".to_owned(),
        // The error might contain the value of a header.
        ureq::Error::Http(_) => "invalid header or address".to_owned(),
        other => shown(&other.to_string()),
    }
}

/// Returns an answer of a server, short and on one line.
fn shown(text: &str) -> String {
    let printable = text.trim().chars().filter(|c| !c.is_control() || *c == '\n');
    printable.map(|c| if c == '\n' { ' ' } else { c }).take(MAX_CHARACTERS).collect()
}
