//! The guardian: sleeps while the supervisor lives, and takes over when it was killed.

use std::os::unix::net::UnixStream;

use mw_model::wire::{JournalEntry, Launch, RefusalCode, StartAnswer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::bootstrap::{StartRefusal, answer, find_cgroup};
use super::entrusted::{self, Entrusted};
use super::prepare::Early;
use super::run::Run;
use super::takeover::resume;
use crate::clock;
use crate::end::conclude::conclude;
use crate::end::driver::started_driver;
use crate::end::record;
use crate::fail_point::fail_point;
use crate::files::Files;
use crate::spawn::launch::{Begun, adopt, cancel_start, detach_streams, identify, spawn_refusal};
use crate::sys;
use crate::sys::{Board, ChildEvents, Cpus, Phase, WaitResult};
use crate::watch::supervise::{Leader, SHORT_TASK_MS, Supervisor};

/// How long a command may take from its fork to its first instruction.
const EXECUTION_MS: u64 = 5000;

/// The run that a guardian watches over.
pub(super) struct Ward {
    number: u32,
    board: Board,
    /// Set if the starter may still move this process.
    cpus: Option<Cpus>,
    state: WardState,
}

enum WardState {
    /// The supervisor has not left everything yet, or it was not taken yet.
    Expected {
        early: Early,
        line: UnixStream,
    },
    Known(Box<Run>),
    /// What the supervisor has left could not be received. The next client sends an adopter.
    Unknown(ChildEvents),
}

impl Ward {
    /// A run whose supervisor will leave everything in this socket.
    pub(super) fn expected(number: u32, mut early: Early, line: UnixStream, cpus: Option<Cpus>) -> Self {
        early.close_command_ends();
        Self { number, board: early.board, cpus, state: WardState::Expected { early, line } }
    }

    pub(super) fn known(mut run: Run) -> Self {
        run.files.for_command = None;
        Self { number: run.number, board: run.board, cpus: None, state: WardState::Known(Box::new(run)) }
    }

    fn events(&self) -> &ChildEvents {
        match &self.state {
            WardState::Expected { early, .. } => &early.events,
            WardState::Known(run) => &run.events,
            WardState::Unknown(events) => events,
        }
    }

    /// Sleeps until something has happened. Returns whether the time is over.
    fn sleep(&self, timeout: Option<&Timespec>) -> bool {
        let mut awaited = vec![PollFd::new(self.events(), PollFlags::IN)];
        // For a short task, nothing is received: its end is the only thing to wait for.
        if timeout.is_none()
            && let WardState::Expected { line, .. } = &self.state
        {
            awaited.push(PollFd::new(line, PollFlags::IN));
        }
        poll(&mut awaited, timeout).is_ok_and(|count| count == 0)
    }

    /// Takes what the supervisor has left. It must have left something, or have ended.
    fn receive(self) -> Self {
        let Self { number, board, cpus, state } = self;
        let WardState::Expected { early, line } = state else { return Self { number, board, cpus, state } };
        let state = match entrusted::receive(&line) {
            Ok(Some(entrusted)) => early.into_run(number, entrusted),
            Ok(None) => WardState::Expected { early, line },
            Err(_) => WardState::Unknown(early.events),
        };
        Self { number, board, cpus, state }
    }

    /// Finishes the work that can wait until the task has run for a moment.
    #[inline(never)]
    fn rest(self) -> Self {
        let mut ward = if self.is_waiting() { self.receive() } else { self };
        if let WardState::Known(run) = &mut ward.state {
            run.forget_command();
        }
        if let Some(cpus) = ward.cpus.take() {
            cpus.allow_all();
        }
        sys::give_back_memory();
        ward
    }

    /// Returns whether something can be received.
    fn is_waiting(&self) -> bool {
        let WardState::Expected { line, .. } = &self.state else { return false };
        let mut awaited = [PollFd::new(line, PollFlags::IN)];
        poll(&mut awaited, Some(&Timespec::default())).is_ok_and(|count| count > 0)
    }
}

impl Early {
    fn close_command_ends(&mut self) {
        if let Some(pipes) = &mut self.pipes {
            pipes.close_ends();
        }
    }

    fn into_run(self, number: u32, entrusted: Entrusted) -> WardState {
        let Self { board, events, pipes, boot_id, .. } = self;
        let Entrusted { message, directory, journal, slots, stdin, terminal, progress } = entrusted;
        let in_directory = rustix::process::fchdir(&directory).is_ok();
        let Some(pipes) = pipes.filter(|_| in_directory) else { return WardState::Unknown(events) };
        match Files::entrusted(&message, journal, pipes, (stdin, terminal, progress), board) {
            Ok(files) => {
                let (cgroup, guardian) = (None, None);
                WardState::Known(Box::new(Run {
                    number,
                    message,
                    board,
                    files,
                    events,
                    cgroup,
                    connects: None,
                    boot_id,
                    guardian,
                    slots,
                }))
            }
            Err(_) => WardState::Unknown(events),
        }
    }
}

/// Sleeps until the supervisor has ended, and takes over if it was killed.
#[inline(never)]
pub(super) fn stand_by(supervisor: u32, mut ward: Ward) {
    let mut timeout = Some(Timespec { tv_sec: 0, tv_nsec: SHORT_TASK_MS as i64 * 1_000_000 });
    loop {
        let is_long = ward.sleep(timeout.as_ref());
        if is_long || timeout.is_none() {
            if is_long || ward.is_waiting() {
                ward = ward.rest();
            }
            timeout = None;
        }
        ward.events().clear();
        if let WardState::Known(run) = &mut ward.state
            && ward.board.stdin_closed.get()
        {
            run.files.stdin = None;
        }
        if ward.board.phase() == Phase::Settling {
            // The process ends now, which closes everything at once.
            return std::mem::forget(ward);
        }
        if let WaitResult::Ended(..) = sys::look_at_exit(Some(supervisor)) {
            let _ = sys::reap(supervisor);
            break;
        }
    }
    if ward.board.phase() == Phase::Settling {
        return std::mem::forget(ward);
    }
    match ward.receive().state {
        WardState::Known(run) => take_over(*run),
        // Nothing was executed, because the supervisor leaves everything here first. If it was killed, the starter learns
        // that from the missing answer.
        WardState::Expected { .. } | WardState::Unknown(_) => {}
    }
}

/// Waits until a command that was being executed is running or has failed: its supervisor may have been killed in
/// between, even before the new process has noted its pid. That process is our child by now.
fn await_execution(run: &Run) {
    let is_being_executed = || match run.board.child.get() {
        Some(pid) => sys::is_supervisor(pid),
        None => sys::look_at_exit(None) == WaitResult::NoneYet,
    };
    let deadline = clock::monotonic_ms() + EXECUTION_MS;
    while run.board.phase() == Phase::Setup
        && run.board.spawn_failure().is_none()
        && is_being_executed()
        && clock::monotonic_ms() < deadline
    {
        let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 200_000 }));
    }
}

