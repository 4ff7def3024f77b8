//! The end of a task's first process: noticed, output drained, recorded, clients notified, reaped, in this order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use mw_model::Exit;
use mw_model::wire::{ControlReply, ExitRecord, RECORD_VERSION, RESULT_FILE};
use rustix::event::{Timespec, poll};

use super::driver::AfterDriver;
use super::record;
use super::tree;
use crate::clock;
use crate::control::socket::Interest;
use crate::fail_point::fail_point;
use crate::output::pump::drain;
use crate::spawn::confined::remove_absent;
use crate::sys;
use crate::sys::{Phase, WaitResult};
use crate::watch::supervise::{Leader, Supervisor};

/// How long remaining output may delay the record after the first process has ended.
const DRAIN_MS: u64 = 250;
/// How long the rest of a killed tree may take to die before it counts as survivors.
const DYING_MS: u64 = 20;
/// How long to wait for the exit code of a process that is not our child.
const FOREIGN_EXIT_MS: u64 = 5000;
/// The record of a run of this length is synced to disk.
const LONG_SECONDS: f64 = 1.0;

impl Supervisor {
    /// Checks whether the first process has ended.
    pub(crate) fn watch_leader(&mut self) {
        match &mut self.leader {
            Leader::Ended => {}
            Leader::Away { due_ms } => {
                if clock::monotonic_ms() >= *due_ms {
                    self.start_driver();
                }
            }
            Leader::Child(pid) => match sys::look_at_exit(Some(*pid)) {
                WaitResult::Ended(_, exit) => self.leader_ended(exit),
                WaitResult::NoneYet => {}
                WaitResult::NoChildren => {
                    self.leader_ended(Exit::Unknown("another process reaped it".to_owned()));
                }
            },
            Leader::Foreign { handle: None, .. } => {
                if self.process.pid == 0 && !self.is_tree_gone() {
                    // Its pid was not recorded, but a process of the tree is alive.
                    return;
                }
                self.leader_ended(Exit::Unknown("it ended while no supervisor was running".to_owned()));
            }
            Leader::Foreign { handle: Some(handle), ended_ms } => {
                let now = clock::monotonic_ms();
                let ticks = Some(self.process.start_ticks);
                if ended_ms.is_none()
                    && sys::find_start_ticks(self.process.pid).is_ok_and(|found| found != ticks)
                {
                    *ended_ms = Some(now);
                }
                if let Some(seen) = *ended_ms {
                    let exit = sys::exit_of_foreign(handle.as_fd(), &self.process);
                    // The exit of a driver means nothing.
                    let given_up = now >= seen + FOREIGN_EXIT_MS || self.run.message.driver.is_some();
                    let unknown = || {
                        Exit::Unknown(
                            "its supervisors were killed, and this kernel does not report the exit code"
                                .to_owned(),
                        )
                    };
                    if let Some(exit) = exit.or_else(|| given_up.then(unknown)) {
                        self.leader_ended(exit);
                    }
                }
            }
        }
    }

    fn is_tree_gone(&self) -> bool {
        let found = self.living();
        found.is_whole && found.processes.is_empty()
    }

    /// Records an end that was not noticed yet, before an action that must not come after it.
    pub(crate) fn notice_end(&mut self) {
        if let Leader::Child(pid) = self.leader
            && let WaitResult::Ended(_, exit) = sys::look_at_exit(Some(pid))
        {
            self.leader_ended(exit);
        }
    }

