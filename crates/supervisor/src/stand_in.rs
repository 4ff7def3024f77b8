//! The guardian: sleeps while the supervisor lives, and takes over when it was killed.

use mw_model::wire::{Answer, EndRequest, JournalEntry, JournalLine, Launch};
use mw_model::{Exit, ResourceLimit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::bootstrap::{Refusal, Run, answer};
use crate::clock;
use crate::ending::{Ending, SIGKILL};
use crate::launch::{Begun, adopt, conclude, detach_streams, identify};
use crate::record;
use crate::supervise::{Leader, SETTLE_IN_MS, Supervisor};
use crate::sys::{self, Phase, WaitResult};

/// Sleeps until the supervisor has ended, and takes over if that was not its plan.
#[inline(never)]
pub(crate) fn stand_by(supervisor: u32, mut run: Run) {
    run.files.for_command = None;
    let mut patience = Some(Timespec { tv_sec: 0, tv_nsec: SETTLE_IN_MS as i64 * 1_000_000 });
    loop {
        let woken = poll(&mut [PollFd::new(&run.events, PollFlags::IN)], patience.as_ref());
        if woken.is_ok_and(|count| count == 0) {
            // It will be a long sleep.
            patience = None;
            run.forget_command();
            sys::give_back_memory();
            continue;
        }
        run.events.clear();
        if run.board.stdin_closed() {
            run.files.stdin = None;
        }
        if run.board.phase() == Phase::Settling {
            return;
        }
        if let WaitResult::Ended(..) = sys::look_at_exit(Some(supervisor)) {
            let _ = sys::reap(supervisor);
            break;
        }
    }
    if run.board.phase() != Phase::Settling {
        take_over(run);
    }
}

/// The supervisor is dead: its child is ours now.
#[inline(never)]
fn take_over(mut run: Run) {
    let process = match (&run.message.launch, run.board.child()) {
        (Launch::Adopt { process, .. }, _) => process.clone(),
        (Launch::Spawn { .. }, Some(pid)) if run.board.spawn_failure().is_none() => {
            identify(pid, &run.boot_id)
        }
        (Launch::Spawn { .. }, _) => {
            let message = "the supervisor was killed before it could start the command".to_owned();
            return Refusal { code: "system", message }.answer();
        }
    };
    record::end_torn_line(&run.files.journal);
    let journal = record::read_journal(run.number);
    let known = journal.iter().find_map(|line| match &line.entry {
        JournalEntry::Started { process, started_at } => Some((process.clone(), *started_at)),
        _ => None,
    });
    let (process, started_at) = known.unwrap_or_else(|| {
        let started_at = clock::wall();
        let entry = JournalEntry::Started { process: process.clone(), started_at };
        record::journal(&mut run.files.journal, run.number, entry);
        (process, started_at)
    });
    if run.board.phase() == Phase::Setup {
        answer(&Answer::Started { process: process.clone(), started_at });
        run.board.set_phase(Phase::Running);
    }
    detach_streams();
    record::journal(
        &mut run.files.journal,
        run.number,
        JournalEntry::TakenOver { by: "guardian".to_owned() },
    );
    if run.files.log.succeed() {
        run.files.finish_batch();
    }
    let leader = match &run.message.launch {
        Launch::Spawn { .. } => Leader::Child(process.pid),
        Launch::Adopt { process, .. } => adopt(process),
    };
    let mut supervisor = Supervisor::new(run, Begun { leader, process, started_at });
    resume(&mut supervisor, &journal);
    conclude(&supervisor.run());
}

/// Brings back what the predecessor had begun: a record, a limit, a kill.
fn resume(supervisor: &mut Supervisor, journal: &[JournalLine]) {
    if let Some(record) = record::read_result(supervisor.run.number) {
        let leader = std::mem::replace(&mut supervisor.leader, Leader::Ended);
        if let Leader::Child(pid) = leader
            && !matches!(record.exit, Exit::Unknown(_))
        {
            supervisor.run.reap(pid);
        }
        supervisor.had_survivors = !record.survivors.is_empty();
        supervisor.record = Some(record);
        supervisor.run.free_slots();
        if supervisor.had_survivors {
            supervisor.settle_beside();
        }
    }
    for line in journal {
        // The first signal was sent by the predecessor; ours begins where it left off.
        let later = clock::monotonic_ms().saturating_add(supervisor.grace_ms);
        let (asked, due) = match &line.entry {
            JournalEntry::KillRequested { by, .. } => (Some(EndRequest::Kill { by: by.clone() }), later),
            JournalEntry::LimitReached { limit } => {
                supervisor.limit_struck = true;
                (Some(EndRequest::Limit(*limit)), later)
            }
            JournalEntry::ResourceLimitReached { limit } => {
                if supervisor.record.is_none() {
                    supervisor.struck = Some(*limit);
                }
                match limit {
                    ResourceLimit::Memory(_) | ResourceLimit::Pids(_) => (None, clock::monotonic_ms()),
                    ResourceLimit::CpuTime(_) => (None, later),
                }
            }
            JournalEntry::Spawning { .. }
            | JournalEntry::NotExecuted { .. }
            | JournalEntry::Started { .. }
            | JournalEntry::Stalled { .. }
            | JournalEntry::Ready { .. }
            | JournalEntry::Progress { .. }
            | JournalEntry::TakenOver { .. }
            | JournalEntry::TreeEmpty => continue,
        };
        supervisor.ending.get_or_insert_with(|| Ending::new(asked, SIGKILL, due));
    }
}
