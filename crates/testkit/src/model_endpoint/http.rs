//! Minimal HTTP for one request and one streamed answer.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;

use super::answer::Refusal;
use super::request::{ModelRequest, Wire};

/// Reads a request; nothing if the client closed the connection without one.
pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<ModelRequest>> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let wire = Wire::of(&path);
    Ok(Some(ModelRequest { path, wire, headers, body }))
}

/// Answers with a status and no stream.
pub(super) fn refuse(stream: &mut TcpStream, refusal: &Refusal) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n",
        refusal.status,
        refusal.body.len()
    );
    for (name, value) in &refusal.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{}", refusal.body).as_bytes())?;
    stream.shutdown(Shutdown::Write)
}

/// A streamed answer in progress.
pub(super) struct Reply<'a> {
    stream: &'a mut TcpStream,
}

impl<'a> Reply<'a> {
    pub(super) fn begin(stream: &'a mut TcpStream, content_type: &str) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        Ok(Self { stream })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        write!(self.stream, "{:x}\r\n", bytes.len())?;
        self.stream.write_all(bytes)?;
        self.stream.write_all(b"\r\n")?;
        self.stream.flush()
    }

    pub(super) fn end(self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")?;
        self.stream.shutdown(Shutdown::Write)
    }

    /// Closes the connection without the last chunk.
    pub(super) fn cut(self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Both)
    }

    /// Fails if the client has disconnected. A client sends nothing after its request.
    pub(super) fn check_client(&self) -> io::Result<()> {
        self.stream.set_nonblocking(true)?;
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        match peeked {
            Ok(0) => Err(ErrorKind::ConnectionAborted.into()),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }
}
