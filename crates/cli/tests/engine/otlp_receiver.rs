//! A scripted receiver of the OpenTelemetry protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use mw_testkit::{SOON, wait_until};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// How requests are answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Accepted.
    Takes,
    /// Read and never answered.
    Silent,
    /// Refused for now.
    Busy,
    /// Accepted, except one span of each request.
    Picky,
}

/// One complete request.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) message: ExportTraceServiceRequest,
    /// Whether it was accepted.
    pub(crate) taken: bool,
}

/// The receiver; its thread ends with the test.
pub(crate) struct Receiver {
    pub(crate) endpoint: String,
    manner: Arc<Mutex<Manner>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    pub(crate) fn new(manner: Manner) -> Self {
        Self::listening(TcpListener::bind("127.0.0.1:0").unwrap(), manner)
    }

    /// Starts on an address that was reserved before.
    pub(crate) fn listening(listener: TcpListener, manner: Manner) -> Self {
        Self::speaking("http", listener, manner, serve)
    }

    /// Starts a receiver with TLS; also returns its certificate.
    pub(crate) fn secure(manner: Manner) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = made.cert.pem();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let receiver = Self::speaking("https", listener, manner, move |stream, how, into| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(rustls::StreamOwned::new(connection, stream), how, into);
        });
        (Self { endpoint: format!("https://localhost:{port}"), ..receiver }, certificate)
    }

    fn speaking(
        scheme: &str,
        listener: TcpListener,
        manner: Manner,
        serve: impl Fn(TcpStream, &Mutex<Manner>, &Mutex<Vec<Received>>) + Clone + Send + 'static,
    ) -> Self {
        let endpoint = format!("{scheme}://{}", listener.local_addr().unwrap());
        let manner = Arc::new(Mutex::new(manner));
        let received = Arc::new(Mutex::new(Vec::new()));
        let (how, into) = (Arc::clone(&manner), Arc::clone(&received));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (how, into) = (Arc::clone(&how), Arc::clone(&into));
                let serve = serve.clone();
                thread::spawn(move || serve(stream, &how, &into));
            }
        });
        Self { endpoint, manner, received }
    }

    pub(crate) fn behaves(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Returns all accepted spans.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let taken = self.received().into_iter().filter(|received| received.taken);
        let resources = taken.flat_map(|received| received.message.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// Waits for that many spans and returns them.
    pub(crate) fn until_taken(&self, count: usize) -> Vec<Span> {
        let what = format!("{count} spans arrive");
        wait_until(SOON, &what, || Some(self.spans()).filter(|spans| spans.len() >= count))
    }

    /// Waits until a request has arrived.
    pub(crate) fn until_asked(&self) {
        wait_until(SOON, "a request arrives", || (!self.received().is_empty()).then_some(()));
    }
}

fn serve(stream: impl Read + Write, manner: &Mutex<Manner>, into: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let message = ExportTraceServiceRequest::decode(&*body).unwrap();
        let manner = *manner.lock().unwrap();
        let taken = matches!(manner, Manner::Takes | Manner::Picky);
        into.lock().unwrap().push(Received { head, message, taken });
        let (status, reply) = match manner {
            Manner::Takes => ("200 OK", Vec::new()),
            Manner::Busy => ("503 Service Unavailable", b"come back later".to_vec()),
            Manner::Picky => {
                let error_message = "one too many".to_owned();
                let partly = ExportTracePartialSuccess { rejected_spans: 1, error_message };
                ("200 OK", ExportTraceServiceResponse { partial_success: Some(partly) }.encode_to_vec())
            }
            Manner::Silent => {
                // The connection ends with its client or with the test.
                let _ = reader.read_to_end(&mut Vec::new());
                return;
            }
        };
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", reply.len());
        let stream = reader.get_mut();
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&reply)).is_err() {
            return;
        }
    }
}

/// Returns an attribute as text.
pub(crate) fn attribute(span: &Span, name: &str) -> String {
    let found = span.attributes.iter().find(|pair| pair.key == name);
    match found.and_then(|pair| pair.value.clone()?.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{name} of {} is {other:?}", span.name),
    }
}

/// Returns the bytes of an id as `mw` writes it.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
