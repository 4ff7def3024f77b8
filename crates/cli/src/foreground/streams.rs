//! The streams that the output of a task is written to.

use std::io::{self, ErrorKind, IsTerminal, Write};

use meanwhile::engine::Piece;
use meanwhile::engine::model::Io;

use crate::render;

/// Standard output and error for the output of a task.
///
/// A reader that closes a pipe (`| head`) ends the writing to that stream only, because the exit code still matters. Every
/// other failure to write is an error.
pub(crate) struct Streams {
    /// Whether the task's terminal has ended its lines as ours does once more, unless it is in raw mode.
    lines_end_twice: bool,
    is_raw: bool,
    stdout_is_read: bool,
    stderr_is_read: bool,
}

impl Streams {
    /// Makes those of a task with such streams.
    pub(crate) fn of(task: &Io) -> Self {
        let lines_end_twice = task.terminal().is_some() && io::stdout().is_terminal();
        Self { lines_end_twice, is_raw: false, stdout_is_read: true, stderr_is_read: true }
    }

    /// Notes whether our own terminal is in raw mode now.
    pub(crate) const fn set_raw(&mut self, is_raw: bool) {
        self.is_raw = is_raw;
    }

    /// Returns whether a stream still has a reader.
    pub(crate) const fn is_read(&self) -> bool {
        self.stdout_is_read || self.stderr_is_read
    }

    pub(crate) fn write(&mut self, pieces: &[Piece]) -> io::Result<()> {
        for piece in pieces {
            match piece {
                Piece::Stdout(bytes) => {
                    let bytes = if self.lines_end_twice && !self.is_raw { &ended_once(bytes) } else { bytes };
                    write_on(&mut io::stdout().lock(), "standard output", bytes, &mut self.stdout_is_read)?;
                }
                Piece::Stderr(bytes) => {
                    write_on(&mut io::stderr().lock(), "standard error", bytes, &mut self.stderr_is_read)?;
                }
                Piece::Dropped(count) => render::note(&format!("{count} bytes of output were dropped here")),
            }
        }
        Ok(())
    }
}

/// Removes carriage returns that our own terminal adds again.
fn ended_once(bytes: &[u8]) -> Vec<u8> {
    let mut once = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => once.extend(line.iter().chain(b"\n")),
            None => once.extend_from_slice(line),
        }
    }
    once
}

fn write_on(out: &mut impl Write, name: &str, bytes: &[u8], is_read: &mut bool) -> io::Result<()> {
    if !*is_read {
        return Ok(());
    }
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            *is_read = false;
            Ok(())
        }
        done => done.map_err(|error| render::unwritten(name, &error)),
    }
}