/// Takes over from a supervisor that was killed. Its children are ours now.
#[inline(never)]
fn take_over(mut run: Run) {
    await_execution(&run);
    if run.cgroup.is_none() {
        run.cgroup = record::retry(|| find_cgroup(run.number));
    }
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
        // It was killed before it could begin. The starter learns that from the missing answer, and may begin again.
        (Launch::Spawn { .. }, None) if record::retry(|| record::read_journal(run.number)).is_empty() => {
            return;
        }
        (Launch::Spawn { .. }, None) => {
            let message = "the supervisor was killed before it could start the command".to_owned();
            return StartRefusal { code: RefusalCode::System, message }.answer();
        }
    };
    record::end_torn_line(&run.files.journal);
    let journal = record::retry(|| record::read_journal(run.number));
    let known = journal.iter().find_map(|line| match &line.entry {
        JournalEntry::Started { process, started_at, .. } => Some((process.clone(), *started_at)),
        _ => None,
    });
    let (process, started_at) = known.unwrap_or_else(|| {
        let started_at = clock::wall();
        let entry = JournalEntry::Started {
            process: process.clone(),
            started_at,
            confined_by: run.board.confined_by(),
        };
        record::journal(&mut run.files.journal, run.number, entry);
        (process, started_at)
    });
    if run.board.phase() == Phase::Setup {
        answer(&StartAnswer::Started { process: process.clone(), started_at });
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
    let driver = journal.iter().rev().find_map(started_driver).cloned();
    let process = driver.clone().unwrap_or(process);
    let leader = match &run.message.launch {
        // The last driver may not be in the journal yet, but then another one finds it at work.
        _ if driver.is_some() => record::retry(|| adopt(&process)),
        Launch::Spawn { .. } => Leader::Child(process.pid),
        Launch::Adopt { process, .. } => record::retry(|| adopt(process)),
    };
    let mut supervisor = Supervisor::new(run, Begun { leader, process, started_at });
    resume(&mut supervisor, &journal);
    conclude(supervisor.run());
}
