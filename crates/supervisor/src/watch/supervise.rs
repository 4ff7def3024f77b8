//! The loop over output, requests, children and timers, which runs until the tree is empty.

use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;

use mw_model::signal::SIGTERM;
use mw_model::wire::{ControlReply, ExitRecord, JournalEntry};
use mw_model::{Cause, Exit, Process, ResourceLimit, Timestamp};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::holders::Holders;
use super::resource_schedule::ResourceSchedule;
use super::stall::Watchdog;
use crate::boot::run::Run;
use crate::clock;
use crate::control::socket::{Connections, Interest};
use crate::end::driver::Drivers;
use crate::end::kill_plan::{Ending, Step};
use crate::end::record;
use crate::end::record::Written;
use crate::end::tree::Tree;
use crate::files;
use crate::output::direct::DirectOutput;
use crate::output::pump::pump;
use crate::spawn::launch::{Begun, detach_streams};
use crate::sys;
use crate::sys::ProcessHandle;

use super::progress::ProgressReport;
use super::readiness::Readiness;

/// How long a task must live before it gets a control socket.
pub(crate) const SHORT_TASK_MS: u64 = 5;
/// How often a tree of processes that are not our descendants is checked, and a failed record is retried.
const RECHECK_MS: u64 = 200;

/// The task's first process, as far as this process can know it.
pub(crate) enum Leader {
    /// A child of this process.
    Child(u32),
    /// A child of another process, held by a descriptor, and when its end was seen.
    Foreign { handle: Option<ProcessHandle>, ended_ms: Option<u64> },
    /// It was the driver of a task that runs elsewhere, and has ended. Another one is executed at this time.
    Away { due_ms: u64 },
    /// It has ended, and its end is recorded.
    Ended,
}

impl Default for Leader {
    /// A child of another process that could not be opened.
    fn default() -> Self {
        Self::Foreign { handle: None, ended_ms: None }
    }
}

/// One run under supervision.
pub(crate) struct Supervisor {
    pub(crate) run: Run,
    pub(crate) leader: Leader,
    pub(crate) process: Process,
    pub(crate) started_at: Timestamp,
    pub(crate) tree: Tree,
    pub(crate) record: Option<ExitRecord>,
    /// The record, while it is not trimmed and the files that depend on it are not written.
    pub(crate) unfinished: Option<Written>,
    pub(crate) ending: Option<Ending>,
    pub(crate) grace_ms: u64,
    pub(crate) watchdog: Watchdog,
    pub(crate) listener: Option<UnixListener>,
    pub(crate) connections: Connections,
    /// The holders of the task's session, if the task ends with it.
    pub(crate) holders: Option<Holders>,
    /// When to open the control socket.
    pub(crate) control_due_ms: Option<u64>,
    /// The running `mw settle`.
    pub(crate) settle: Option<u32>,
    /// Whether something has happened since it was started.
    pub(crate) settle_again: bool,
    pub(crate) readiness: Readiness,
    pub(crate) progress: ProgressReport,
    /// An exit whose record could not be written yet.
    pub(crate) unrecorded: Option<Exit>,
    /// Whether a time limit was reached.
    pub(crate) time_limit_reached: bool,
    pub(crate) resource_schedule: Option<ResourceSchedule>,
    /// The resource limit that the tree exceeded before its first process ended.
    pub(crate) exceeded: Option<ResourceLimit>,
    /// The cause that the driver's record names, if it is not derived from the exit.
    pub(crate) unsupervised: Option<Cause>,
    pub(crate) drivers: Drivers,
    pub(crate) had_survivors: bool,
    /// Whether processes may have started or ended since the tree was last searched.
    pub(crate) tree_changed: bool,
}

