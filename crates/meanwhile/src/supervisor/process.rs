//! Starts a supervisor process and hands it a task.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IoSlice};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use mw_model::wire::{MAX_SLOTS, RefusalCode, StartAnswer, StartMessage};
use mw_model::{Process, Timestamp};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::fork_server;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::settings::Executables;

/// What a supervisor is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To execute a command.
    Spawn,
    /// To adopt a running task.
    Adopt,
}

impl Purpose {
    const fn word(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Adopt => "adopt",
        }
    }
}

/// A supervisor process that waits for its start message. If this value is dropped first, the process exits.
pub(crate) struct SupervisorLink {
    /// The connection to it: a socket, because descriptors are passed through it.
    line: UnixStream,
    /// The process to wait for, if there is one.
    process: Option<Child>,
    /// The CPU of a process that waits for this one.
    caller_cpu: Option<u32>,
}

impl SupervisorLink {
    /// Starts a supervisor for the first run of a task.
    pub(crate) fn start(programs: &Executables) -> Result<Self> {
        Self::start_for(programs, Purpose::Spawn, 1)
    }

    /// Takes the connection to a supervisor that was forked by this process, which exits soon. `caller_cpu` is the CPU of the
    /// process that waits for that.
    pub(crate) const fn of(line: UnixStream, caller_cpu: Option<u32>) -> Self {
        Self { line, process: None, caller_cpu }
    }

    pub(crate) fn start_for(programs: &Executables, purpose: Purpose, run: u32) -> Result<Self> {
        let path = &programs.supervisor;
        let stays = programs.starter_exits;
        if purpose == Purpose::Spawn
            && !stays
            && let Some(line) = fork_server::fork_supervisor(path, run)
        {
            return Ok(Self { line, process: None, caller_cpu: None });
        }
        let no_socket = Error::io("cannot create a socket");
        let pair = UnixStream::pair().and_then(|(line, its_end)| Ok((line, its_end.try_clone()?, its_end)));
        let (line, stdin, stdout) = pair.map_err(no_socket)?;
        let process = Command::new(path)
            .args([purpose.word(), &run.to_string()])
            .args(stays.then_some("stay"))
            .stdin(OwnedFd::from(stdin))
            .stdout(OwnedFd::from(stdout))
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| Error::Supervisor { path: path.clone(), source })?;
        Ok(Self { line, process: (!stays).then_some(process), caller_cpu: None })
    }

    /// Sends it the task's directory, where it prepares. If it was killed, its answer will be missing.
    pub(crate) fn send_to(&self, directory: &File) {
        let _ = send(&self.line, b"d", &[directory.as_fd()]);
    }

    /// Sends it the start message and the slots; returns the process it started.
    pub(crate) fn hand_over(
        self,
        mut message: StartMessage,
        slots: &[BorrowedFd<'_>],
    ) -> Result<(Process, Timestamp)> {
        message.caller_cpu = self.caller_cpu;
        let gone = |what: &str| Error::Spawn {
            code: RefusalCode::System,
            message: format!("the supervisor {what}"),
        };
        let text = serde_json::to_vec(&message).map_err(|_| gone("did not accept the start message"))?;
        let _ = send(&self.line, &text, slots);
        let _ = self.line.shutdown(Shutdown::Write);
        fail_point("start-message-sent");
        let mut answer = String::new();
        if BufReader::with_capacity(256, &self.line).read_line(&mut answer).unwrap_or(0) == 0 {
            return Err(Error::Unanswered);
        }
        match serde_json::from_str(&answer) {
            Ok(StartAnswer::Started { process, started_at }) => Ok((process, started_at)),
            Ok(StartAnswer::Refused { code, message }) => Err(Error::Spawn { code, message }),
            Err(error) => Err(gone(&format!("gave an unreadable answer: {error}"))),
        }
    }
}

impl Drop for SupervisorLink {
    fn drop(&mut self) {
        // With a start message it continues without us; without one it exits at the end of its input.
        let _ = self.line.shutdown(Shutdown::Write);
        if let Some(process) = &mut self.process {
            let _ = process.wait();
        }
    }
}

/// Sends a message, and the descriptors with its first byte.
pub(super) fn send(line: &impl AsFd, text: &[u8], passed: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SLOTS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !passed.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(passed));
    }
    let mut sent = sendmsg(line, &[IoSlice::new(text)], &mut ancillary, SendFlags::NOSIGNAL)?;
    while sent < text.len() {
        sent += rustix::net::send(line, &text[sent..], SendFlags::NOSIGNAL)?;
    }
    Ok(())
}
