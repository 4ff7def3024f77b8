//! The end of the whole tree: signals on their way, what still lives, and who wants to hear when nothing does.

use std::collections::BTreeMap;

use mw_model::Status;
use mw_model::wire::{ControlReply, EndRequest};

use super::{SIGTERM, Supervisor};
use crate::clock;
use crate::control::Interest;
use crate::ending::{Ending, SIGKILL, Step};
use crate::sys;
use crate::tree::{self, Tree};

impl Supervisor {
    pub(super) fn begin_ending(&mut self, asked: Option<EndRequest>, signal: i32) {
        let now = clock::monotonic_ms();
        match &mut self.ending {
            Some(ending) => ending.press(signal, now),
            None => self.ending = Some(Ending::new(asked, signal, now)),
        }
        self.drive_ending();
    }

    /// Does what the kill pipeline says is due.
    pub(super) fn drive_ending(&mut self) {
        let now = clock::monotonic_ms();
        let Some(Step::Send(signal)) = self.ending.as_ref().map(|ending| ending.step(now)) else {
            return;
        };
        let mut living = self.living();
        if self.run.message.leader_first && signal != SIGKILL && self.record.is_none() {
            // It was asked for so: the command ends what it has started, in its own way.
            let leader = self.process.pid;
            living.retain(|pid, _| *pid == leader);
        }
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

    pub(super) fn living(&self) -> BTreeMap<u32, u64> {
        let ours = [self.settle, self.run.board.helper()];
        let mut living = self.tree.living(ours.into_iter().flatten());
        if let Some(cgroup) = &self.run.cgroup {
            // What left the family is still in the group.
            living.extend(cgroup.pids().into_iter().filter_map(|pid| Some((pid, sys::start_ticks(pid)?))));
        }
        living
    }

    /// Tells whether nothing is left to do, answering those who wait for the end of the tree.
    pub(super) fn is_over(&mut self) -> bool {
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
        let none = Ending::new(Some(EndRequest::Kill { by: String::new() }), SIGTERM, now);
        let ending = self.ending.as_ref().unwrap_or(&none);
        let receipt = ending.receipt(&self.run.message.task, status, tree::named(living), now);
        self.connections.answer(|interest| match interest {
            Interest::TreeEnd => Some(ControlReply::Killed { receipt: receipt.clone() }),
            Interest::End | Interest::Ready | Interest::Output(_) | Interest::None => None,
        });
    }
}
