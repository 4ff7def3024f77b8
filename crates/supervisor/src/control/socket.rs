//! The control socket: one JSON line in, one JSON line out, immediately or after an event.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use mw_model::wire::{CONTROL_VERSION, ControlReply, ControlRequest, Operation};

use crate::boot::descriptors::{is_file_shortage, with_enough};
use crate::sys;

/// The longest request line; clients send long input in parts.
const LONGEST_LINE: usize = 256 << 10;
/// Maximum number of connections at a time. A further connection closes the oldest, whose client then polls.
const MAX: usize = 256;
/// How many descriptors are kept free for other work during a shortage.
const SPARE: usize = 8;
/// How long to wait for descriptors if no connection can be closed.
const SHORTAGE_PAUSE_MS: u64 = 10;

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Nothing yet.
    None,
    /// The end of the first process.
    End,
    /// Readiness, or the end.
    Ready,
    /// Output past this offset, or the end.
    Output(u64),
    /// The end of the whole tree.
    TreeEnd,
}

struct Connection {
    stream: UnixStream,
    buffer: Vec<u8>,
    interest: Interest,
    open: bool,
}

/// Index of a connection, valid until [`Connections::sweep`].
pub(crate) type ConnectionIndex = usize;

/// All connections, the oldest first.
pub(crate) struct Connections {
    open: Vec<Connection>,
    most: usize,
}

impl Default for Connections {
    fn default() -> Self {
        Self { open: Vec::new(), most: MAX }
    }
}

impl Connections {
    /// Accepts new connections from processes of the same user.
    pub(crate) fn accept(&mut self, listener: &UnixListener) {
        loop {
            match with_enough(|| listener.accept()) {
                Ok((stream, _)) if same_user(&stream) && stream.set_nonblocking(true).is_ok() => {
                    self.make_room();
                    let (buffer, interest) = (Vec::new(), Interest::None);
                    self.open.push(Connection { stream, buffer, interest, open: true });
                }
                Ok(_) => {}
                Err(error) if is_file_shortage(&error) && !self.open.is_empty() => {
                    self.most = self.open.len().saturating_sub(SPARE).max(1);
                    self.make_room();
                }
                Err(error) if is_file_shortage(&error) => {
                    // The listener stays readable, so without a pause this would be a busy loop.
                    return std::thread::sleep(Duration::from_millis(SHORTAGE_PAUSE_MS));
                }
                Err(_) => return,
            }
        }
    }

    /// Closes the oldest connections until there is room for one more.
    fn make_room(&mut self) {
        let surplus = (self.open.len() + 1).saturating_sub(self.most);
        self.open.drain(..surplus);
    }

    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.open.iter().map(|connection| connection.stream.as_fd())
    }

    /// Reads available input and returns the complete requests.
    pub(crate) fn requests(&mut self) -> Vec<(ConnectionIndex, Operation)> {
        let mut found = Vec::new();
        for (slot, connection) in self.open.iter_mut().enumerate() {
            connection.fill();
            while let Some(end) = connection.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = connection.buffer.drain(..=end).collect();
                match serde_json::from_slice::<ControlRequest>(&line) {
                    Ok(request) if request.v == CONTROL_VERSION => found.push((slot, request.operation)),
                    Ok(request) => {
                        connection.refuse(&format!(
                            "control version {} is not supported, only {CONTROL_VERSION}",
                            request.v
                        ));
                    }
                    Err(error) => connection.refuse(&format!("not a request: {error}")),
                }
            }
        }
        found
    }

    pub(crate) fn set_interest(&mut self, slot: ConnectionIndex, interest: Interest) {
        self.open[slot].interest = interest;
    }

    pub(crate) fn reply(&mut self, slot: ConnectionIndex, reply: &ControlReply) {
        self.open[slot].send(reply);
    }

    /// Answers every connection for whose interest `answer` returns a reply.
    pub(crate) fn answer(&mut self, answer: impl Fn(Interest) -> Option<ControlReply>) {
        for connection in &mut self.open {
            if connection.interest != Interest::None
                && let Some(reply) = answer(connection.interest)
            {
                connection.interest = Interest::None;
                connection.send(&reply);
            }
        }
    }

    pub(crate) fn any_waits_for(&self, interest: Interest) -> bool {
        self.open.iter().any(|connection| connection.interest == interest)
    }

    pub(crate) fn any_waits_for_output(&self) -> bool {
        self.open.iter().any(|connection| matches!(connection.interest, Interest::Output(_)))
    }

    /// Forgets closed connections.
    pub(crate) fn sweep(&mut self) {
        self.open.retain(|connection| connection.open);
    }
}

impl Connection {
    fn fill(&mut self) {
        let mut part = [0; 4096];
        while self.open {
            match self.stream.read(&mut part) {
                Ok(0) => self.open = false,
                Ok(read) => self.buffer.extend_from_slice(&part[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.open = false,
            }
            if self.buffer.len() > LONGEST_LINE && !self.buffer.contains(&b'\n') {
                self.refuse("the request is longer than 256 KiB: send it in parts");
                self.open = false;
            }
        }
    }

    fn refuse(&mut self, message: &str) {
        self.send(&ControlReply::Refused { message: message.to_owned() });
    }

    /// A reply fits into the socket's buffer; a client that does not read loses its connection.
    fn send(&mut self, reply: &ControlReply) {
        let Ok(mut line) = serde_json::to_vec(reply) else {
            return;
        };
        line.push(b'\n');
        if self.stream.write_all(&line).is_err() {
            self.open = false;
        }
    }
}

fn same_user(stream: &UnixStream) -> bool {
    sys::peer_uid(stream).is_some_and(|uid| uid == rustix::process::getuid().as_raw() || uid == 0)
}
