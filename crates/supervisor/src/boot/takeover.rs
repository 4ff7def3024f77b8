//! Restores what a predecessor had begun and recorded.

use std::fs;

use mw_model::signal::{SIGKILL, SIGTERM};
use mw_model::wire::{EndRequest, JournalEntry, JournalLine, LOG_FILE};
use mw_model::{Exit, Timestamp};

use crate::clock;
use crate::end::kill_plan::Ending;
use crate::end::record;
use crate::watch::holders::Holders;
use crate::watch::resource_limits::signal_for;
use crate::watch::supervise::{Leader, Supervisor};

/// The name in `taken_over` if both supervisors were killed.
pub(crate) const ADOPTER: &str = "adopter";

/// Restores the record, the session, a reported stall, and a kill in progress.
pub(crate) fn resume(supervisor: &mut Supervisor, journal: &[JournalLine]) {
    if let Some(record) = record::retry(|| record::read_result(supervisor.run.number)) {
        let leader = std::mem::replace(&mut supervisor.leader, Leader::Ended);
        if let Leader::Child(pid) = leader
            && !matches!(record.exit, Exit::Unknown(_))
        {
            supervisor.run.reap(pid);
        }
        supervisor.run.files.log.count_recorded_drops(record.dropped_bytes);
        supervisor.had_survivors = !record.survivors.is_empty();
        supervisor.record = Some(record);
        supervisor.run.free_slots();
        if supervisor.had_survivors {
            supervisor.settle_beside();
        }
    } else {
        // The predecessor may not have reserved it.
        supervisor.run.files.space.ensure();
    }
    resume_session(supervisor, journal);
    let is_stall = |line: &&JournalLine| matches!(line.entry, JournalEntry::Stalled { .. });
    if let Some(line) = journal.iter().rfind(is_stall)
        && last_output().is_some_and(|printed| printed <= line.at)
    {
        supervisor.watchdog.set_reported();
    }
    resume_ending(supervisor, journal);
}

/// Returns when the log was last written.
fn last_output() -> Option<Timestamp> {
    Some(fs::metadata(LOG_FILE).ok()?.modified().ok()?.into())
}

fn resume_session(supervisor: &mut Supervisor, journal: &[JournalLine]) {
    let mut session = supervisor.run.message.session.clone();
    let mut hosted = false;
    for line in journal {
        match &line.entry {
            JournalEntry::Hosted => hosted = true,
            JournalEntry::Belongs { session: next } => {
                hosted = false;
                session.clone_from(next);
            }
            // The client that starts an adopter knows the task's current session.
            JournalEntry::TakenOver { by } if by == ADOPTER => {
                hosted &= session == supervisor.run.message.session;
                session.clone_from(&supervisor.run.message.session);
            }
            _ => {}
        }
    }
    let now = clock::monotonic_ms();
    supervisor.holders = session.as_ref().map(|session| {
        if hosted { Holders::of_hosted(session, now) } else { Holders::at_start(session, now) }
    });
}

fn resume_ending(supervisor: &mut Supervisor, journal: &[JournalLine]) {
    let now = clock::monotonic_ms();
    for line in journal {
        let limits = &supervisor.run.message.limits;
        let (asked, signal, grace_ms) = match &line.entry {
            JournalEntry::KillRequested { by, signal, grace_ms } => {
                let grace_ms = grace_ms.unwrap_or(limits.kill_grace_ms);
                (Some(EndRequest::Kill { by: by.clone() }), *signal, grace_ms)
            }
            JournalEntry::LimitReached { limit } => {
                supervisor.time_limit_reached = true;
                (Some(EndRequest::Limit(*limit)), SIGTERM, limits.timeout_grace_ms)
            }
            JournalEntry::ResourceLimitReached { limit } => {
                if supervisor.record.is_none() {
                    supervisor.exceeded = Some(*limit);
                }
                (None, signal_for(*limit), limits.timeout_grace_ms)
            }
            JournalEntry::Spawning { .. }
            | JournalEntry::NotExecuted { .. }
            | JournalEntry::Started { .. }
            | JournalEntry::Stalled { .. }
            | JournalEntry::Ready { .. }
            | JournalEntry::Progress { .. }
            | JournalEntry::Hosted
            | JournalEntry::Belongs { .. }
            | JournalEntry::TakenOver { .. }
            | JournalEntry::DriverStarted { .. }
            | JournalEntry::TreeEmpty { .. } => continue,
        };
        supervisor.grace_ms = grace_ms;
        let ending = supervisor.ending.get_or_insert_with(|| Ending::new(asked, signal, now));
        ending.request(signal, now);
        let left =
            if signal == SIGKILL { 0 } else { grace_ms.saturating_sub(clock::wall().ms_since(line.at)) };
        ending.kill_by(now.saturating_add(left));
    }
    if let Some(ending) = supervisor.ending.as_mut().filter(|_| supervisor.run.board.signalled.get()) {
        // A second signal may have another meaning for the program.
        ending.was_sent();
    }
}
