//! The client's side of a supervisor's control socket.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use mw_model::TaskId;
use mw_model::wire::{CONTROL_SOCKET, CONTROL_VERSION, ControlReply, ControlRequest, Operation};

use crate::disk::home::Home;
use crate::disk::optional_file::is_absent;
use crate::disk::platform;
use crate::disk::platform::short;
use crate::error::{Error, Result};

/// How long a supervisor may take to answer a request whose answer is optional.
pub(crate) const SILENCE: Duration = Duration::from_millis(800);
/// How long the supervisor of a new task may take to listen.
pub(crate) const NEW_SUPERVISOR: Duration = Duration::from_millis(50);
/// How long the others may take once one has not answered: together they take as long as one.
const REST: Duration = Duration::from_millis(30);
/// How long a supervisor that did not answer is not asked again.
const PAUSE: Duration = Duration::from_secs(5);

/// Supervisors that did not answer recently.
#[derive(Default)]
pub(crate) struct Unresponsive {
    since: RefCell<HashMap<TaskId, Instant>>,
}

impl Unresponsive {
    /// Returns whether a task's supervisor did not answer recently.
    pub(crate) fn has(&self, id: &TaskId) -> bool {
        self.since.borrow().get(id).is_some_and(|since| since.elapsed() < PAUSE)
    }

    pub(crate) fn note(&self, id: &TaskId) {
        self.since.borrow_mut().insert(id.clone(), Instant::now());
    }

    pub(crate) fn timeout(&self) -> Duration {
        let mut since = self.since.borrow_mut();
        since.retain(|_, since| since.elapsed() < PAUSE);
        if since.is_empty() { SILENCE } else { REST }
    }
}

/// A connection to a task's supervisor.
pub(crate) struct Connection {
    reader: BufReader<UnixStream>,
}

impl Connection {
    /// Connects to a task's supervisor. Fails if there is none.
    pub(crate) fn connect(home: &Home, id: &TaskId) -> io::Result<Self> {
        let stream = short(&home.task(id).join(CONTROL_SOCKET), |path| UnixStream::connect(path))?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    /// Returns whether a supervisor accepts connections.
    pub(crate) fn answers(home: &Home, id: &TaskId) -> Result<bool> {
        match Self::connect(home, id) {
            Ok(_) => Ok(true),
            Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::ConnectionRefused => Ok(false),
            // Its backlog is full, so it is alive.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(error) => Err(Error::io(format!("cannot reach the supervisor of {id}"))(error)),
        }
    }

    /// Connects to a supervisor that may have been started just now.
    pub(crate) fn connect_patiently(home: &Home, id: &TaskId) -> io::Result<Self> {
        Self::connect_within(home, id, Duration::from_secs(2))
    }

    /// Connects to a supervisor, and retries for up to the given time.
    pub(crate) fn connect_within(home: &Home, id: &TaskId, longest: Duration) -> io::Result<Self> {
        let until = Instant::now() + longest;
        loop {
            match Self::connect(home, id) {
                Err(_) if Instant::now() < until && home.task(id).is_supervised().unwrap_or(true) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                connected => return connected,
            }
        }
    }

    pub(crate) fn send(&mut self, operation: Operation) -> io::Result<()> {
        let mut text = serde_json::to_vec(&ControlRequest { v: CONTROL_VERSION, operation })?;
        text.push(b'\n');
        self.reader.get_mut().write_all(&text)
    }

    /// Waits for the reply to the last request. Fails if the supervisor exits first.
    pub(crate) fn reply(&mut self) -> io::Result<ControlReply> {
        let mut text = String::new();
        if self.reader.read_line(&mut text)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        serde_json::from_str(&text).map_err(io::Error::from)
    }

    /// Returns the process that listens, if the system reports it.
    pub(crate) fn peer(&self) -> Option<u32> {
        platform::peer_of(self.reader.get_ref().as_fd())
    }

    pub(crate) fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.reader.get_ref().set_read_timeout(timeout)
    }

    pub(crate) fn ask(&mut self, operation: Operation) -> io::Result<ControlReply> {
        self.send(operation)?;
        self.reply()
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.get_ref().as_fd()
    }
}
