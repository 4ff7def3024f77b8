//! The start message: one JSON text on standard input, together with the task's directory and its slots.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use mw_model::wire::{MAX_SLOTS, RefusalCode, START_VERSION, StartMessage};
use rustix::io::{Errno, FdFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};

use super::bootstrap::StartRefusal;

/// Maximum number of descriptors in one message: those that a supervisor entrusts to its guardian.
pub(super) const MAX_PASSED: usize = 6 + MAX_SLOTS;

/// A start message and its descriptors.
pub(super) struct Received {
    /// The message as it arrived.
    pub(super) text: Vec<u8>,
    pub(super) message: StartMessage,
    pub(super) slots: Vec<OwnedFd>,
}

/// Reads the start message and its descriptors; nothing when the start was cancelled.
#[inline(never)]
pub(super) fn read_message() -> Option<Result<Received, StartRefusal>> {
    let (text, slots) = match receive() {
        Ok(received) => received,
        // Without its slots the task would exceed the limit of running tasks.
        Err(error) => return Some(Err(StartRefusal::system("start message", &error))),
    };
    if text.is_empty() {
        return None;
    }
    let bad = |message: String| StartRefusal { code: RefusalCode::Version, message };
    let message =
        serde_json::from_slice::<StartMessage>(&text).map_err(|error| bad(format!("start message: {error}")));
    Some(message.and_then(|message| match message.version {
        1..=START_VERSION => Ok(Received { text, message, slots }),
        other => {
            Err(bad(format!("start message has version {other}, this supervisor supports {START_VERSION}")))
        }
    }))
}

/// Receives the task's directory, which comes first; nothing when the start was cancelled.
pub(super) fn receive_directory() -> io::Result<Option<OwnedFd>> {
    Ok(receive_some(&mut [0])?.1.pop())
}

/// Receives bytes and descriptors from standard input until its end.
fn receive() -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut text, mut slots) = (Vec::new(), Vec::new());
    let mut part = [0; 2 << 10];
    loop {
        let (got, descriptors) = receive_some(&mut part)?;
        if got == 0 {
            return Ok((text, slots));
        }
        text.extend_from_slice(&part[..got]);
        slots.extend(descriptors);
    }
}

/// Receives one message from standard input; an error if a descriptor in it could not be received.
pub(super) fn receive_some(part: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    receive_from(rustix::stdio::stdin(), part)
}

/// Receives one message; an error if a descriptor in it could not be received.
pub(crate) fn receive_from(line: impl AsFd, part: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_PASSED))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let parts = &mut [IoSliceMut::new(part)];
        let received = match recvmsg(&line, parts, &mut ancillary, RecvFlags::empty()) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(passed) = message {
                descriptors.extend(passed);
            }
        }
        // The command must not inherit them.
        for descriptor in &descriptors {
            rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
        }
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(Errno::MFILE.into());
        }
        return Ok((received.bytes, descriptors));
    }
}
