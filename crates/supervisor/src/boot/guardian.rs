//! The guardian: sleeps while the supervisor lives, and takes over when it was killed.

use mw_model::wire::{Answer, JournalEntry, Launch, RefusalCode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::bootstrap::{Refusal, answer};
use super::run::Run;
use super::takeover::resume;
use crate::clock;
use crate::end::record;
use crate::fail_point::fail_point;
use crate::spawn::launch::{Begun, adopt, cancel_start, conclude, detach_streams, identify, spawn_refusal};
use crate::sys;
use crate::sys::{Phase, WaitResult};
use crate::watch::supervise::{Leader, SHORT_TASK_MS, Supervisor};

/// How long a command may take from its fork to its first instruction.
const EXECUTION_MS: u64 = 5000;

/// Sleeps until the supervisor has ended, and takes over if it was killed.
#[inline(never)]
pub(crate) fn stand_by(supervisor: u32, mut run: Run) {
    run.files.for_command = None;
    let mut timeout = Some(Timespec { tv_sec: 0, tv_nsec: SHORT_TASK_MS as i64 * 1_000_000 });
    loop {
        let woken = poll(&mut [PollFd::new(&run.events, PollFlags::IN)], timeout.as_ref());
        if woken.is_ok_and(|count| count == 0) {
            // The task lives on, so this process will sleep for long.
            timeout = None;
            run.forget_command();
            sys::give_back_memory();
            continue;
        }
        run.events.clear();
        if run.board.stdin_closed.get() {
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

/// Waits until a command that was being executed is running or has failed: its supervisor may have been killed in
/// between.
fn await_execution(run: &Run) {
    let deadline = clock::monotonic_ms() + EXECUTION_MS;
    while run.board.phase() == Phase::Setup
        && run.board.spawn_failure().is_none()
        && run.board.child.get().is_some_and(sys::is_supervisor)
        && clock::monotonic_ms() < deadline
    {
        let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 200_000 }));
    }
}

/// Takes over from a supervisor that was killed. Its children are ours now.
#[inline(never)]
fn take_over(mut run: Run) {
    await_execution(&run);
    let process = match (&run.message.launch, run.board.child.get()) {
        (Launch::Adopt { process, .. }, _) => process.clone(),
        (Launch::Spawn { .. }, Some(pid)) if run.board.spawn_failure().is_none() => {
            identify(pid, &run.boot_id)
        }
        (Launch::Spawn { .. }, Some(pid)) => {
            let _ = sys::reap(pid);
            let failure = run.board.spawn_failure().map(|(step, errno)| spawn_refusal(step, errno));
            return failure.into_iter().for_each(|refusal| cancel_start(&mut run, refusal));
        }
        (Launch::Spawn { .. }, None) => {
            let message = "the supervisor was killed before it could start the command".to_owned();
            return Refusal { code: RefusalCode::System, message }.answer();
        }
    };
    record::end_torn_line(&run.files.journal);
    let journal = record::retry(|| record::read_journal(run.number));
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
    fail_point("guardian-takes-over");
    record::journal(
        &mut run.files.journal,
        run.number,
        JournalEntry::TakenOver { by: "guardian".to_owned() },
    );
    fail_point("guardian-took-over");
    run.files.log.succeed();
    let leader = match &run.message.launch {
        Launch::Spawn { .. } => Leader::Child(process.pid),
        Launch::Adopt { process, .. } => record::retry(|| adopt(process)),
    };
    let mut supervisor = Supervisor::new(run, Begun { leader, process, started_at });
    resume(&mut supervisor, &journal);
    conclude(&supervisor.run());
}
