//! Readiness: a helper process checks whether the task is ready, and reports it over the control socket.
//!
//! The helper is `mw` itself, so that the supervisor needs no regular expressions and no port lists. It is not part
//! of the task's tree and holds no slot. Its pid is on the shared page, so that a successor knows it. It ends with
//! its connection; a successor starts another one, which begins from the start.

use mw_model::wire::{ControlReply, JournalEntry};
use rustix::process::{Pid, Signal, kill_process};

use super::supervise::Supervisor;
use crate::boot::run::Run;
use crate::clock;
use crate::control::socket::Interest;
use crate::end::record;
use crate::sys;

/// The pause before a helper that failed is replaced; it doubles with every failure.
const AGAIN_MS: u64 = 50;
const LATEST_AGAIN_MS: u64 = 30_000;
/// Maximum number of characters of the reason that are recorded.
const LONGEST_WHAT: usize = 200;

/// Whether a task is ready, and the helper that checks it.
pub(crate) struct Readiness {
    ready: bool,
    helper: Option<u32>,
    /// When to start a helper.
    pub(crate) due_ms: Option<u64>,
    /// How many helpers have failed.
    failures: u32,
}

impl Readiness {
    /// Continues from what a predecessor recorded.
    pub(crate) fn of(run: &Run) -> Self {
        let wanted = run.message.ready.is_some();
        let is_ready = |line: &mw_model::wire::JournalLine| matches!(line.entry, JournalEntry::Ready { .. });
        let ready = wanted && record::retry(|| record::read_journal(run.number)).iter().any(is_ready);
        Self { ready, helper: run.board.helper.get(), due_ms: None, failures: 0 }
    }
}

impl Supervisor {
    /// Starts a helper if the task has a condition. The control socket must be open.
    pub(crate) fn begin_readiness(&mut self) {
        if self.run.message.ready.is_some() && !self.readiness.ready && self.readiness.helper.is_none() {
            self.readiness.due_ms = Some(clock::monotonic_ms());
        }
    }

    pub(crate) fn start_helper_when_due(&mut self, now: u64) {
        if self.readiness.due_ms.is_none_or(|due| now < due) {
            return;
        }
        self.readiness.due_ms = None;
        if self.readiness.ready || self.record.is_some() {
            return;
        }
        if let Some(argv) = &self.run.message.ready {
            match sys::spawn_program(argv, Some(&self.run.board.helper), None) {
                Ok(pid) => self.readiness.helper = Some(pid),
                Err(_) => self.try_again(now),
            }
        }
    }

    fn try_again(&mut self, now: u64) {
        let pause = AGAIN_MS.saturating_mul(1 << self.readiness.failures.min(16)).min(LATEST_AGAIN_MS);
        self.readiness.failures += 1;
        self.readiness.due_ms = Some(now + pause);
    }

    /// Notes the end of a child before it is reaped: it may be the helper.
    pub(crate) fn child_ended(&mut self, pid: u32) {
        if self.readiness.helper == Some(pid) {
            self.readiness.helper = None;
            self.run.board.helper.set(None);
            if !self.readiness.ready && self.record.is_none() {
                self.try_again(clock::monotonic_ms());
            }
        }
    }

    /// Kills the helper. It is our child and not reaped, so its pid is not reused.
    pub(crate) fn end_helper(&mut self) {
        self.readiness.due_ms = None;
        if let Some(pid) = self.readiness.helper.and_then(|pid| Pid::from_raw(pid as i32)) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Kills the helper and waits for its end.
    pub(crate) fn reap_helper(&mut self) {
        self.end_helper();
        if let Some(pid) = self.readiness.helper.take() {
            self.run.board.helper.set(None);
            let _ = sys::reap(pid);
        }
    }

    /// Records that the task is ready: once per run, and not after its end.
    pub(crate) fn note_ready(&mut self, what: &str) -> ControlReply {
        let refused = |message: &str| ControlReply::Refused { message: message.to_owned() };
        if self.run.message.ready.is_none() {
            return refused("it was started without a readiness condition");
        }
        self.notice_end();
        if self.record.is_some() || self.unrecorded.is_some() {
            return refused("it has ended");
        }
        if !self.readiness.ready {
            let what = what.chars().filter(|c| !c.is_control()).take(LONGEST_WHAT).collect();
            let entry = JournalEntry::Ready { what };
            if record::try_journal(&mut self.run.files.journal, self.run.number, entry).is_err() {
                // The helper reports it again when there may be room.
                return refused("cannot record it");
            }
            self.readiness.ready = true;
            self.connections.answer(|interest| match interest {
                Interest::Ready => Some(ControlReply::Ready),
                Interest::End | Interest::Output(_) | Interest::TreeEnd | Interest::None => None,
            });
            self.settle_beside();
        }
        ControlReply::Done { bytes: 0, eof_due: false }
    }

    pub(crate) fn ready_reply(&self) -> Option<ControlReply> {
        self.readiness.ready.then_some(ControlReply::Ready).or_else(|| self.ended_reply())
    }
}
