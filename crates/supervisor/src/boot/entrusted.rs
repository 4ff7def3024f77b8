//! What a supervisor entrusts to its guardian before it executes the command: the start message, and every descriptor that a
//! successor could not open again.
//!
//! The supervisor is forked before the start message arrives, so that no start waits for the fork. The guardian takes what
//! waits in their socket when the task has lived for some milliseconds, or when the supervisor was killed.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use mw_model::wire::StartMessage;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::run::Run;
use super::start_message::{MAX_PASSED, receive_from};
use crate::spawn::terminal::Terminal;

/// The length of the message, the number of slots, and which optional descriptors follow.
const HEADER: usize = 4 + 1 + 1;
const STDIN: u8 = 1;
const TERMINAL: u8 = 2;
const PROGRESS: u8 = 4;

/// What a guardian has received.
pub(super) struct Entrusted {
    pub(super) message: StartMessage,
    pub(super) directory: OwnedFd,
    /// Locked; the lock is shared with the supervisor.
    pub(super) journal: File,
    pub(super) slots: Vec<OwnedFd>,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) terminal: Option<Terminal>,
    pub(super) progress: Option<OwnedFd>,
}

/// Leaves everything with the guardian. Nothing is executed before this has succeeded.
pub(super) fn entrust(line: &UnixStream, text: &[u8], directory: &OwnedFd, run: &Run) -> io::Result<()> {
    let files = &run.files;
    let terminal = files.terminal.as_ref();
    let optional = [
        (STDIN, files.stdin.as_ref().map(AsFd::as_fd)),
        (TERMINAL, terminal.map(|terminal| terminal.ours.as_fd())),
        (TERMINAL, terminal.map(|terminal| terminal.task.as_fd())),
        (PROGRESS, files.progress.as_ref().map(AsFd::as_fd)),
    ];
    let mut passed = vec![directory.as_fd(), files.journal.as_fd()];
    passed.extend(run.slots.iter().map(AsFd::as_fd));
    let mut flags = 0;
    for (flag, descriptor) in optional {
        let Some(descriptor) = descriptor else { continue };
        flags |= flag;
        passed.push(descriptor);
    }
    let length = (text.len() as u32).to_le_bytes();
    let header: [u8; HEADER] = [length[0], length[1], length[2], length[3], run.slots.len() as u8, flags];
    send_all(line, &header, text, &passed)
}

fn send_all(line: &UnixStream, header: &[u8], text: &[u8], passed: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_PASSED))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(passed));
    let parts = [IoSlice::new(header), IoSlice::new(text)];
    let sent = sendmsg(line, &parts, &mut ancillary, SendFlags::NOSIGNAL)?;
    // A socket takes more than the header at once.
    let begun = sent.checked_sub(header.len()).ok_or(io::ErrorKind::WriteZero)?;
    let mut line = line;
    line.write_all(&text[begun..])
}

/// Takes what the supervisor has left; nothing if it was killed before it had left everything.
pub(super) fn receive(line: &UnixStream) -> io::Result<Option<Entrusted>> {
    let mut header = [0; HEADER];
    let (received, descriptors) = receive_from(line, &mut header)?;
    if received < HEADER {
        return Ok(None);
    }
    let [a, b, c, d, slots, flags] = header;
    let mut text = vec![0; u32::from_le_bytes([a, b, c, d]) as usize];
    let mut line = line;
    match line.read_exact(&mut text) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or(io::Error::from(io::ErrorKind::UnexpectedEof));
    let has = |flag: u8| flags & flag != 0;
    Ok(Some(Entrusted {
        message: serde_json::from_slice(&text)?,
        directory: next()?,
        journal: next()?.into(),
        slots: (0..slots).map(|_| next()).collect::<io::Result<_>>()?,
        stdin: has(STDIN).then(&mut next).transpose()?,
        terminal: match has(TERMINAL) {
            true => Some(Terminal { ours: next()?, task: next()? }),
            false => None,
        },
        progress: has(PROGRESS).then(&mut next).transpose()?,
    }))
}
