//! The loop: output, control, children, timers, until the tree is empty.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;

use mw_model::wire::{ControlReply, EndRequest, ExitRecord, JournalEntry, RECORD_VERSION};
use mw_model::{Exit, Process, Status, TimeLimit, Timestamp};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::bootstrap::Run;
use crate::clock;
use crate::control::{Connections, Interest};
use crate::ending::{Ending, SIGKILL, Step};
use crate::fail_point::fail_point;
use crate::files;
use crate::hosts::Hosts;
use crate::launch::{Begun, is_settling_due};
use crate::pump::pump;
use crate::record;
use crate::sys::{self, Phase, ProcessHandle, WaitResult};
use crate::tree::{self, Tree};
use crate::watchdog::Watchdog;

mod requests;

const SIGTERM: i32 = 15;
/// How long output that is still coming may delay the record after the first process has ended.
const DRAIN_MS: u64 = 250;
/// How long a task must live before it is settled in.
const SETTLE_IN_MS: u64 = 5;
/// How long the rest of a killed tree may take to die before it is called a survivor.
const DYING_MS: u64 = 20;
/// How long the true exit of a process that is not our child may take to show.
const FOREIGN_EXIT_MS: u64 = 5000;
/// How long a waiter gets to act on what it was told, before this process goes on to clean up.
const NAP_NS: i64 = 1_000_000;
/// How often a tree that is not below us is looked at, and a failed record retried.
const RECHECK_MS: u64 = 200;

/// The task's first process, as far as this process can know it.
pub(crate) enum Leader {
    /// Our child: the kernel tells us.
    Child(u32),
    /// Somebody else's child, held by a handle; the moment its end was seen, if it was.
    Foreign { handle: Option<ProcessHandle>, ended_ms: Option<u64> },
    /// Over and recorded.
    Ended,
}

/// One run under supervision.
pub(crate) struct Supervisor {
    pub(crate) run: Run,
    pub(crate) leader: Leader,
    pub(crate) process: Process,
    pub(crate) started_at: Timestamp,
    pub(crate) tree: Tree,
    pub(crate) record: Option<ExitRecord>,
    pub(crate) ending: Option<Ending>,
    pub(crate) grace_ms: u64,
    pub(crate) watchdog: Watchdog,
    pub(crate) listener: Option<UnixListener>,
    pub(crate) connections: Connections,
    /// Who hosts the task's session, where it ends with that.
    pub(crate) hosts: Option<Hosts>,
    /// When to do what only a task that lives for a while needs.
    pub(crate) settled_in_ms: Option<u64>,
    /// `mw settle` running beside us while survivors live.
    pub(crate) settle: Option<u32>,
    /// An exit whose record could not be written yet.
    pub(crate) unrecorded: Option<Exit>,
    pub(crate) limit_struck: bool,
    pub(crate) had_survivors: bool,
    /// Whether children may have come or gone since the tree was last looked at.
    pub(crate) tree_changed: bool,
}

impl Supervisor {
    pub(crate) fn new(run: Run, begun: Begun) -> Self {
        let tree = match begun.leader {
            Leader::Foreign { .. } => Tree::of_orphan(&run.message.task),
            Leader::Child(_) | Leader::Ended => Tree::of_child(),
        };
        let now = clock::monotonic_ms();
        if run.board.started_ms() == 0 {
            let ago = clock::wall().ms_since(begun.started_at);
            run.board.set_started_ms(now.saturating_sub(ago));
        }
        let limits = &run.message.limits;
        Self {
            leader: begun.leader,
            process: begun.process,
            started_at: begun.started_at,
            tree,
            record: None,
            ending: None,
            grace_ms: limits.kill_grace_ms,
            watchdog: Watchdog::new(limits.stall_ms, limits.prompts.clone(), now),
            listener: None,
            connections: Connections::default(),
            hosts: run.message.session.as_ref().map(Hosts::new),
            settled_in_ms: Some(now + SETTLE_IN_MS),
            settle: None,
            unrecorded: None,
            limit_struck: false,
            had_survivors: false,
            tree_changed: true,
            run,
        }
    }

    /// Runs until the tree is empty and everything is recorded.
    pub(crate) fn run(mut self) -> Run {
        if self.record.is_none() {
            // Before the first byte is taken: the task may fill the disk with its next breath.
            record::reserve_result();
        }
        // Every look comes before a sleep: a stand-in may find everything over.
        loop {
            self.watch_leader();
            self.run_timers();
            if self.is_over() {
                break;
            }
            self.sleep();
            if pump(&mut self.run.files) {
                self.saw_output();
            }
            self.reap_children();
            self.serve();
        }
        if self.had_survivors {
            record::journal(&mut self.run.files.journal, self.run.number, JournalEntry::TreeEmpty);
        }
        if let Some(settle) = self.settle {
            let _ = sys::reap(settle);
        }
        self.run
    }