impl Supervisor {
    pub(crate) fn new(run: Run, begun: Begun) -> Self {
        let tree = match begun.leader {
            Leader::Foreign { .. } => Tree::of_orphan(run.message.task.as_str(), &begun.process),
            Leader::Child(_) | Leader::Away { .. } | Leader::Ended => {
                Tree::of_child(run.message.task.as_str(), &begun.process)
            }
        };
        let now = clock::monotonic_ms();
        if run.board.started_ms.get() == 0 {
            // The time of day may have been set since.
            let ago = clock::ms_since_start(&begun.process, &run.boot_id)
                .unwrap_or_else(|| clock::wall().ms_since(begun.started_at));
            run.board.started_ms.set(now.saturating_sub(ago));
        }
        let limits = &run.message.limits;
        Self {
            leader: begun.leader,
            process: begun.process,
            started_at: begun.started_at,
            tree,
            record: None,
            unfinished: None,
            ending: None,
            grace_ms: limits.kill_grace_ms,
            watchdog: Watchdog::new(limits.stall_ms, limits.prompts.clone(), now),
            listener: None,
            connections: Connections::default(),
            holders: run.message.session.as_ref().map(|session| Holders::at_start(session, now)),
            control_due_ms: Some(now + SHORT_TASK_MS),
            settle: None,
            settle_again: false,
            readiness: Readiness::of(&run),
            progress: ProgressReport::on(run.board),
            unrecorded: None,
            time_limit_reached: false,
            resource_schedule: ResourceSchedule::of(&limits.resources, run.enforcement(), now),
            exceeded: None,
            unsupervised: None,
            drivers: Drivers::default(),
            had_survivors: false,
            tree_changed: true,
            run,
        }
    }

    /// Runs until the tree is empty and everything is recorded.
    pub(crate) fn run(mut self) -> Run {
        // Everything is checked before the first sleep, because a successor may find that the task is over.
        loop {
            self.watch_leader();
            self.run_timers();
            let is_over = self.is_over();
            self.finish_record();
            if is_over {
                break;
            }
            self.sleep();
            if pump(&mut self.run.files) {
                self.saw_output();
            }
            self.read_progress();
            self.answer_connects();
            self.reap_children();
            self.serve();
        }
        if self.had_survivors {
            let log = &self.run.files.log;
            let (output_bytes, dropped_bytes) = (Some(log.end()), Some(log.dropped()));
            let entry = JournalEntry::TreeEmpty { output_bytes, dropped_bytes };
            self.journal(entry);
        }
        if let Some(settle) = self.settle {
            let _ = sys::reap(settle);
        }
        self.reap_helper();
        self.run.files.log.rejoin();
        self.run
    }

    fn sleep(&self) {
        let timeout = self.next_due().map(|due| {
            let ms = due.saturating_sub(clock::monotonic_ms());
            Timespec { tv_sec: (ms / 1000) as i64, tv_nsec: (ms % 1000 * 1_000_000) as _ }
        });
        let mut fds: Vec<_> = [self.run.events.as_fd()]
            .into_iter()
            .chain(self.listener.as_ref().map(AsFd::as_fd))
            .chain(self.run.files.progress.as_ref().map(AsFd::as_fd))
            .chain(self.run.connects.as_ref().map(AsFd::as_fd))
            .chain(self.foreign_handle())
            .chain(self.holders.as_ref().and_then(Holders::descriptor))
            .chain(self.connections.descriptors())
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .chain(self.run.files.output())
            .collect();
        let _ = poll(&mut fds, timeout.as_ref());
    }

    /// Answers a call of a command that may reach only this machine.
    fn answer_connects(&mut self) {
        let Some(connects) = &self.run.connects else { return };
        let mut fds = [PollFd::new(connects, PollFlags::IN)];
        let _ = poll(&mut fds, Some(&Timespec::default()));
        let found = fds[0].revents();
        let is_over = if found.contains(PollFlags::IN) { !connects.answer() } else { !found.is_empty() };
        if is_over {
            self.run.connects = None;
        }
    }

    fn foreign_handle(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        match &self.leader {
            Leader::Foreign { handle: Some(handle), ended_ms: None } => Some(handle.as_fd()),
            Leader::Foreign { .. } | Leader::Child(_) | Leader::Away { .. } | Leader::Ended => None,
        }
    }

