//! Tasks whose supervisors were both killed, and that may go on running.

use mw_model::wire::Launch;
use mw_model::{Cause, Process, Timestamp};

use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::launch::{self, Purpose, Supervisor};
use crate::platform;
use crate::reconcile::Findings;
use crate::runtime::Runtime;
use crate::slots::{Pool, Slots};
use crate::task::Task;

impl Runtime {
    /// The task runs, or ran, and nobody supervises it: starts an adopter, or records it as lost.
    pub(crate) fn adopt(
        &self,
        task: &Task,
        findings: &Findings,
        process: Process,
        started_at: Timestamp,
    ) -> Result<bool> {
        let run = task.state.run();
        let alone = self.home.hold_adoption(&task.id)?;
        if self.home.is_supervised(&task.id)? || self.home.result(&task.id, run)?.is_some() {
            // Somebody else was faster.
            return self.record_findings(&task.id, &self.look_at(task)?);
        }
        self.record_findings(
            &task.id,
            &Findings { record: None, supervised: true, journal: findings.journal.clone(), ..*findings },
        )?;
        fail_point("adopt-recorded");
        let lives = platform::lives(&process);
        let launch = Launch::Adopt { process, started_at };
        let adopted = self.home.spec(&task.id).and_then(|spec| {
            let message = launch::adopt_message(&self.settings, &spec, run, launch);
            // Its slot went with its supervisors; it runs, whether or not there is one for it.
            let slots = self.take_slots_patiently(&spec.session, Pool::of(spec.kind))?;
            let slots = slots.as_ref().map(Slots::descriptors).unwrap_or_default();
            let supervisor = Supervisor::summon_for(&self.settings.programs, Purpose::Adopt, run)?;
            supervisor.send_to(&self.home.open_task(&task.id)?);
            supervisor.hand_over(&message, &slots)
        });
        drop(alone);
        match adopted {
            Ok(_) => {
                // When its process is gone, the adopter says so at once.
                let _ = self.await_record(&task.id, run, std::time::Duration::from_millis(50));
                if let Some(record) = self.home.result(&task.id, run)? {
                    let findings = Findings {
                        record: Some(record),
                        supervised: true,
                        journal: findings.journal.clone(),
                        ..*findings
                    };
                    self.record_findings(&task.id, &findings)?;
                }
                Ok(true)
            }
            // Two reconcilers at once: the other's adopter has it.
            Err(Error::Spawn { code, .. }) if code == "busy" => Ok(false),
            // The adopter was killed too. What lives is not lost: whoever looks next sends another.
            Err(Error::Unanswered) if lives => Ok(false),
            Err(error) => {
                let reason = format!("its supervisors were killed and it cannot be adopted: {error}");
                self.record_unsupervised(&task.id, run, Cause::Lost { reason })
            }
        }
    }
}
