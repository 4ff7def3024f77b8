//! The open files of a run. The task's directory is the current directory of this process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;

use mw_model::Io;
use mw_model::Stream;
use mw_model::wire::{
    CONTROL_SOCKET, JOURNAL_FILE, JournalEntry, Launch, PROGRESS_FIFO, STDIN_FIFO, StartMessage,
};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::clock;
use crate::end::driver::started_driver;
use crate::end::record::{self, ReservedSpace};
use crate::end::tree::Tree;
use crate::output::direct::DirectOutput;
use crate::output::log::Log;
use crate::spawn::pipe::OutputPipe;
use crate::spawn::terminal::Terminal;
use crate::sys::{self, Board};

/// Everything that a supervisor holds open. Guardian and supervisor have the same.
pub(crate) struct Files {
    /// Locked as long as one of the two lives; the lock proves that.
    pub(crate) journal: File,
    pub(crate) log: Log,
    pub(crate) stdout: OutputPipe,
    pub(crate) stderr: OutputPipe,
    /// Set if the task writes the log itself. Then the pipes stay empty.
    pub(crate) direct: Option<DirectOutput>,
    /// Space for the exit record.
    pub(crate) space: ReservedSpace,
    /// Whether output may be missing, because a pipe was gone with its content.
    pub(crate) output_lost: bool,
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) terminal: Option<Terminal>,
    /// The pipe on which the task reports progress, if it has one.
    pub(crate) progress: Option<OwnedFd>,
    /// The ends for a command that has neither a terminal nor an open standard input.
    pub(crate) for_command: Option<CommandEnds>,
}

impl Files {
    /// Returns what to poll for more output, or for growth of the log.
    pub(crate) fn output(&self) -> impl Iterator<Item = PollFd<'_>> {
        let full = self.log.full_pipe(Stream::Stdout);
        let terminal = self.terminal.as_ref().filter(|_| full.is_none());
        let err = self.log.full_pipe(Stream::Stderr);
        let growth = self.direct.as_ref().and_then(DirectOutput::descriptor);
        [awaited(full, &self.stdout), awaited(err, &self.stderr)]
            .into_iter()
            .chain(terminal.map(|terminal| PollFd::from_borrowed_fd(terminal.ours.as_fd(), PollFlags::IN)))
            .chain(growth.map(|watch| PollFd::from_borrowed_fd(watch, PollFlags::IN)))
    }
}

/// Returns a pipe of the task, or the full pipe that must have room first.
fn awaited<'a>(full: Option<BorrowedFd<'a>>, pipe: &'a OutputPipe) -> PollFd<'a> {
    match full {
        Some(full) => PollFd::from_borrowed_fd(full, PollFlags::OUT),
        None => PollFd::from_borrowed_fd(pipe.read.as_fd(), PollFlags::IN),
    }
}

/// The command's ends of its streams, closed here as soon as it has them.
pub(crate) struct CommandEnds {
    pub(crate) null: File,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// The files that can be opened before the start message arrives.
pub(crate) struct Prepared {
    journal: File,
    log: Log,
    /// The pipes of a new run.
    pipes: Option<Pipes>,
}

/// The pipes of a new run, and the command's ends of them.
pub(crate) struct Pipes {
    stdout: OutputPipe,
    stderr: OutputPipe,
    ends: Option<CommandEnds>,
}

impl Pipes {
    pub(crate) fn new() -> io::Result<Self> {
        let (stdout, stderr) = (OutputPipe::new()?, OutputPipe::new()?);
        let ends = CommandEnds {
            null: File::open("/dev/null")?,
            stdout: stdout.for_command()?,
            stderr: stderr.for_command()?,
        };
        Ok(Self { stdout, stderr, ends: Some(ends) })
    }

