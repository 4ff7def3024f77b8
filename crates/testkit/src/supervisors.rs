//! The supervisors of the tasks of a home, and how tests kill them.

use rustix::process::Signal;

use crate::home::Home;
use crate::processes::{self, kill_if};
use crate::wait::{SOON, wait_until};

/// The name under which the kernel lists supervisors.
const SUPERVISOR: &str = "mw-supervisor";

/// The guardian and the supervisor of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The parent, which takes over if the supervisor dies.
    pub guardian: u32,
    /// The child, which supervises the task.
    pub supervisor: u32,
}

impl Home {
    /// Returns the living supervisors of a task, which have its directory as their working directory.
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

    /// Returns the guardian and the supervisor of a task, if both are alive.
    #[must_use]
    pub fn find_pair(&self, id: &str) -> Option<Pair> {
        let found = self.supervisors_of(id);
        let parent_of = |pid: u32| Some(processes::stat(pid)?.parent);
        found.iter().find_map(|supervisor| {
            let guardian = parent_of(*supervisor)?;
            // A command that is about to be executed looks like a supervisor, so the topmost two processes count.
            let is_topmost = !found.contains(&parent_of(guardian)?);
            (found.contains(&guardian) && is_topmost).then_some(Pair { guardian, supervisor: *supervisor })
        })
    }

    /// Waits until a task has a guardian and a supervisor, and returns them.
    ///
    /// # Panics
    /// When they do not appear in time.
    #[track_caller]
    #[must_use]
    pub fn pair(&self, id: &str) -> Pair {
        wait_until(SOON, &format!("{id} has a guardian and a supervisor"), || self.find_pair(id))
    }

    /// Kills one process of this home with SIGKILL and waits for its death.
    ///
    /// # Panics
    /// When it does not belong to this home, or does not die.
    #[track_caller]
    pub fn kill_process(&self, pid: u32) {
        assert!(self.try_kill_process(pid), "process {pid} does not belong to this home, or is dead");
    }

    /// Does the same as [`Home::kill_process`]; returns whether the process existed.
    ///
    /// # Panics
    /// When it does not die.
    #[track_caller]
    pub fn try_kill_process(&self, pid: u32) -> bool {
        let inside = |pid| processes::cwd(pid).is_some_and(|cwd| cwd.starts_with(self.state()));
        let hit = kill_if(pid, Signal::KILL, |pid| self.is_tagged(pid) || inside(pid));
        if hit {
            self.until_dead(pid);
        }
        hit
    }

    /// Kills the guardian and the supervisor of a task.
    ///
    /// # Panics
    /// When they do not die.
    #[track_caller]
    pub fn kill_supervisors(&self, id: &str) {
        let pair = self.pair(id);
        // The guardian first, because it would take over after the death of the supervisor. A successor that is started
        // meanwhile is killed as well.
        self.kill_process(pair.guardian);
        wait_until(SOON, &format!("{id} has no supervisor"), || {
            let left = self.supervisors_of(id);
            for pid in &left {
                kill_if(*pid, Signal::KILL, |pid| self.supervises(pid, id));
            }
            left.is_empty().then_some(())
        });
    }

    /// Returns the readiness helpers of a task.
    #[must_use]
    pub fn helpers_of(&self, id: &str) -> Vec<u32> {
        let mut found = self.tagged();
        found.retain(|pid| {
            let words = processes::command_line(*pid);
            words.iter().any(|word| word == "--ready") && words.iter().any(|word| word == id)
        });
        found
    }

    /// Waits until a task has a readiness helper, and returns it.
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
    /// When it does not die in time.
    #[track_caller]
    pub fn until_dead(&self, pid: u32) {
        wait_until(SOON, &format!("process {pid} is dead"), || (!processes::alive(pid)).then_some(()));
    }
}
