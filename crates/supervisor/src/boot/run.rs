//! A run: its start message and everything that guardian and supervisor hold open for it.

use std::os::fd::OwnedFd;

use mw_model::Enforcement;
use mw_model::wire::{Launch, SLOT_FREE, StartMessage};
use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, getppid, kill_process};

use crate::files::Files;
use crate::spawn::cgroup::Cgroup;
use crate::sys;
use crate::sys::{Board, ChildEvents, Connects};

/// One run and everything that is held open for it.
pub(crate) struct Run {
    pub(crate) number: u32,
    pub(crate) message: StartMessage,
    pub(crate) board: Board,
    pub(crate) files: Files,
    pub(crate) events: ChildEvents,
    pub(crate) cgroup: Option<Cgroup>,
    /// Calls of a command that may reach only this machine. A successor has none, and then they fail.
    pub(crate) connects: Option<Connects>,
    pub(crate) boot_id: String,
    /// The guardian, in the supervisor; absent in the guardian itself.
    pub(crate) guardian: Option<Pid>,
    /// Locks that mark this task as running, shared by guardian and supervisor.
    pub(super) slots: Vec<OwnedFd>,
}

impl Run {
    /// Frees the slots: unlocks them in all processes that share them.
    pub(crate) fn free_slots(&self) {
        for slot in &self.slots {
            // The guardian may run this again, after another task has taken the slot.
            if rustix::fs::flock(slot, FlockOperation::NonBlockingLockExclusive).is_ok() {
                let _ = rustix::io::pwrite(slot, &[SLOT_FREE], 0);
                let _ = rustix::fs::flock(slot, FlockOperation::Unlock);
            }
        }
    }

    /// Returns how resource limits are enforced.
    pub(crate) fn enforcement(&self) -> Enforcement {
        match &self.cgroup {
            Some(group) if group.enforces => Enforcement::ControlGroup,
            Some(_) | None => Enforcement::Sampled,
        }
    }

    /// Drops what was needed only to execute the command.
    pub(crate) fn forget_command(&mut self) {
        if let Launch::Spawn { argv, env, .. } = &mut self.message.launch {
            (*argv, *env) = (Vec::new(), Vec::new());
        }
    }

    /// Reaps a process of the task, and records its resource usage.
    pub(crate) fn reap(&self, pid: u32) {
        if let Ok(us) = sys::reap(pid) {
            self.board.spent_us.add(us);
        }
    }

    /// Wakes the guardian, so that it reads the board. If the guardian was killed, our new parent must not get the signal.
    pub(crate) fn wake_guardian(&self) {
        if let Some(guardian) = self.guardian
            && getppid() == Some(guardian)
        {
            let _ = kill_process(guardian, Signal::USR1);
        }
    }

    /// Removes the task's control group, which is empty by now.
    pub(crate) fn remove_cgroup(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.remove();
        }
    }
}
