//! Streaming a task's output as it comes.

use std::io::Write;
use std::time::Duration;

use meanwhile::model::TaskId;
use meanwhile::{From, Piece, ReadReply, ReadRequest, Runtime, Scope, clean_text};

use crate::error::CommandError;

/// How to write what comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Bytes as they are, on stdout.
    Raw,
    /// As it may be shown, colours included, on stdout.
    Shown,
    /// The same as plain text.
    Clean,
    /// Bytes as they are, each stream on its own.
    Apart,
    /// Not at all.
    Nowhere,
}

/// Longest silence between two looks; the supervisor wakes us before.
const LONGEST: Duration = Duration::from_secs(2);

/// Writes what a task prints until it has ended and all is written.
pub(crate) fn to_end(
    runtime: &Runtime,
    id: &TaskId,
    scope: &Scope,
    request: &ReadRequest,
    sink: Sink,
) -> Result<(), CommandError> {
    let mut request = request.clone();
    loop {
        let reply = step(runtime, id, scope, &request, sink)?;
        if reply.eof {
            return Ok(());
        }
        if reply.left == 0 {
            runtime.wait_for_output(id, reply.end, LONGEST)?;
        }
        if !matches!(request.from, From::Cursor(_)) {
            request.from = From::Offset(reply.next_offset);
        }
    }
}

/// Reads once and writes it.
pub(crate) fn step(
    runtime: &Runtime,
    id: &TaskId,
    scope: &Scope,
    request: &ReadRequest,
    sink: Sink,
) -> Result<ReadReply, CommandError> {
    step_with(runtime, id, scope, request, sink, || ())
}

/// The same, doing something before anything is written.
pub(crate) fn step_with(
    runtime: &Runtime,
    id: &TaskId,
    scope: &Scope,
    request: &ReadRequest,
    sink: Sink,
    before: impl FnOnce(),
) -> Result<ReadReply, CommandError> {
    let reply = match sink {
        Sink::Shown | Sink::Clean => runtime.read_shown(id.as_str(), scope, request)?,
        Sink::Raw | Sink::Apart | Sink::Nowhere => runtime.read(id.as_str(), scope, request)?,
    };
    if !reply.pieces.is_empty() {
        before();
    }
    match sink {
        Sink::Nowhere => {}
        Sink::Raw | Sink::Shown => write(&mut std::io::stdout().lock(), &reply.bytes())?,
        Sink::Clean => write(&mut std::io::stdout().lock(), clean_text(&reply.text()).as_bytes())?,
        Sink::Apart => {
            for piece in &reply.pieces {
                match piece {
                    Piece::Stdout(bytes) => write(&mut std::io::stdout().lock(), bytes)?,
                    Piece::Stderr(bytes) => write(&mut std::io::stderr().lock(), bytes)?,
                    Piece::Dropped(count) => eprintln!("mw: {count} bytes of output were dropped here"),
                }
            }
        }
    }
    Ok(reply)
}

fn write(out: &mut impl Write, bytes: &[u8]) -> Result<(), CommandError> {
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
