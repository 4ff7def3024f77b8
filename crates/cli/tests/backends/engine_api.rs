//! The API of a container engine, as far as tests need it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

/// Sends a request; returns the status and the body. Status 0 means that nothing answered.
pub(crate) fn ask(socket: &Path, method: &str, path: &str, kind: &str, body: &[u8]) -> (u16, String) {
    let Ok(mut stream) = UnixStream::connect(socket) else { return (0, String::new()) };
    let head = format!(
        "{method} /v1.41{path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut answer = Vec::new();
    let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    let _ = sent.and_then(|()| stream.read_to_end(&mut answer));
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    (status, text)
}

/// Sends a request with a JSON body, and expects success.
#[track_caller]
pub(crate) fn post(socket: &Path, path: &str, body: &Value) {
    let (status, answer) = ask(socket, "POST", path, "application/json", body.to_string().as_bytes());
    assert!((200..300).contains(&status), "POST {path}: {answer}");
}
