//! Moves output from the pipes to the log.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::clock;
use crate::files::Files;
use crate::log::{CHUNK, Log, Moved, Stream};
use crate::sys;

/// Most bytes taken per stream before other work gets its turn.
const TURN_BYTES: u64 = 8 << 20;

/// Takes what the pipes hold; returns whether there was anything.
pub(crate) fn pump(files: &mut Files) -> bool {
    if let Some(terminal) = &files.terminal {
        drain_terminal(&terminal.ours, &files.stdout.write);
    }
    let out = take(&mut files.log, Stream::Stdout, &files.stdout.read);
    let err = take(&mut files.log, Stream::Stderr, &files.stderr.read);
    out || err
}

fn take(log: &mut Log, stream: Stream, source: impl AsFd) -> bool {
    let now = clock::wall().as_micros().max(0) as u64;
    let mut taken = 0;
    while taken < TURN_BYTES {
        // An empty pipe must not be announced in the index.
        let waiting = match log.shared_ahead(stream) {
            Some(shared) => shared,
            None => rustix::io::ioctl_fionread(&source).unwrap_or(0),
        };
        if waiting == 0 {
            break;
        }
        match log.append_from(stream, &source, waiting, now) {
            Moved::Bytes(0) | Moved::Nothing => break,
            Moved::Bytes(count) => taken += count,
        }
    }
    taken > 0
}

/// A terminal cannot be spliced into a file, so its output goes through the stdout pipe.
fn drain_terminal(terminal: &impl AsFd, pipe: &impl AsFd) {
    loop {
        match sys::move_bytes(terminal, pipe, CHUNK) {
            Ok(0) | Err(Errno::AGAIN | Errno::IO) => return,
            Ok(_) => {}
            Err(_) => return copy_terminal(terminal, pipe),
        }
    }
}

/// For kernels whose terminals cannot be spliced at all.
fn copy_terminal(terminal: &impl AsFd, pipe: &impl AsFd) {
    let mut buffer = [0; 4096];
    while let Ok(read) = rustix::io::read(terminal, &mut buffer) {
        if read == 0 || rustix::io::write(pipe, &buffer[..read]).is_err() {
            return;
        }
    }
}
