//! A small HTTP/1.1 client, for requests that a real client would refuse to send.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::SOON;

/// A header of a request.
pub type Header<'a> = (&'a str, &'a str);

/// A request.
pub struct Request<'a> {
    /// The method.
    pub method: &'a str,
    /// The path with the query.
    pub path: &'a str,
    /// Headers that every request of a test has.
    pub usual: &'a [Header<'a>],
    /// Headers of this request. They replace usual ones of the same name; one with an empty value is left out.
    pub headers: &'a [Header<'a>],
    /// The body.
    pub body: &'a [u8],
}

impl Request<'_> {
    /// Sends the request and leaves the response in the stream.
    #[must_use]
    pub fn send(&self, mut stream: TcpStream) -> TcpStream {
        stream.set_read_timeout(Some(SOON)).expect("a socket takes a time limit");
        let given = |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let length = self.body.len().to_string();
        let length = [("Content-Length", length.as_str())];
        let usual = self.usual.iter().chain(&length).filter(|(name, _)| !given(name));
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in usual.chain(self.headers).filter(|(_, value)| !value.is_empty()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all((head + "\r\n").as_bytes()).expect("the server reads the head of a request");
        // A server that refuses need not read the whole body.
        let _ = stream.write_all(self.body);
        stream
    }
}

/// A response.
pub struct Response {
    /// The status; 0 if there was no response.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The body, without the sizes of its chunks.
    pub body: String,
}

impl Response {
    /// Reads a response until the server closes the connection.
    #[must_use]
    pub fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let mut part = [0; 65536];
        // After it refused a body, the server may reset the connection.
        while let Ok(count @ 1..) = stream.read(&mut part) {
            bytes.extend_from_slice(&part[..count]);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { unchunked(body) } else { body.to_owned() };
        Self { status, head: head.to_owned(), body }
    }

    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Returns the body as JSON.
    ///
    /// # Panics
    /// When it is not JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        self.parsed(&self.body)
    }

    /// Returns the data of the last server-sent event in the body as JSON, or the body if there is none.
    ///
    /// # Panics
    /// When it is not JSON.
    #[must_use]
    #[track_caller]
    pub fn message(&self) -> Value {
        let last = self.body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        self.parsed(last.unwrap_or(&self.body))
    }

    #[track_caller]
    fn parsed(&self, text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {}\n{}", self.head, self.body))
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || tail.len() < size {
            break;
        }
        whole.push_str(&tail[..size]);
        rest = tail[size..].trim_start_matches("\r\n");
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_chunks_are_removed() {
        assert_eq!(unchunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "abcde");
        assert_eq!(unchunked("20\r\nincomplete"), "");
    }
}