    fn sleep(&self) {
        let timeout = self.next_due().map(|due| {
            let ms = due.saturating_sub(clock::monotonic_ms());
            Timespec { tv_sec: (ms / 1000) as i64, tv_nsec: (ms % 1000 * 1_000_000) as _ }
        });
        let mut fds: Vec<_> =
            [self.run.events.as_fd(), self.run.files.stdout.read.as_fd(), self.run.files.stderr.read.as_fd()]
                .into_iter()
                .chain(self.listener.as_ref().map(AsFd::as_fd))
                .chain(self.run.files.terminal.as_ref().map(|terminal| terminal.ours.as_fd()))
                .chain(self.foreign_handle())
                .chain(self.hosts.as_ref().and_then(Hosts::descriptor))
                .chain(self.connections.descriptors())
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
        let _ = poll(&mut fds, timeout.as_ref());
    }

    fn foreign_handle(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        match &self.leader {
            Leader::Foreign { handle: Some(handle), ended_ms: None } => Some(handle.as_fd()),
            Leader::Foreign { .. } | Leader::Child(_) | Leader::Ended => None,
        }
    }

    fn next_due(&self) -> Option<u64> {
        let now = clock::monotonic_ms();
        let ending = self.ending.as_ref().map(|ending| match ending.step(now) {
            Step::WaitUntil(due) => due,
            Step::Send(_) | Step::GiveUp => now,
        });
        let foreign_tree = matches!(self.leader, Leader::Foreign { ended_ms: Some(_), .. })
            || (self.record.is_some() && self.tree.is_foreign());
        let recheck = (foreign_tree || self.unrecorded.is_some()).then_some(now + RECHECK_MS);
        let silence = if self.record.is_none() { self.watchdog.due_ms() } else { None };
        let limit = self.limit_due().map(|(_, due)| due);
        let orphaned = self.hosts.as_ref().and_then(Hosts::due_ms);
        [ending, recheck, silence, limit, orphaned, self.settled_in_ms].into_iter().flatten().min()
    }

    /// The nearest time limit and its moment on the monotonic clock.
    fn limit_due(&self) -> Option<(TimeLimit, u64)> {
        if self.limit_struck {
            return None;
        }
        let limits = &self.run.message.limits;
        let run = limits
            .run_timeout_ms
            .map(|ms| (TimeLimit::Run(ms), self.run.board.started_ms().saturating_add(ms)));
        let deadline = limits.deadline.map(|at| {
            let left = at.ms_since(clock::wall());
            (TimeLimit::Deadline, clock::monotonic_ms().saturating_add(left))
        });
        run.into_iter().chain(deadline).min_by_key(|(_, due)| *due)
    }

    fn saw_output(&mut self) {
        self.watchdog.saw_output(clock::monotonic_ms());
        let end = self.run.files.log.end();
        let ended = self.record.is_some();
        self.connections.answer(|interest| match interest {
            Interest::Output(seen) if seen < end => Some(ControlReply::Grown { output_bytes: end, ended }),
            Interest::Output(_) | Interest::End | Interest::TreeEnd | Interest::None => None,
        });
    }

    fn run_timers(&mut self) {
        let now = clock::monotonic_ms();
        if let Some((limit, due)) = self.limit_due()
            && now >= due
        {
            self.limit_struck = true;
            record::journal(
                &mut self.run.files.journal,
                self.run.number,
                JournalEntry::LimitReached { limit },
            );
            self.grace_ms = self.run.message.limits.timeout_grace_ms;
            self.begin_ending(EndRequest::Limit(limit), SIGTERM);
        }
        if self.record.is_none()
            && let Some(prompt) = self.watchdog.judge(now, || self.run.files.log.tail(1024))
        {
            record::journal(&mut self.run.files.journal, self.run.number, JournalEntry::Stalled { prompt });
            self.settle_beside();
        }
        if self.settled_in_ms.is_some_and(|due| now >= due) {
            self.settle_in();
        }
        if self.hosts.as_mut().is_some_and(|hosts| hosts.look(now)) {
            self.hosts = None;
            let grace_ms = self.run.message.limits.timeout_grace_ms;
            self.kill("the end of its session".to_owned(), SIGTERM, Some(grace_ms));
        }
        if let Some(exit) = self.unrecorded.take() {
            self.leader_ended(exit);
        }
        self.drive_ending();
    }

    /// Opens the control socket and writes the view. Files are dear on some systems, and a task of a few
    /// milliseconds needs neither.
    fn settle_in(&mut self) {
        self.settled_in_ms = None;
        self.listener = files::listen().ok();
        if let Some(hosts) = &mut self.hosts {
            hosts.search();
        }
        if self.record.is_none() {
            self.write_metadata();
        }
    }

