//! Tasks whose supervisors were both killed, and that may still be running.

use std::time::Duration;

use mw_model::wire::RefusalCode;
use mw_model::{Cause, Process, TaskKind, Timestamp};

use super::message;
use crate::database::findings::Findings;
use crate::disk::slots::Slots;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::launch::Launcher;
use crate::queue::Queue;
use crate::supervisor::{Purpose, SupervisorLink};
use crate::task::Task;

impl Launcher<'_> {
    /// Starts an adopter for a task without a supervisor that runs, ran, or has left children behind. If no adopter
    /// can be started, the task is lost if no process of it lives. Otherwise the next reconciliation tries again.
    pub(crate) fn adopt(&self, task: &Task, process: &Process, started_at: Timestamp) -> Result<bool> {
        let run = task.state.run();
        let alone = self.base.home.task(&task.id).hold_adoption()?;
        let findings = self.base.database.look_at(task)?;
        if findings.supervised || (findings.record.is_some() && !findings.has_orphans) {
            // Another process was faster.
            return self.base.database.record_findings(&task.id, &findings);
        }
        let findings = findings.with_supervisor();
        self.base.database.record_findings(&task.id, &findings)?;
        fail_point("adopt-recorded");
        let adopted = self.send_adopter(task, &findings, process, started_at);
        drop(alone);
        match adopted {
            Ok(()) => {
                self.base.untended.borrow_mut().remove(&task.id);
                // If the task's process is gone, the adopter reports it at once.
                if self.base.home.task(&task.id).await_record(run, Duration::from_millis(50))? {
                    let record = self.base.home.task(&task.id).result(run)?;
                    self.base.database.record_findings(&task.id, &findings.with_record(record))?;
                }
                Ok(true)
            }
            // Two reconcilers ran at once, and the other's adopter has the task.
            Err(Error::Spawn { code: RefusalCode::Busy, .. }) => Ok(false),
            Err(error) => {
                let reason = format!("its supervisors were killed, and no new one can be started: {error}");
                // A remote task may be running even if it has no local process.
                let is_here = task.kind != TaskKind::Remote;
                if is_here
                    && findings.record.is_none()
                    && !self.base.database.lives(task, process, &findings.journal)?
                {
                    return self.base.database.record_unsupervised(&task.id, run, Cause::Lost { reason });
                }
                self.base.untended.borrow_mut().insert(task.id.clone(), reason);
                Ok(false)
            }
        }
    }

    fn send_adopter(
        &self,
        task: &Task,
        findings: &Findings,
        process: &Process,
        started_at: Timestamp,
    ) -> Result<()> {
        let run = task.state.run();
        let spec = self.base.home.task(&task.id).spec()?;
        let running = (process.clone(), started_at);
        let message = message::adopt_message(&self.base.settings, &spec, run, running);
        // The slot was released when the supervisors died. The task runs whether or not it gets another. Children
        // that were left behind need none.
        let slots = match findings.record {
            Some(_) => None,
            None => Queue::on(self.base).take_slots_patiently(&spec)?,
        };
        let slots = slots.as_ref().map(Slots::descriptors).unwrap_or_default();
        let supervisor = SupervisorLink::start_for(&self.base.settings.executables, Purpose::Adopt, run)?;
        supervisor.send_to(&self.base.home.task(&task.id).open_as_file()?);
        supervisor.hand_over(message, &slots).map(drop)
    }
}
