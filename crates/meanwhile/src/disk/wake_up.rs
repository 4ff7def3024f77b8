//! Wake-up sockets: every writer wakes every waiting process.
//!
//! A waiter binds a datagram socket in the home's `bells` directory, and a writer sends a byte to each socket. A
//! wake-up may be lost if the waiter's buffer is full or the writer is killed, so waiters also check from time to
//! time.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::home::Home;
use super::platform;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Wakes up when another process has changed something in a home. It becomes readable then.
///
/// Its socket is removed when it is dropped. The next writer removes the socket of a killed process.
#[derive(Debug)]
pub struct Listener {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Listener {
    /// Starts listening. Every change after this call wakes the listener.
    pub(crate) fn new(home: &Home) -> io::Result<Self> {
        let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = home.listeners().join(name);
        let _ = fs::remove_file(&path);
        let socket = platform::short(&path, |path| UnixDatagram::bind(path))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path })
    }

    /// Sleeps until a process has changed something since the last call, or until the time is up.
    pub fn wait(&self, longest: Duration) {
        platform::is_readable_within(self, longest);
        self.clear();
    }

    /// Discards the wake-ups received so far.
    pub fn clear(&self) {
        let mut byte = [0; 8];
        while self.socket.recv(&mut byte).is_ok() {}
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Wakes all waiters.
pub(crate) fn send(home: &Home) {
    let Ok(entries) = fs::read_dir(home.listeners()) else {
        return;
    };
    let mut socket = None;
    for entry in entries.flatten() {
        let Some(socket) = socket.get_or_insert_with(|| {
            UnixDatagram::unbound().and_then(|s| s.set_nonblocking(true).map(|()| s)).ok()
        }) else {
            return;
        };
        let sent = platform::short(&entry.path(), |path| socket.send_to(&[1], path));
        if sent.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