    fn write_metadata(&self) {
        if let Some(metadata) = &self.run.message.metadata {
            let mut metadata = metadata.clone();
            metadata.pid = Some(self.process.pid);
            metadata.started_at = Some(self.started_at);
            if let Some(record) = &self.record {
                metadata.status = record.cause().status();
                metadata.completed_at = Some(record.completed_at);
                metadata.exit_code = record.exit_code;
            }
            record::write_metadata(&metadata);
        }
    }

    fn begin_ending(&mut self, asked: EndRequest, signal: i32) {
        let now = clock::monotonic_ms();
        match &mut self.ending {
            Some(ending) => ending.press(signal, now),
            None => self.ending = Some(Ending::new(asked, signal, now)),
        }
        self.drive_ending();
    }

    /// Does what the kill pipeline says is due.
    fn drive_ending(&mut self) {
        let now = clock::monotonic_ms();
        let Some(Step::Send(signal)) = self.ending.as_ref().map(|ending| ending.step(now)) else {
            return;
        };
        let living = self.living();
        let reached = Tree::signal(&living, signal);
        if signal == SIGKILL
            && let Some(cgroup) = &self.run.cgroup
        {
            cgroup.kill();
        }
        let grace_ms = self.grace_ms;
        if let Some(ending) = &mut self.ending {
            ending.sent(signal, &reached, clock::wall(), now, grace_ms);
        }
    }

    fn living(&self) -> BTreeMap<u32, u64> {
        let mut living = self.tree.living(self.settle);
        if let Some(cgroup) = &self.run.cgroup {
            // What left the family is still in the group.
            living.extend(cgroup.pids().into_iter().filter_map(|pid| Some((pid, sys::start_ticks(pid)?))));
        }
        living
    }

    /// Looks whether the first process has ended.
    fn watch_leader(&mut self) {
        match &mut self.leader {
            Leader::Ended => {}
            Leader::Child(pid) => match sys::look_at_exit(Some(*pid)) {
                WaitResult::Ended(_, exit) => self.leader_ended(exit),
                WaitResult::NoneYet => {}
                WaitResult::NoChildren => {
                    self.leader_ended(Exit::Unknown("it was reaped by somebody else".to_owned()));
                }
            },
            Leader::Foreign { handle: None, .. } => {
                self.leader_ended(Exit::Unknown("it ended while no supervisor lived".to_owned()));
            }
            Leader::Foreign { handle: Some(handle), ended_ms } => {
                let now = clock::monotonic_ms();
                if ended_ms.is_none() && sys::start_ticks(self.process.pid) != Some(self.process.start_ticks)
                {
                    *ended_ms = Some(now);
                }
                if let Some(seen) = *ended_ms {
                    let exit = sys::exit_of_foreign(handle.as_fd());
                    let given_up = now >= seen + FOREIGN_EXIT_MS;
                    let unknown = || {
                        Exit::Unknown("its supervisors were killed and this kernel does not tell".to_owned())
                    };
                    if let Some(exit) = exit.or_else(|| given_up.then(unknown)) {
                        self.leader_ended(exit);
                    }
                }
            }
        }
    }