    fn next_due(&self) -> Option<u64> {
        let now = clock::monotonic_ms();
        let ending = self.ending.as_ref().map(|ending| match ending.step(now) {
            Step::WaitUntil(due) => due,
            Step::Send(_) | Step::GiveUp => now,
        });
        let driver = match self.leader {
            Leader::Away { due_ms } => Some(due_ms),
            Leader::Child(_) | Leader::Foreign { .. } | Leader::Ended => None,
        };
        let foreign_tree = matches!(
            self.leader,
            Leader::Foreign { ended_ms: Some(_), .. } | Leader::Foreign { handle: None, .. }
        ) || (self.record.is_some() && self.tree.is_foreign());
        // An incomplete search proves nothing.
        let unseen = self.record.is_some() && self.tree_changed;
        let recheck = (foreign_tree || unseen || self.unrecorded.is_some()).then_some(now + RECHECK_MS);
        let silence = if self.record.is_none() { self.watchdog.due_ms() } else { None };
        let limit = self.time_limit_due().map(|(_, due)| due);
        let progress =
            if self.record.is_none() { self.progress.due_ms(self.run.board.started_ms.get()) } else { None };
        let orphaned = self.holders.as_ref().and_then(Holders::due_ms);
        let own = [
            self.control_due_ms,
            self.readiness.due_ms,
            progress,
            self.resources_due_ms(),
            self.run.files.log.due_ms(),
        ];
        [driver, ending, recheck, silence, limit, orphaned].into_iter().chain(own).flatten().min()
    }

    pub(crate) fn saw_output(&mut self) {
        let silent_ms = self.run.files.direct.as_ref().map_or(0, |_| DirectOutput::silent_ms());
        self.watchdog.saw_output(clock::monotonic_ms().saturating_sub(silent_ms));
        let end = self.run.files.log.end();
        let ended = self.record.is_some();
        self.connections.answer(|interest| match interest {
            Interest::Output(seen) if seen < end => Some(ControlReply::Grown { output_bytes: end, ended }),
            Interest::Output(_) | Interest::End | Interest::Ready | Interest::TreeEnd | Interest::None => {
                None
            }
        });
    }

    fn run_timers(&mut self) {
        let now = clock::monotonic_ms();
        self.check_time_limits(now);
        self.check_resources(now);
        let may_be_stalled = self.record.is_none() && self.watchdog.due_ms().is_some_and(|due| now >= due);
        if may_be_stalled && sys::is_stopped(self.process.pid) {
            self.watchdog.postpone(now);
        } else if self.record.is_none()
            && let Some(prompt) = self.watchdog.judge(now, || self.run.files.log.tail(1024))
        {
            self.journal(JournalEntry::Stalled { prompt });
            self.settle_beside();
        }
        if self.control_due_ms.is_some_and(|due| now >= due) {
            self.open_control();
        }
        self.start_helper_when_due(now);
        if self.record.is_none() {
            self.note_progress_when_due(now);
        }
        if self.holders.as_mut().is_some_and(|holders| holders.look(now)) {
            self.holders = None;
            let grace_ms = self.run.message.limits.timeout_grace_ms;
            self.kill("the end of its session".to_owned(), SIGTERM, Some(grace_ms));
        }
        if let Some(exit) = self.unrecorded.take() {
            self.leader_ended(exit);
        }
        self.continue_ending();
    }

    /// Opens the control socket, writes the views and returns unused memory. A task that lives for a few milliseconds
    /// needs none of this.
    fn open_control(&mut self) {
        self.control_due_ms = None;
        detach_streams();
        // Before the socket is open: a client that can connect relies on it.
        self.look_for_holders();
        self.listener = files::listen().ok();
        if self.record.is_none() {
            self.run.files.space.ensure();
            self.write_metadata();
            self.begin_readiness();
            self.run.forget_command();
            sys::give_back_memory();
        }
    }

    /// Searches for holders of the task's session. The first one is written to the journal, so that a successor can
    /// tell a session whose holders are gone from one that never had any.
    pub(crate) fn look_for_holders(&mut self) {
        let now = clock::monotonic_ms();
        if self.holders.as_mut().is_some_and(|holders| holders.search_first(now)) {
            self.journal(JournalEntry::Hosted);
        }
    }

    /// Appends to the journal. On a full disk the line is lost, and the task goes on.
    pub(crate) fn journal(&mut self, entry: JournalEntry) {
        record::journal(&mut self.run.files.journal, self.run.number, entry);
    }
}
