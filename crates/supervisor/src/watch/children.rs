//! Children of the supervisor: its own helpers, and orphans of the task.

use std::os::fd::AsFd;

use super::supervise::{Leader, Supervisor};
use crate::end::conclude::{is_settling_due, settler};
use crate::sys;
use crate::sys::WaitResult;

impl Supervisor {
    /// Reaps orphans of the task, and the supervisor's own helpers.
    pub(crate) fn reap_children(&mut self) {
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
                        // The CPU time of our own helpers, and of nested supervisors, is not the task's.
                        let board = self.run.board;
                        let is_ours = [self.settle, board.helper.get(), board.writer.get()]
                            .contains(&Some(pid))
                            || (self.resource_schedule.is_some() && sys::was_ours(pid));
                        self.child_ended(pid);
                        if is_ours {
                            let _ = sys::reap(pid);
                            if board.writer.get() == Some(pid) {
                                self.run.files.log.rejoin();
                            }
                        } else {
                            self.run.reap(pid);
                        }
                        if self.settle == Some(pid) {
                            self.settle = None;
                            if std::mem::take(&mut self.settle_again) {
                                self.settle_beside();
                            }
                        }
                    }
                }
            }
        }
    }

    /// Runs `mw settle` while this process continues, if a process waits for events. A running one may have looked
    /// too early, so another one follows it.
    pub(crate) fn settle_beside(&mut self) {
        self.settle_again = self.settle.is_some();
        if !self.settle_again
            && let Some(settler) = settler(&self.run.message, is_settling_due)
        {
            let lock = settler.lock.as_ref().map(AsFd::as_fd);
            self.settle = sys::spawn_program(&self.run.message.settle, None, lock).ok();
        }
    }
}