    /// Drains, records, reaps, tells, in this order.
    fn leader_ended(&mut self, exit: Exit) {
        let deadline = clock::monotonic_ms() + DRAIN_MS;
        while pump(&mut self.run.files) && clock::monotonic_ms() < deadline {}
        fail_point("supervisor-exit-seen");
        let living = self.left_behind();
        let record = self.exit_record(exit.clone(), &living);
        match record::write_result(&record) {
            Ok(()) => {}
            // Somebody removed the task's directory: there is nobody left to tell.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => {
                self.unrecorded = Some(exit);
                return;
            }
        }
        self.record = Some(record.clone());
        self.run.board.set_phase(Phase::Recorded);
        fail_point("supervisor-recorded");
        if let Leader::Child(pid) = std::mem::replace(&mut self.leader, Leader::Ended) {
            let _ = sys::reap(pid);
        }
        fail_point("supervisor-reaped");
        let told = self.connections.any_waits_for(Interest::End);
        self.tell_end(&record);
        self.run.free_slots();
        if told && !is_settling_due() {
            // Whoever was just told may be waiting for this very processor.
            let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: NAP_NS }));
        }
        self.write_metadata();
        self.tree_changed = true;
        if !living.is_empty() {
            self.had_survivors = true;
            self.settle_beside();
        }
    }

    /// What outlives the first process. After a kill the rest of the tree gets a moment to die first:
    /// what is about to is no survivor.
    fn left_behind(&self) -> BTreeMap<u32, u64> {
        let alone = matches!(self.leader, Leader::Child(leader) if sys::is_only_child(leader));
        if alone && self.run.cgroup.is_none() && self.settle.is_none() {
            return BTreeMap::new();
        }
        let patience = if self.ending.is_some() { DYING_MS } else { 0 };
        let deadline = clock::monotonic_ms() + patience;
        loop {
            let mut living = self.living();
            living.remove(&self.process.pid);
            if living.is_empty() || clock::monotonic_ms() >= deadline {
                return living;
            }
            let pause = Timespec { tv_sec: 0, tv_nsec: 200_000 };
            let _ = poll(&mut [], Some(&pause));
        }
    }

    fn tell_end(&mut self, record: &ExitRecord) {
        let end = self.run.files.log.end();
        self.connections.answer(|interest| match interest {
            Interest::End => Some(ControlReply::Ended { record: Box::new(record.clone()) }),
            Interest::Output(_) => Some(ControlReply::Grown { output_bytes: end, ended: true }),
            Interest::TreeEnd | Interest::None => None,
        });
    }

    fn exit_record(&self, exit: Exit, living: &BTreeMap<u32, u64>) -> ExitRecord {
        let exit_code = match &exit {
            Exit::Code(code) => Some(*code),
            Exit::Signal { .. } | Exit::Unknown(_) => None,
        };
        let duration_ms = clock::monotonic_ms().saturating_sub(self.run.board.started_ms());
        let lines = self.run.files.log.count_lines();
        ExitRecord {
            version: RECORD_VERSION,
            run: self.run.number,
            process: Some(self.process.clone()),
            started_at: Some(self.started_at),
            exit,
            unsupervised: None,
            asked: self.ending.as_ref().map(|ending| ending.asked.clone()),
            signals: self.ending.as_ref().map(|ending| ending.signals.clone()).unwrap_or_default(),
            output_bytes: self.run.files.log.end(),
            dropped_bytes: self.run.files.log.dropped(),
            survivors: tree::named(living),
            exit_code,
            duration_seconds: duration_ms as f64 / 1000.0,
            completed_at: clock::wall(),
            stdout_lines: lines.map(|(stdout, _)| stdout),
            stderr_lines: lines.map(|(_, stderr)| stderr),
            summary: record::last_line(&self.run.files.log.tail(4096)),
        }
    }

    /// Reaps orphans that became ours, and the settler.
    fn reap_children(&mut self) {
        self.run.events.clear();
        loop {
            match sys::look_at_exit(None) {
                WaitResult::NoneYet | WaitResult::NoChildren => return,
                WaitResult::Ended(pid, exit) => {
                    self.tree_changed = true;
                    if matches!(self.leader, Leader::Child(leader) if leader == pid) {
                        self.leader_ended(exit);
                        if self.unrecorded.is_some() {
                            return;
                        }
                    } else {
                        let _ = sys::reap(pid);
                        if self.settle == Some(pid) {
                            self.settle = None;
                        }
                    }
                }
            }
        }
    }

    /// Runs `mw settle` while this process stays, if anybody waits for that.
    pub(crate) fn settle_beside(&mut self) {
        if self.settle.is_none() && (self.run.message.always_settle || is_settling_due()) {
            self.settle = sys::spawn_settle(&self.run.message.settle).ok();
        }
    }

    /// Tells whether nothing is left to do, answering those who wait for the end of the tree.
    fn is_over(&mut self) -> bool {
        let Some(record) = &self.record else { return false };
        // Output of survivors alone is no reason to look through the process table.
        if !std::mem::take(&mut self.tree_changed) && self.ending.is_none() && !self.tree.is_foreign() {
            return false;
        }
        let status = record.cause().status();
        let now = clock::monotonic_ms();
        let living = self.living();
        let hopeless = self.ending.as_ref().is_some_and(|ending| ending.step(now) == Step::GiveUp);
        if living.is_empty() || hopeless {
            self.answer_kills(status, &living, now);
        }
        if hopeless {
            self.ending = None;
        }
        living.is_empty()
    }

    fn answer_kills(&mut self, status: Status, living: &BTreeMap<u32, u64>, now: u64) {
        if !self.connections.any_waits_for(Interest::TreeEnd) {
            return;
        }
        let none = Ending::new(EndRequest::Kill { by: String::new() }, SIGTERM, now);
        let ending = self.ending.as_ref().unwrap_or(&none);
        let receipt = ending.receipt(&self.run.message.task, status, tree::named(living), now);
        self.connections.answer(|interest| match interest {
            Interest::TreeEnd => Some(ControlReply::Killed { receipt: receipt.clone() }),
            Interest::End | Interest::Output(_) | Interest::None => None,
        });
    }
}
