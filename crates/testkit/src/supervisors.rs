//! The supervisors of a home's tasks, and their deaths.

use rustix::process::Signal;

use crate::home::Home;
use crate::processes::{self, kill_if};
use crate::wait::{SOON, wait_until};

/// The name under which the kernel lists supervisors.
const SUPERVISOR: &str = "mw-supervisor";

/// The two processes that watch over a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The parent, which sleeps and stands in.
    pub guardian: u32,
    /// The child, which does the work.
    pub supervisor: u32,
}

impl Home {
    /// Returns the living supervisors of a task: those that stand in its directory.
    #[must_use]
    pub fn supervisors_of(&self, id: &str) -> Vec<u32> {
        let mut found = processes::all();
        found.retain(|pid| self.supervises(*pid, id));
        found
    }

    fn supervises(&self, pid: u32, id: &str) -> bool {
        processes::name(pid).as_deref() == Some(SUPERVISOR)
            && processes::cwd(pid).is_some_and(|cwd| cwd == self.task_dir(id))
            && processes::alive(pid)
    }

    /// Returns a task's two watchers, if it has both at this moment.
    #[must_use]
    pub fn find_pair(&self, id: &str) -> Option<Pair> {
        let found = self.supervisors_of(id);
        let parent_of = |pid: u32| Some(processes::stat(pid)?.parent);
        found.iter().find_map(|supervisor| {
            let guardian = parent_of(*supervisor)?;
            // What a supervisor is about to execute looks like one for a moment: then the topmost two are meant.
            let is_topmost = !found.contains(&parent_of(guardian)?);
            (found.contains(&guardian) && is_topmost).then_some(Pair { guardian, supervisor: *supervisor })
        })
    }

    /// Waits until a task has its two watchers and returns them.
    ///
    /// # Panics
    /// When there are not two of them.
    #[track_caller]
    #[must_use]
    pub fn pair(&self, id: &str) -> Pair {
        wait_until(SOON, &format!("{id} has a guardian and a supervisor"), || self.find_pair(id))
    }

    /// Kills one process of this home with SIGKILL and waits for its death.
    ///
    /// # Panics
    /// When it is none of this home, or does not die.
    #[track_caller]
    pub fn slay(&self, pid: u32) {
        assert!(self.try_slay(pid), "process {pid} is none of this home, or is dead");
    }

    /// As [`Home::slay`], but tells whether the process was there to be killed.
    ///
    /// # Panics
    /// When it does not die.
    #[track_caller]
    pub fn try_slay(&self, pid: u32) -> bool {
        let inside = |pid| processes::cwd(pid).is_some_and(|cwd| cwd.starts_with(self.state()));
        let hit = kill_if(pid, Signal::KILL, |pid| self.is_tagged(pid) || inside(pid));
        if hit {
            self.until_dead(pid);
        }
        hit
    }

    /// Kills both watchers of a task.
    ///
    /// # Panics
    /// When they do not die.
    #[track_caller]
    pub fn slay_watchers(&self, id: &str) {
        let pair = self.pair(id);
        // The guardian first: it would otherwise see the death of its child and take over. Whoever is put in
        // its place meanwhile dies too.
        self.slay(pair.guardian);
        wait_until(SOON, &format!("nobody watches {id}"), || {
            let left = self.supervisors_of(id);
            for pid in &left {
                kill_if(*pid, Signal::KILL, |pid| self.supervises(pid, id));
            }
            left.is_empty().then_some(())
        });
    }

    /// Returns the helpers that look whether a task is ready.
    #[must_use]
    pub fn helpers_of(&self, id: &str) -> Vec<u32> {
        let mut found = self.tagged();
        found.retain(|pid| {
            let words = processes::words(*pid);
            words.iter().any(|word| word == "--ready") && words.iter().any(|word| word == id)
        });
        found
    }

    /// Waits until a helper looks whether a task is ready, and returns it.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    #[must_use]
    pub fn helper(&self, id: &str) -> u32 {
        wait_until(SOON, &format!("{id} has a helper"), || self.helpers_of(id).first().copied())
    }

    /// Waits for the death of a process.
    ///
    /// # Panics
    /// When it lives on.
    #[track_caller]
    pub fn until_dead(&self, pid: u32) {
        wait_until(SOON, &format!("process {pid} is dead"), || (!processes::alive(pid)).then_some(()));
    }
}
