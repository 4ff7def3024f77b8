//! Collects the output of a running command.

use std::io::Read;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The output of one stream so far.
pub(crate) struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    closed: Receiver<()>,
}

impl Capture {
    /// Reads `from` to its end, in the background.
    pub(crate) fn of(mut from: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (close, closed) = channel();
        let sink = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            // A terminal whose other side is closed returns an error, not an end of file.
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                sink.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
            }
            close.send(()).ok();
        });
        Self { bytes, closed }
    }

    /// Returns a copy of the output so far.
    pub(crate) fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the end of the stream; returns whether it came in time.
    pub(crate) fn ends_within(&self, limit: Duration) -> bool {
        self.closed.recv_timeout(limit).is_ok()
    }
}
