//! Ends the whole tree: sends signals, searches for living processes, and answers clients that wait for the end.

use std::collections::BTreeMap;

use mw_model::signal::{SIGCONT, SIGKILL, SIGSTOP, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
use mw_model::wire::{ControlReply, EndRequest, KillReceipt, SentSignal};
use mw_model::{Status, signal_name};
use rustix::process::{Pid, Signal, kill_process_group};

use super::kill_plan::{Ending, Step};
use super::tree;
use super::tree::Tree;
use crate::clock;
use crate::control::socket::Interest;
use crate::sys;
use crate::sys::Found;
use crate::watch::supervise::{Leader, Supervisor};

impl Supervisor {
    pub(crate) fn begin_ending(&mut self, asked: Option<EndRequest>, signal: i32) {
        let now = clock::monotonic_ms();
        self.run.board.signalled.set(false);
        match &mut self.ending {
            Some(ending) => ending.request(signal, now),
            None => self.ending = Some(Ending::new(asked, signal, now)),
        }
        self.continue_ending();
    }

    /// Takes the step of the kill plan that is due.
    pub(crate) fn continue_ending(&mut self) {
        let now = clock::monotonic_ms();
        let Some(Step::Send(signal)) = self.ending.as_ref().map(|ending| ending.step(now)) else {
            return;
        };
        let signals = &[signal, SIGCONT][..if needs_waking(signal) { 2 } else { 1 }];
        let reached = self.signal_tree(signals);
        let cgroup = self.run.cgroup.as_ref().filter(|_| signal == SIGKILL);
        if let Some(cgroup) = cgroup.filter(|_| !self.has_driver()) {
            cgroup.kill();
        }
        self.run.board.signalled.set(true);
        let grace_ms = self.grace_ms;
        if let Some(ending) = &mut self.ending {
            ending.sent(signal, &reached, clock::wall(), now, grace_ms);
        }
    }

    /// Sends signals to the tree; returns the processes that got them.
    ///
    /// The first process's group gets them in one call, which no fork escapes and which needs no descriptor. The tree is
    /// searched before that, because the receipt names every process that was killed.
    fn signal_tree(&mut self, signals: &[i32]) -> Vec<u32> {
        if self.has_driver() {
            return self.signal_driver(&signals[..1]);
        }
        let living = self.addressees(signals[0]);
        let group = self.group().filter(|_| !self.spares_children(signals[0]));
        let is_inside = |pid: u32| group.is_some() && sys::group_of(pid) == group;
        let (inside, outside): (BTreeMap<_, _>, _) = living.into_iter().partition(|(pid, _)| is_inside(*pid));
        let was_sent = group.is_some_and(|group| signals.iter().all(|number| send_to_group(group, *number)));
        let mut reached =
            if was_sent { inside.into_keys().collect() } else { Tree::signal(&inside, signals) };
        reached.extend(Tree::signal(&outside, signals));
        reached
    }

    /// Returns whether the task still runs elsewhere.
    fn has_driver(&self) -> bool {
        self.run.message.driver.is_some() && self.record.is_none()
    }

    /// Returns the first process's group. It is not reaped yet, so no other group has its pid.
    fn group(&self) -> Option<Pid> {
        match self.leader {
            Leader::Child(leader) => Pid::from_raw(leader as i32),
            Leader::Foreign { .. } | Leader::Away { .. } | Leader::Ended => None,
        }
    }

    /// Kills the first process's group at once. Processes that have left it are found by the sweeps that follow.
    pub(crate) fn kill_group(&self) {
        if let Some(group) = self.group() {
            send_to_group(group, SIGKILL);
        }
    }

    /// Sends a signal that does not ask the task to end. The reply says what was sent and that the task continues.
    pub(crate) fn pass_signal(&mut self, by: String, signal: i32) -> ControlReply {
        self.notice_end();
        // As with `kill`, only SIGCONT continues a stopped process.
        let reached = if self.has_driver() {
            self.signal_driver(&[signal])
        } else {
            Tree::signal(&self.addressees(signal), &[signal])
        };
        let status = match (&self.record, &self.ending) {
            (Some(record), _) => record.cause().status(),
            (None, Some(_)) => Status::Cancelling,
            (None, None) => Status::Running,
        };
        let sent = SentSignal { signal: signal_name(signal), at: clock::wall() };
        ControlReply::Killed {
            receipt: KillReceipt {
                id: self.run.message.task.clone(),
                status,
                requested_by: by,
                signals: if reached.is_empty() { Vec::new() } else { vec![sent] },
                killed: Vec::new(),
                killed_more: 0,
                survivors: Vec::new(),
                duration_ms: 0,
            },
        }
    }

    /// Returns the processes that get a signal: the whole tree, or only the first process if the command passes
    /// signals on.
    fn addressees(&self, signal: i32) -> BTreeMap<u32, u64> {
        let mut living = self.living().processes;
        if self.spares_children(signal) {
            let leader = self.process.pid;
            living.retain(|pid, _| *pid == leader);
        }
        living
    }

    /// Returns whether a signal goes to the first process alone.
    fn spares_children(&self, signal: i32) -> bool {
        self.run.message.leader_first && signal != SIGKILL && self.record.is_none()
    }

    pub(crate) fn living(&self) -> Found {
        let ours = [self.settle, self.run.board.helper.get()];
        let mut living = self.tree.living(ours.into_iter().flatten());
        if let Some(cgroup) = &self.run.cgroup {
            // Processes that are no longer descendants are still in the group.
            living
                .processes
                .extend(cgroup.pids().into_iter().filter_map(|pid| Some((pid, sys::start_ticks(pid)?))));
        }
        let leader = &self.process;
        if matches!(self.leader, Leader::Foreign { .. })
            && !living.processes.contains_key(&leader.pid)
            && sys::start_ticks(leader.pid) == Some(leader.start_ticks)
        {
            // It is the child of another process, and may have an environment that we may not read.
            living.processes.insert(leader.pid, leader.start_ticks);
        }
        living
    }

    /// Returns whether nothing is left to do. Answers clients that wait for the end of the tree.
    pub(crate) fn is_over(&mut self) -> bool {
        let now = clock::monotonic_ms();
        let hopeless = self.ending.as_ref().is_some_and(|ending| ending.step(now) == Step::GiveUp);
        let status = match &self.record {
            Some(record) => record.cause().status(),
            None if hopeless => Status::Cancelling,
            None => return false,
        };
        let killing = self.ending.as_ref().is_some_and(|ending| !ending.has_given_up());
        // Output of survivors is no reason to search the process table.
        if !std::mem::take(&mut self.tree_changed) && !killing && !self.tree.is_foreign() {
            return false;
        }
        let Found { processes: living, is_whole } = self.living();
        self.tree_changed = !is_whole;
        let is_gone = living.is_empty() && is_whole;
        if is_gone || hopeless {
            self.answer_kills(status, &living, now);
        }
        if let Some(ending) = self.ending.as_mut().filter(|_| hopeless) {
            ending.give_up(now);
        }
        is_gone && self.record.is_some()
    }

    fn answer_kills(&mut self, status: Status, living: &BTreeMap<u32, u64>, now: u64) {
        if !self.connections.any_waits_for(Interest::TreeEnd) {
            return;
        }
        let none = Ending::new(Some(EndRequest::Kill { by: String::new() }), SIGTERM, now);
        let ending = self.ending.as_ref().unwrap_or(&none);
        let receipt = ending.receipt(self.run.message.task.clone(), status, tree::named(living), now);
        self.connections.answer(|interest| match interest {
            Interest::TreeEnd => Some(ControlReply::Killed { receipt: receipt.clone() }),
            Interest::End | Interest::Ready | Interest::Output(_) | Interest::None => None,
        });
    }
}

fn send_to_group(group: Pid, number: i32) -> bool {
    Signal::from_named_raw(number).is_some_and(|signal| kill_process_group(group, signal).is_ok())
}

/// Returns whether a stopped process must be continued to get a signal. SIGKILL works anyway, and the stop signals are
/// meant to stop.
const fn needs_waking(signal: i32) -> bool {
    !matches!(signal, SIGKILL | SIGCONT | SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU)
}
