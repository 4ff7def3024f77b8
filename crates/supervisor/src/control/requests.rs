//! Answers to requests over the control socket.

use std::os::fd::AsFd;

use mw_model::Io;
use mw_model::wire::{ControlReply, EndRequest, JournalEntry, Operation};
use rustix::io::Errno;

use super::socket::{ConnectionIndex, Interest};
use crate::clock;
use crate::end::kill_plan::MAX_NAMED;
use crate::end::tree;
use crate::fail_point::fail_point;
use crate::output::pump::pump;
use crate::sys;
use crate::watch::holders::Holders;
use crate::watch::supervise::Supervisor;

const END_OF_TRANSMISSION: u8 = 4;

impl Supervisor {
    /// Accepts new connections and answers their requests.
    pub(crate) fn serve(&mut self) {
        if let Some(listener) = &self.listener {
            self.connections.accept(listener);
        }
        for (slot, operation) in self.connections.requests() {
            self.answer(slot, operation);
        }
        self.connections.sweep();
        let is_followed = self.connections.any_waits_for_output();
        let begins = self.run.files.direct.as_mut().is_some_and(|direct| direct.watch_while(is_followed));
        // It may have grown before it was watched.
        if begins && pump(&mut self.run.files) {
            self.saw_output();
        }
    }

    fn answer(&mut self, slot: ConnectionIndex, operation: Operation) {
        let reply = match operation {
            Operation::Status => Some(self.status()),
            Operation::Wait => self.ended_reply().or_else(|| {
                // The client will measure how long the end takes to reach it.
                sys::take_back_code();
                self.wait(slot, Interest::End)
            }),
            Operation::WaitReady => self.ready_reply().or_else(|| self.wait(slot, Interest::Ready)),
            Operation::Ready { what } => Some(self.note_ready(&what)),
            Operation::Watch { offset, after_end } => {
                self.grown_reply(offset, after_end).or_else(|| self.wait(slot, Interest::Output(offset)))
            }
            Operation::Kill { by, signal, grace_ms } => {
                self.kill(by, signal, grace_ms);
                self.wait(slot, Interest::TreeEnd)
            }
            Operation::Signal { by, signal } => Some(self.pass_signal(by, signal)),
            Operation::Input { data, eof } => Some(self.input(data.as_bytes(), eof)),
            Operation::Resize { rows, cols } => Some(self.resize(rows, cols)),
            Operation::BelongTo { session } => {
                let now = clock::monotonic_ms();
                self.holders = session.as_ref().map(|session| Holders::at_start(session, now));
                let entry = JournalEntry::Belongs { session };
                self.journal(entry);
                self.look_for_holders();
                Some(ControlReply::Done { bytes: 0, eof_due: false })
            }
            Operation::LookForHosts => {
                self.look_for_holders();
                Some(ControlReply::Done { bytes: 0, eof_due: false })
            }
        };
        if let Some(reply) = reply {
            self.connections.reply(slot, &reply);
        }
    }

    fn wait(&mut self, slot: ConnectionIndex, interest: Interest) -> Option<ControlReply> {
        self.connections.set_interest(slot, interest);
        None
    }

    fn status(&self) -> ControlReply {
        let living = self.living().processes;
        ControlReply::Status {
            leader_alive: self.record.is_none(),
            tree: tree::named(&living),
            pids: living.into_keys().take(MAX_NAMED).collect(),
            progress: self.progress.latest.clone(),
            output_bytes: self.run.files.log.end(),
            dropped_bytes: self.run.files.log.dropped(),
        }
    }

    pub(crate) fn ended_reply(&self) -> Option<ControlReply> {
        self.record.as_ref().map(|record| ControlReply::Ended { record: Box::new(record.clone()) })
    }

    fn grown_reply(&self, seen: u64, after_end: bool) -> Option<ControlReply> {
        let (end, ended) = (self.run.files.log.end(), self.record.is_some());
        (end > seen || (ended && !after_end)).then_some(ControlReply::Grown { output_bytes: end, ended })
    }

