//! The two streams of a container in one: parts with a header of eight bytes.

use std::io::{self, Read};

use mw_model::Stream;

const MAX_PART: usize = 64 << 10;

/// Reads the parts of a stream.
pub(super) struct Parts<R> {
    reader: R,
    left: usize,
    stream: Stream,
}

impl<R: Read> Parts<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, left: 0, stream: Stream::Stdout }
    }

    /// Returns the next bytes; nothing at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<(Stream, Vec<u8>)>> {
        while self.left == 0 {
            let mut header = [0; 8];
            match self.reader.read(&mut header[..1])? {
                0 => return Ok(None),
                _ => self.reader.read_exact(&mut header[1..])?,
            }
            self.stream = if header[0] == 2 { Stream::Stderr } else { Stream::Stdout };
            self.left = u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize;
        }
        let mut bytes = vec![0; self.left.min(MAX_PART)];
        let count = self.reader.read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.truncate(count);
        self.left -= count;
        Ok(Some((self.stream, bytes)))
    }
}

/// The stdout part of a stream as a reader; stderr is left out.
pub(super) struct StdoutOf<R> {
    parts: Parts<R>,
    rest: Vec<u8>,
}

impl<R: Read> StdoutOf<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { parts: Parts::new(reader), rest: Vec::new() }
    }
}

impl<R: Read> Read for StdoutOf<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.parts.next()? {
                None => return Ok(0),
                Some((Stream::Stdout, bytes)) => self.rest = bytes,
                Some((Stream::Stderr, _)) => {}
            }
        }
        let count = buffer.len().min(self.rest.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart_by_their_headers() {
        let sent: &[u8] = b"\x01\0\0\0\0\0\0\x02ab\x02\0\0\0\0\0\0\x01x\x01\0\0\0\0\0\0\0";
        let mut parts = Parts::new(sent);
        assert_eq!(parts.next().unwrap(), Some((Stream::Stdout, b"ab".to_vec())));
        assert_eq!(parts.next().unwrap(), Some((Stream::Stderr, b"x".to_vec())));
        assert_eq!(parts.next().unwrap(), None);
        let mut stdout = String::new();
        StdoutOf::new(sent).read_to_string(&mut stdout).unwrap();
        assert_eq!(stdout, "ab");
        assert!(Parts::new(&sent[..9]).next().is_ok());
        assert!(Parts::new(&sent[..5]).next().is_err());
    }
}
