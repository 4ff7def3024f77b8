//! Moves output from the pipes to the log.

use std::os::fd::AsFd;

use mw_model::Stream;
use rustix::io::Errno;

use super::log::{CHUNK, Log, Moved};
use crate::clock;
use crate::files::Files;
use crate::spawn::pipe::OutputPipe;
use crate::sys;

/// Maximum number of bytes moved per stream before other work is done.
const TURN_BYTES: u64 = 8 << 20;

/// Moves what the pipes hold to the log, or measures a log that the task writes itself; returns whether there was anything.
pub(crate) fn pump(files: &mut Files) -> bool {
    if let Some(direct) = &files.direct {
        direct.clear();
        return files.log.measure();
    }
    if let Some(terminal) = &files.terminal {
        drain_terminal(&terminal.ours, &files.stdout);
    }
    let taken = take_all(files);
    files.log.manage_writer(&files.journal);
    taken
}

fn take_all(files: &mut Files) -> bool {
    if is_waiting(&files.stdout.read) || is_waiting(&files.stderr.read) {
        // Before any output is taken, because it may fill the disk.
        files.space.ensure();
    }
    let out = take(&mut files.log, Stream::Stdout, &files.stdout.read);
    let err = take(&mut files.log, Stream::Stderr, &files.stderr.read);
    out || err
}

/// Moves everything to the log, until a deadline. All that was taken is in the log when this returns.
pub(crate) fn drain(files: &mut Files, deadline_ms: u64) {
    while pump(files) && clock::monotonic_ms() < deadline_ms {}
    if files.log.is_written_elsewhere() {
        files.log.rejoin();
        while take_all(files) && clock::monotonic_ms() < deadline_ms {}
    }
    files.log.mark_drops();
}

/// Returns whether a pipe holds anything.
fn is_waiting(source: &impl AsFd) -> bool {
    rustix::io::ioctl_fionread(source).unwrap_or(0) > 0
}

fn take(log: &mut Log, stream: Stream, source: impl AsFd) -> bool {
    let now = clock::wall().as_micros().max(0) as u64;
    let mut taken = 0;
    while taken < TURN_BYTES && !log.needs_writer() {
        // No index entry for an empty pipe.
        if !is_waiting(&source) {
            break;
        }
        match log.append_from(stream, &source, now) {
            Moved::Bytes(0) | Moved::Nothing => break,
            Moved::Bytes(count) => taken += count,
        }
    }
    taken > 0
}

/// A terminal cannot be spliced into a file, so its output goes through the stdout pipe.
fn drain_terminal(terminal: &impl AsFd, pipe: &OutputPipe) {
    loop {
        match sys::move_bytes(terminal, &pipe.write, CHUNK) {
            Ok(0) | Err(Errno::AGAIN | Errno::IO) => return,
            Ok(_) => {}
            Err(_) => return copy_terminal(terminal, pipe),
        }
    }
}

/// For kernels that cannot splice terminals. Only this process empties the pipe, so a write must never block: an
/// empty pipe has room for a page.
fn copy_terminal(terminal: &impl AsFd, pipe: &OutputPipe) {
    const PAGE: usize = 4 << 10;
    if rustix::io::ioctl_fionread(&pipe.read).is_ok_and(|waiting| waiting > 0) {
        return;
    }
    let mut buffer = [0; PAGE];
    let mut left = match rustix::io::read(terminal, &mut buffer) {
        Ok(read) => &buffer[..read],
        Err(_) => return,
    };
    while !left.is_empty() {
        match rustix::io::write(&pipe.write, left) {
            Ok(written) => left = &left[written..],
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn copying_a_terminal_never_blocks_on_a_full_pipe_and_loses_nothing() {
        let (ours, mut task) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let text: Vec<u8> = (0..2_000_000_u32).map(|number| number as u8).collect();
        let sent = text.clone();
        std::thread::spawn(move || task.write_all(&sent));
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let pipe = OutputPipe::new().unwrap();
            let (mut received, mut buffer) = (Vec::<u8>::new(), vec![0; 1 << 20]);
            while received.len() < 2_000_000 {
                // More bytes are waiting than a pipe holds.
                for _ in 0..300 {
                    copy_terminal(&ours, &pipe);
                }
                let read = rustix::io::read(&pipe.read, &mut buffer).unwrap_or(0);
                received.extend(&buffer[..read]);
            }
            let _ = sender.send(received);
        });
        let received = receiver.recv_timeout(Duration::from_secs(60)).expect("the copy blocks");
        assert!(received == text, "bytes were lost");
    }
}
