//! Removes old tasks by age, number and size, but never a live task or one whose owner has not been notified.

use std::sync::Arc;

use mw_model::{TaskId, Timestamp};

use super::clear::{AT_ONCE, ClearReport, Undelivered};
use crate::disk::log_names;
use crate::disk::store::{EndedTask, Totals};
use crate::error::{Result, Retained};
use crate::reconcile::Reconciler;
use crate::retain::Retention;
use crate::settings::RetentionSettings;

/// How many tasks are read with one query.
const BATCH: u32 = 200;
/// Disk usage of a task in addition to its output.
const OVERHEAD_BYTES: u64 = 16 << 10;

/// Returns whether there are too many finished tasks, or they are too large.
const fn exceed(totals: Totals, limits: &RetentionSettings) -> bool {
    let bytes = totals.output_bytes + totals.count * OVERHEAD_BYTES;
    let many = limits.max_tasks > 0 && totals.count > limits.max_tasks;
    let large = limits.max_disk > 0 && bytes > limits.max_disk;
    many || large
}

impl Retention<'_> {
    /// Removes finished tasks that are too old, and the oldest ones while there are too many or they are too large. A
    /// task that cannot be removed is reported and does not prevent the removal of others.
    ///
    /// # Errors
    /// When the database fails.
    pub fn purge(&self) -> Result<ClearReport> {
        Reconciler::on(self.base).reconcile()?;
        let limits = self.base.settings.retention;
        let now = self.base.clock.now();
        let too_old = |task: &EndedTask| {
            !limits.max_age.is_zero() && u128::from(now.ms_since(task.ended_at)) >= limits.max_age.as_millis()
        };
        let mut report = ClearReport::default();
        loop {
            let (mut totals, oldest) = self.base.database.store()?.oldest_ended(BATCH)?;
            let before = report.cleared.len();
            let mut expired = Vec::new();
            for task in oldest {
                if too_old(&task) || exceed(totals, &limits) {
                    totals.count = totals.count.saturating_sub(1);
                    totals.output_bytes = totals.output_bytes.saturating_sub(task.output_bytes);
                    expired.push(task.id);
                }
            }
            for some in expired.chunks(AT_ONCE) {
                if let Err(error) = self.clear_finished(some, Undelivered::Stays, &mut report) {
                    let is_open = |id: &&TaskId| {
                        !report.cleared.contains(id) && !report.kept.iter().any(|kept| kept.id == **id)
                    };
                    let open: Vec<_> = some.iter().filter(is_open).collect();
                    let error = Arc::new(error);
                    report.kept.extend(open.into_iter().map(|id| Retained::because(id, error.clone())));
                }
            }
            if report.cleared.len() - before < BATCH as usize {
                self.forget_old_records()?;
                self.base.database.sweep_cleared()?;
                self.sweep_keepers()?;
                self.sweep_child_sessions()?;
                log_names::sweep_log_names(&self.base.home);
                self.give_room_back();
                return Ok(report);
            }
        }
    }

    /// Removes approval requests, and spans that sessions recorded themselves, at the same age as tasks.
    fn forget_old_records(&self) -> Result<()> {
        let age = self.base.settings.retention.max_age;
        if !age.is_zero() {
            let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
            let before = Timestamp::from_micros(self.base.clock.now().as_micros().saturating_sub(age));
            self.base.database.transact(|transaction| {
                transaction.forget_approvals(before)?;
                Ok(transaction.forget_own_spans(before)?)
            })?;
        }
        Ok(())
    }

    /// Purges when a host starts, unless the settings turn automatic purging off.
    ///
    /// # Errors
    /// When the database fails.
    pub fn purge_at_startup(&self) -> Result<()> {
        if self.base.settings.retention.automatic { self.purge().map(drop) } else { Ok(()) }
    }

    /// Purges if the last purge was long ago.
    pub(crate) fn purge_if_due(&self) -> Result<()> {
        if self.base.database.is_purge_due()? {
            self.base.database.transact(|transaction| self.base.database.note_purge(transaction))?;
            self.purge()?;
        }
        Ok(())
    }
}
