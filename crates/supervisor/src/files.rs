//! The descriptors of a task directory, which is the current directory of this process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

use mw_model::Io;
use mw_model::wire::{
    CONTROL_SOCKET, JOURNAL_FILE, Launch, SPEC_FILE, STDERR_FIFO, STDIN_FIFO, STDOUT_FIFO, StartMessage,
};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags};

use crate::log::{CHUNK, Log};
use crate::record;
use crate::sys::Board;
use crate::terminal::Terminal;

/// Everything a supervisor holds open. Guardian and supervisor have the same.
pub(crate) struct Files {
    /// Locked for as long as either of the two lives: the proof of life.
    _lock: File,
    pub(crate) journal: File,
    pub(crate) log: Log,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) terminal: Option<Terminal>,
    pub(crate) listener: UnixListener,
}

/// Locks the task against a second supervisor; nothing when it is locked already.
pub(crate) fn lock() -> io::Result<Option<File>> {
    let file = File::open(SPEC_FILE)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Files {
    /// Makes the files of a new run, or opens those of one that is adopted.
    pub(crate) fn open(lock: File, message: &StartMessage, board: Board) -> io::Result<Self> {
        let here = Path::new(".");
        let cap = message.limits.output_cap;
        let log = match &message.launch {
            Launch::Spawn { .. } => {
                for name in [STDOUT_FIFO, STDERR_FIFO] {
                    make_fifo(name)?;
                }
                Log::create(here, cap, message.log_header.as_deref(), board)?
            }
            Launch::Adopt { .. } => Log::recover(here, cap, board)?,
        };
        let stdin = match message.io {
            Io::Stdin => Some(open_stdin(&message.launch)?),
            Io::Pipes | Io::Pty { .. } => None,
        };
        let terminal = match (message.io, &message.launch) {
            (Io::Pty { rows, cols }, Launch::Spawn { .. }) => Some(Terminal::open(rows, cols)?),
            _ => None,
        };
        let journal = record::private(OpenOptions::new().create(true).append(true), JOURNAL_FILE)?;
        let _ = fs::remove_file(CONTROL_SOCKET);
        let listener = UnixListener::bind(CONTROL_SOCKET)?;
        listener.set_nonblocking(true)?;
        let (stdout, stderr) = (open_pipe(STDOUT_FIFO)?, open_pipe(STDERR_FIFO)?);
        Ok(Self {
            _lock: lock,
            journal,
            log,
            stdout,
            stderr,
            stdin,
            terminal,
            listener,
        })
    }
}

/// Removes pipes and socket: nobody is left at either end.
pub(crate) fn remove_endpoints() {
    for name in [STDOUT_FIFO, STDERR_FIFO, STDIN_FIFO, CONTROL_SOCKET] {
        let _ = fs::remove_file(name);
    }
}

fn make_fifo(name: &str) -> io::Result<()> {
    let _ = fs::remove_file(name);
    Ok(rustix::fs::mkfifoat(CWD, name, Mode::RUSR | Mode::WUSR)?)
}

/// Opens our end of an output pipe: read-write, so that it never reports an end.
fn open_pipe(name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = rustix::fs::open(name, flags, Mode::empty())?;
    // Best effort: the kernel limits how much pipe memory one user may ask for.
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe, CHUNK);
    Ok(pipe)
}

/// Opens the command's end of an output pipe: read-write too, so that a reader is never missing even
/// when all of ours are dead.
pub(crate) fn open_for_command(name: &str) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        name,
        OFlags::RDWR | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Opens the command's standard input; the writing end must be open already.
pub(crate) fn open_stdin_for_command() -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let end = rustix::fs::open(STDIN_FIFO, flags, Mode::empty())?;
    rustix::io::ioctl_fionbio(&end, false)?;
    Ok(end)
}

fn open_stdin(launch: &Launch) -> io::Result<OwnedFd> {
    if matches!(launch, Launch::Spawn { .. }) {
        make_fifo(STDIN_FIFO)?;
    }
    // A writing end cannot be opened while nobody reads, so somebody does for a moment.
    let _reader = rustix::fs::open(
        STDIN_FIFO,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(STDIN_FIFO, flags, Mode::empty())?)
}