    /// Closes the command's ends, in a process that does not execute it.
    pub(crate) fn close_ends(&mut self) {
        self.ends = None;
    }
}

/// Opens the journal and locks it against a second supervisor; nothing if it is locked.
pub(crate) fn lock_journal() -> io::Result<Option<File>> {
    let file = record::private(OpenOptions::new().create(true).append(true), JOURNAL_FILE)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Prepared {
    /// Creates the log of a new run.
    pub(crate) fn for_spawn(journal: File, board: Board, pipes: Pipes) -> io::Result<Self> {
        Ok(Self { journal, log: Log::create(Path::new("."), board)?, pipes: Some(pipes) })
    }

    /// Opens the log of a run that is adopted.
    pub(crate) fn for_adoption(journal: File, board: Board) -> io::Result<Self> {
        Ok(Self { journal, log: Log::recover(Path::new("."), board)?, pipes: None })
    }

    /// Opens what the start message asks for.
    pub(crate) fn complete(self, message: &StartMessage, run: u32) -> io::Result<Files> {
        let Self { journal, mut log, pipes } = self;
        log.set_cap(message.limits.output_cap);
        if let (Launch::Spawn { .. }, Some(header)) = (&message.launch, &message.log_header) {
            log.write_header(&format!("{header}# Started: {}\n", clock::wall()))?;
        }
        let (stdout, stderr, for_command, output_lost) = match pipes {
            Some(Pipes { stdout, stderr, ends }) => (stdout, stderr, ends, false),
            None => {
                let direct = message.io == Io::Direct;
                let [stdout, stderr] = if direct { [None, None] } else { find_pipes(message, run)? };
                // What a driver had printed is still at the place, from where another driver gets it again.
                let is_kept = direct || message.driver.is_some();
                let output_lost = !is_kept && (stdout.is_none() || stderr.is_none());
                // Nothing more can come from a pipe that is gone; a new pipe stays empty as well.
                let or_new = |pipe: Option<OutputPipe>| pipe.map_or_else(OutputPipe::new, Ok);
                (or_new(stdout)?, or_new(stderr)?, None, output_lost)
            }
        };
        let stdin = match message.io {
            Io::Stdin => Some(open_stdin(&message.launch)?),
            Io::Pipes | Io::Direct | Io::Pty { .. } | Io::PtyAndPipe { .. } => None,
        };
        let direct = (message.io == Io::Direct).then(DirectOutput::default);
        let terminal = match (message.io.terminal(), &message.launch) {
            (Some((rows, cols)), Launch::Spawn { .. }) => Some(Terminal::open(rows, cols)?),
            _ => None,
        };
        let progress = if message.progress { open_progress(&message.launch)? } else { None };
        Ok(Files {
            journal,
            log,
            stdout,
            stderr,
            direct,
            space: ReservedSpace::default(),
            output_lost,
            stdin,
            terminal,
            progress,
            for_command,
        })
    }
}

impl Files {
    /// What a guardian needs of a new run. It opens the log when it has to continue it.
    pub(crate) fn entrusted(
        message: &StartMessage,
        journal: File,
        Pipes { stdout, stderr, .. }: Pipes,
        (stdin, terminal, progress): (Option<OwnedFd>, Option<Terminal>, Option<OwnedFd>),
        board: Board,
    ) -> io::Result<Self> {
        let mut log = Log::unopened(Path::new("."), board)?;
        log.set_cap(message.limits.output_cap);
        Ok(Self {
            journal,
            log,
            stdout,
            stderr,
            direct: (message.io == Io::Direct).then(DirectOutput::default),
            space: ReservedSpace::default(),
            output_lost: false,
            stdin,
            terminal,
            progress,
            for_command: None,
        })
    }
}

fn find_pipes(message: &StartMessage, run: u32) -> io::Result<[Option<OutputPipe>; 2]> {
    let journal = record::read_journal(run)?;
    let pipes = journal.iter().rev().find_map(|line| match line.entry {
        JournalEntry::Spawning { pipes, .. } | JournalEntry::DriverStarted { pipes, .. } => Some(pipes),
        _ => None,
    });
    let [stdout, stderr] = pipes.unwrap_or_default();
    let holders: Vec<u32> = match &message.launch {
        Launch::Adopt { process, .. } => {
            let living = Tree::of_orphan(message.task.as_str(), process).living(None);
            if !living.is_whole {
                return Err(rustix::io::Errno::MFILE.into());
            }
            let drivers = journal.iter().filter_map(started_driver).map(|driver| driver.pid);
            [process.pid].into_iter().chain(drivers).chain(living.processes.into_keys()).collect()
        }
        Launch::Spawn { .. } => Vec::new(),
    };
    Ok([
        OutputPipe::find(stdout, holders.iter().copied())?,
        OutputPipe::find(stderr, holders.iter().copied())?,
    ])
}

/// Opens the control socket. A client that connects too early tries again.
pub(crate) fn listen() -> io::Result<UnixListener> {
    let _ = fs::remove_file(CONTROL_SOCKET);
    let listener = UnixListener::bind(CONTROL_SOCKET)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Removes named pipes and the socket, which are no longer used.
pub(crate) fn remove_endpoints(message: &StartMessage) {
    let stdin = (message.io == Io::Stdin).then_some(STDIN_FIFO);
    let progress = message.progress.then_some(PROGRESS_FIFO);
    for name in stdin.into_iter().chain(progress).chain([CONTROL_SOCKET]) {
        let _ = fs::remove_file(name);
    }
}

/// Opens the command's standard input; the writing end must be open already.
pub(crate) fn open_stdin_for_command() -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let end = rustix::fs::open(STDIN_FIFO, flags, Mode::empty())?;
    rustix::io::ioctl_fionbio(&end, false)?;
    Ok(end)
}

/// Opens our end of the progress pipe; an adopted task continues without it if necessary.
fn open_progress(launch: &Launch) -> io::Result<Option<OwnedFd>> {
    // Open for both directions, so that it never reports an end of input.
    let open =
        || rustix::fs::open(PROGRESS_FIFO, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
    match launch {
        Launch::Spawn { .. } => {
            let _ = fs::remove_file(PROGRESS_FIFO);
            sys::make_fifo(PROGRESS_FIFO)?;
            Ok(Some(open()?))
        }
        Launch::Adopt { .. } => Ok(open().ok()),
    }
}

/// Opens the command's end of the progress pipe for both directions, so that it always has a reader.
pub(crate) fn open_progress_for_command() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(PROGRESS_FIFO, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens our end of standard input. It is a named pipe, so that an adopter can open it again.
fn open_stdin(launch: &Launch) -> io::Result<OwnedFd> {
    if matches!(launch, Launch::Spawn { .. }) {
        let _ = fs::remove_file(STDIN_FIFO);
        sys::make_fifo(STDIN_FIFO)?;
    }
    // A writing end can only be opened while there is a reader.
    let _reader =
        rustix::fs::open(STDIN_FIFO, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(STDIN_FIFO, flags, Mode::empty())?)
}
