//! Brings the database up to date with the task directories. Every front end does this before it relies on the
//! database. Doing it twice changes nothing.
//!
//! For a task that holds a slot, its directory decides:
//!
//! | exit record | supervisor's lock | journal | the task … |
//! |---|---|---|---|
//! | exists | – | – | has ended |
//! | – | held | – | runs (or is being started) |
//! | – | free | started | runs unsupervised: it is adopted; if its process is gone, it is lost |
//! | – | free | empty | was never started: it is queued again, unless its starter is still running |
//! | – | – | removed after the start | runs as long as its process lives, and is lost then |
//!
//! An ended task may have left children behind, which its supervisor looks after. If the supervisor is gone, the
//! children are adopted too. If a file cannot be read, the task stays as it was, and is checked again.

use std::time::{Duration, Instant};

use mw_model::{Cause, TaskId, TaskState};

use crate::database::findings::{Findings, Situation};
use crate::error::{Error, Result};
use crate::launch::Launcher;
use crate::reconcile::Reconciler;
use crate::task::Task;

impl Reconciler<'_> {
    /// Checks every unsettled task, records what happened, and starts queued tasks that may start.
    ///
    /// # Errors
    /// When the database fails, or no task can be checked now. Damage to single tasks is recorded, not returned.
    pub fn reconcile(&self) -> Result<()> {
        self.reconcile_unsettled()?;
        if self.base.database.healing(|| Ok(self.base.database.store()?.any_waiting()?))? {
            self.pump_queue();
        }
        Ok(())
    }

    /// Checks every unsettled task. This happens before slots are given away, because a task that runs unsupervised
    /// has lost its slot and gets another.
    pub(crate) fn reconcile_unsettled(&self) -> Result<()> {
        self.base.database.healing(|| {
            for task in self.base.database.store()?.unsettled()? {
                match self.reconcile_known(&task) {
                    // A task that cannot be checked stays as it was, and does not hide the others.
                    Err(error @ Error::Io { .. }) if !error.is_shortage() => {}
                    other => _ = other?,
                }
            }
            Ok(())
        })
    }

    /// Checks one task. Returns whether anything changed.
    pub(crate) fn reconcile_task(&self, id: &TaskId) -> Result<bool> {
        self.base.database.healing(|| match self.base.database.store()?.task(id)? {
            Some(task) => self.reconcile_known(&task),
            None => Ok(false),
        })
    }

    /// Checks a task whose start this process has given up.
    pub(crate) fn reconcile_started(&self, id: &TaskId) -> Result<bool> {
        let Some(task) = self.base.database.store()?.task(id)? else {
            return Ok(false);
        };
        let findings = self.base.database.look_at_own_start(&task)?;
        self.act_on(&task, &findings)
    }

    /// Checks a task that was already read. On a full disk the change is not recorded, but callers still see it.
    fn reconcile_known(&self, task: &Task) -> Result<bool> {
        match self.try_reconcile(task) {
            Err(Error::Store(error)) if error.is_disk_full() => Ok(false),
            other => other,
        }
    }

    fn try_reconcile(&self, task: &Task) -> Result<bool> {
        match &task.state {
            TaskState::Pending { .. } => return Ok(false),
            TaskState::Ended { .. } if task.survivors == 0 => return Ok(false),
            _ => {}
        }
        if self.base.database.runs_unchanged(task)? {
            return Ok(false);
        }
        let findings = self.base.database.look_at(task)?;
        if matches!(task.state, TaskState::Ended { .. }) && findings.supervised {
            return Ok(false);
        }
        self.act_on(task, &findings)
    }

    fn act_on(&self, task: &Task, findings: &Findings) -> Result<bool> {
        let (database, run) = (&self.base.database, task.state.run());
        let cause = match findings.situation(task, database.boot_time()) {
            Situation::StarterAtWork => return self.await_starter(task),
            Situation::LeftChildren(process, started_at) | Situation::Unsupervised(process, started_at) => {
                return Launcher::on(self.base).adopt(task, &process, started_at);
            }
            Situation::CutByReboot => {
                Cause::Lost { reason: "the machine rebooted during its start".to_owned() }
            }
            Situation::NotExecuted(message) => Cause::SpawnFailed { message: message.to_owned() },
            Situation::Recordable => {
                return match self.unsupervised_process(task, findings)? {
                    Some(process) => self.lose(task, process),
                    None => database.record_findings(&task.id, findings),
                };
            }
        };
        database.record_unsupervised(&task.id, run, cause)
    }

    /// Waits for the starter: both supervisors were killed during the start, but the starter is still running and
    /// sends an adopter. Until then the task has no slot, and another task could take it.
    fn await_starter(&self, task: &Task) -> Result<bool> {
        const TIMEOUT: Duration = Duration::from_millis(500);
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let findings = self.base.database.look_at(task)?;
            if !findings.awaits_starter() {
                return self.act_on(task, &findings);
            }
            if Instant::now() > deadline {
                return self.base.database.record_findings(&task.id, &findings);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns a task as it is now, even if the database could not be written.
    pub(crate) fn current(&self, id: &TaskId) -> Result<Task> {
        self.reconcile_task(id)?;
        let mut task = self.base.database.stored(id)?;
        self.base.database.overlay(&mut task);
        Ok(task)
    }
}