    pub(crate) fn kill(&mut self, by: String, signal: i32, grace_ms: Option<u64>) {
        // A process that has ended by itself was not cancelled, even if its end was not noticed yet.
        self.notice_end();
        self.grace_ms = grace_ms.unwrap_or(self.run.message.limits.kill_grace_ms);
        let entry = JournalEntry::KillRequested { by: by.clone(), signal, grace_ms };
        self.journal(entry);
        fail_point("supervisor-kill-noted");
        self.begin_ending(Some(EndRequest::Kill { by }), signal);
    }

    fn input(&mut self, data: &[u8], eof: bool) -> ControlReply {
        let refused = |message: &str| ControlReply::Refused { message: message.to_owned() };
        let taken = match (&self.run.files.terminal, &self.run.files.stdin) {
            (Some(terminal), _) => type_with_end(&terminal.ours, data, eof),
            (None, Some(stdin)) => type_with_end(stdin, data, false),
            (None, None) if matches!(self.run.message.io, Io::Stdin) => {
                return refused("its standard input is closed");
            }
            (None, None) => return refused("it was started without an open standard input"),
        };
        match taken {
            Ok(Typed { taken, eof_due }) => {
                if eof && taken == data.len() && self.run.files.terminal.is_none() {
                    self.close_stdin();
                }
                ControlReply::Done { bytes: taken as u64, eof_due }
            }
            Err(Errno::PIPE) => refused("it has closed its standard input"),
            Err(error) => refused(&format!("its standard input cannot be written: {error}")),
        }
    }

    /// The guardian holds the same end and must close it, too.
    fn close_stdin(&mut self) {
        self.run.files.stdin = None;
        self.run.board.stdin_closed.set(true);
        self.run.wake_guardian();
    }

    fn resize(&self, rows: u16, cols: u16) -> ControlReply {
        match self.run.files.terminal.as_ref().map(|terminal| terminal.resize(rows, cols)) {
            Some(Ok(())) => ControlReply::Done { bytes: 0, eof_due: false },
            Some(Err(error)) => {
                ControlReply::Refused { message: format!("the terminal cannot be resized: {error}") }
            }
            None => ControlReply::Refused { message: "it was started without a terminal".to_owned() },
        }
    }
}

/// The result of writing to the task's input.
#[derive(Debug, PartialEq, Eq)]
struct Typed {
    /// The number of bytes that were written.
    taken: usize,
    /// Whether all bytes were written, but not the end of input after them.
    eof_due: bool,
}

/// Writes data and, for a terminal, the byte that means the end of input.
fn type_with_end(end: impl AsFd, data: &[u8], eof: bool) -> Result<Typed, Errno> {
    let taken = type_into(&end, data)?;
    let eof_due = eof && taken == data.len() && type_into(&end, &[END_OF_TRANSMISSION])? == 0;
    Ok(Typed { taken, eof_due })
}

/// Writes as much as fits without waiting.
fn type_into(end: impl AsFd, data: &[u8]) -> Result<usize, Errno> {
    let mut taken = 0;
    while taken < data.len() {
        match rustix::io::write(&end, &data[taken..]) {
            Ok(written) => taken += written,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use rustix::pipe::{PipeFlags, fcntl_getpipe_size, pipe_with};

    use super::*;

    #[test]
    fn an_end_of_input_that_does_not_fit_is_reported_as_due() {
        let (reader, writer) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        let room = fcntl_getpipe_size(&writer).unwrap();
        let data = vec![b'x'; room];
        assert_eq!(type_with_end(&writer, &data, true), Ok(Typed { taken: room, eof_due: true }));
        assert_eq!(type_with_end(&writer, &[], true), Ok(Typed { taken: 0, eof_due: true }));
        assert_eq!(type_with_end(&writer, b"y", true), Ok(Typed { taken: 0, eof_due: false }));
        let mut read = vec![0; room];
        assert_eq!(rustix::io::read(&reader, &mut read), Ok(room));
        assert_eq!(type_with_end(&writer, &[], true), Ok(Typed { taken: 0, eof_due: false }));
        assert_eq!(rustix::io::read(&reader, &mut read), Ok(1));
        assert_eq!(read[0], END_OF_TRANSMISSION);
    }
}