    /// Drains the output, writes the record, answers waiting clients and reaps, in this order.
    /// [`Self::finish_record`] does the rest.
    pub(crate) fn leader_ended(&mut self, exit: Exit) {
        let exit = match self.run.message.driver.is_some().then(|| self.after_driver()) {
            None => exit,
            Some(AfterDriver::Ended(exit)) => exit,
            Some(AfterDriver::Again) => return,
        };
        drain(&mut self.run.files, clock::monotonic_ms() + DRAIN_MS);
        self.read_progress();
        self.note_progress();
        fail_point("supervisor-exit-seen");
        if self.exceeded.is_none() {
            self.exceeded = self.exceeded_at_end(&exit);
        }
        if let Some(confinement) = &self.run.message.confinement {
            remove_absent(confinement);
        }
        let living = self.survivors();
        let record = self.exit_record(exit.clone(), &living);
        let written = match record::write_result(&record) {
            Ok(written) => Some(written),
            // The task's directory was removed; there is nowhere to record anything.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => {
                self.unrecorded = Some(exit);
                return;
            }
        };
        self.run.board.set_phase(Phase::Recorded);
        fail_point("supervisor-recorded");
        // A client may start the next task as soon as it learns of the end, so the slot is freed before.
        self.run.free_slots();
        self.answer_waiters(&record);
        if self.connections.descriptors().next().is_some() {
            // A client that was just answered may need this CPU.
            rustix::thread::sched_yield();
        }
        self.record = Some(record);
        self.unfinished = written;
        if let Leader::Child(pid) = std::mem::replace(&mut self.leader, Leader::Ended) {
            self.run.reap(pid);
        }
        fail_point("supervisor-reaped");
        self.end_helper();
        self.tree_changed = true;
        if !living.is_empty() {
            self.had_survivors = true;
            self.settle_beside();
        }
    }

    /// Does the work that no client waits for, after all clients were answered.
    pub(crate) fn finish_record(&mut self) {
        let Some(written) = self.unfinished.take() else { return };
        written.trim(&self.run.files.space);
        self.write_metadata();
        if self.record.as_ref().is_some_and(|record| record.duration_seconds >= LONG_SECONDS) {
            sync_record();
            fail_point("supervisor-synced");
        }
    }

    /// Writes the views that co-cli's tools read, for tasks of that dialect.
    pub(crate) fn write_metadata(&self) {
        if let Some(metadata) = &self.run.message.metadata {
            let mut metadata = metadata.clone();
            metadata.pid = Some(self.process.pid);
            metadata.started_at = Some(self.started_at);
            if let Some(record) = &self.record {
                metadata.set_status(record.cause().status());
                metadata.completed_at = Some(record.completed_at);
                metadata.exit_code = record.exit_code;
            }
            record::write_metadata(&metadata);
        }
    }

    /// Returns the processes that outlive the first one. After a kill the rest of the tree gets a moment to die.
    fn survivors(&self) -> BTreeMap<u32, u64> {
        let timeout = if self.ending.is_some() { DYING_MS } else { 0 };
        let deadline = clock::monotonic_ms() + timeout;
        loop {
            let mut living = self.living().processes;
            living.remove(&self.process.pid);
            if living.is_empty() || clock::monotonic_ms() >= deadline {
                return living;
            }
            let pause = Timespec { tv_sec: 0, tv_nsec: 200_000 };
            let _ = poll(&mut [], Some(&pause));
        }
    }

    fn answer_waiters(&mut self, record: &ExitRecord) {
        let end = self.run.files.log.end();
        self.connections.answer(|interest| match interest {
            Interest::End | Interest::Ready => Some(ControlReply::Ended { record: Box::new(record.clone()) }),
            Interest::Output(_) => Some(ControlReply::Grown { output_bytes: end, ended: true }),
            Interest::TreeEnd | Interest::None => None,
        });
    }

    fn exit_record(&self, mut exit: Exit, living: &BTreeMap<u32, u64>) -> ExitRecord {
        let output_lost = self.run.files.output_lost || self.run.files.log.has_uncounted_drops();
        if let Exit::Unknown(reason) = &mut exit
            && output_lost
        {
            let taken = self.run.files.log.end();
            reason.push_str(&format!("; output after byte {taken} may be missing"));
        }
        let exit_code = match &exit {
            Exit::Code(code) => Some(*code),
            Exit::Signal { .. } | Exit::Unknown(_) => None,
        };
        // Both clocks are read before the lines are counted, which may take long.
        let completed_at = clock::wall();
        let duration_ms = clock::monotonic_ms().saturating_sub(self.run.board.started_ms.get());
        let lines = self.run.files.log.count_lines();
        ExitRecord {
            version: RECORD_VERSION,
            run: self.run.number,
            process: Some(self.process.clone()),
            started_at: Some(self.started_at),
            exit,
            unsupervised: self.unsupervised.clone().filter(|_| self.ending.is_none()),
            asked: self.ending.as_ref().and_then(|ending| ending.asked.clone()),
            struck: self.exceeded,
            signals: self.ending.as_ref().map(|ending| ending.signals.clone()).unwrap_or_default(),
            output_bytes: self.run.files.log.end(),
            dropped_bytes: self.run.files.log.dropped(),
            output_lost,
            survivors: tree::named(living),
            exit_code,
            duration_seconds: duration_ms as f64 / 1000.0,
            completed_at,
            stdout_lines: lines.map(|(stdout, _)| stdout),
            stderr_lines: lines.map(|(_, stderr)| stderr),
            summary: record::last_line(&self.run.files.log.tail(4096)),
        }
    }
}

/// Syncs the record and its name to disk. Best effort: it is complete or absent in any case.
fn sync_record() {
    let _ = File::open(RESULT_FILE).and_then(|record| record.sync_data());
    let _ = File::open(".").and_then(|directory| directory.sync_all());
}
