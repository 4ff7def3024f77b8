//! HTTP/1.1 over a Unix socket, as far as the engines' API needs it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

/// The longest line of a header.
const MAX_LINE: u64 = 64 << 10;
/// The largest answer that is read as a whole.
const MAX_ANSWER: u64 = 16 << 20;

/// A request.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// The path with its query.
    pub(super) path: &'a str,
    pub(super) body: Option<&'a Value>,
    /// Whether the connection becomes a stream in both directions.
    pub(super) upgrade: bool,
    /// How long the engine may be silent; `None` = as long as it likes.
    pub(super) timeout: Option<Duration>,
}

/// The head of an answer, and the connection to read the rest from.
pub(super) struct HttpResponse {
    pub(super) status: u16,
    is_chunked: bool,
    len: Option<u64>,
    pub(super) reader: BufReader<UnixStream>,
}

/// Sends a request and reads the head of the answer.
pub(super) fn send(socket: &Path, request: &Request<'_>) -> io::Result<HttpResponse> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(request.timeout)?;
    let body = request.body.map(Value::to_string).unwrap_or_default();
    let connection =
        if request.upgrade { "Connection: Upgrade\r\nUpgrade: tcp" } else { "Connection: close" };
    let head = format!(
        "{} {} HTTP/1.1\r\nHost: localhost\r\n{connection}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        request.method,
        request.path,
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    read_head(BufReader::new(stream))
}

fn read_head(mut reader: BufReader<UnixStream>) -> io::Result<HttpResponse> {
    let odd = |line: &str| io::Error::new(io::ErrorKind::InvalidData, format!("the engine sent {line:?}"));
    let first = read_line(&mut reader)?;
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| odd(&first))?;
    let (mut is_chunked, mut len) = (false, None);
    loop {
        let line = read_line(&mut reader)?;
        if line.is_empty() {
            return Ok(HttpResponse { status, is_chunked, len, reader });
        }
        let (name, value) = line.split_once(':').ok_or_else(|| odd(&line))?;
        match name.to_ascii_lowercase().as_str() {
            "transfer-encoding" => is_chunked = value.trim().eq_ignore_ascii_case("chunked"),
            "content-length" => len = value.trim().parse().ok(),
            _ => {}
        }
    }
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

impl HttpResponse {
    /// Reads the body as a whole.
    pub(super) fn body(self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.into_body().take(MAX_ANSWER).read_to_end(&mut body)?;
        Ok(body)
    }

    /// Returns the body as a stream.
    pub(super) fn into_body(self) -> Box<dyn Read + Send> {
        match (self.is_chunked, self.len) {
            (true, _) => Box::new(Chunks { reader: self.reader, left: 0, is_over: false }),
            (false, Some(len)) => Box::new(self.reader.take(len)),
            (false, None) => Box::new(self.reader),
        }
    }
}

/// A body in chunks.
struct Chunks {
    reader: BufReader<UnixStream>,
    left: u64,
    is_over: bool,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over || buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            let mut line = read_line(&mut self.reader)?;
            if line.is_empty() {
                // The end of the chunk before.
                line = read_line(&mut self.reader)?;
            }
            let size = line.split(';').next().unwrap_or_default().trim();
            self.left = u64::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if self.left == 0 {
                self.is_over = true;
                return Ok(0);
            }
        }
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.reader.read(&mut buffer[..room])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &'static str) -> io::Result<HttpResponse> {
        let (mut engine, ours) = UnixStream::pair()?;
        engine.write_all(text.as_bytes())?;
        drop(engine);
        read_head(BufReader::new(ours))
    }

    #[test]
    fn a_body_is_read_in_chunks_or_by_its_length() {
        let chunks =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        assert_eq!(answer(chunks).unwrap().body().unwrap(), b"abcde");
        let counted = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nnorest";
        let counted = answer(counted).unwrap();
        assert_eq!(counted.status, 404);
        assert_eq!(counted.body().unwrap(), b"no");
    }

    #[test]
    fn a_body_that_is_cut_off_is_an_error() {
        let cut = answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab").unwrap();
        assert!(cut.body().is_err());
        assert!(answer("HTTP/1.1 200").is_err());
    }
}
