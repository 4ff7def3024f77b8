//! The alarm: the process that starts tasks when they are due, while no other command runs.

use std::time::Duration;

use mw_model::Timestamp;

use super::Settler;
use crate::disk::alarm::Alarm;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::reconcile::Reconciler;

/// How soon a due task that could not be started is tried again at first, and at the longest.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// The longest sleep, so that the alarm of a home that was removed exits.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

impl Settler<'_> {
    /// Starts the tasks that are due, and sleeps until the next one is, as long as there is one. Returns at once if another
    /// process does so.
    ///
    /// # Errors
    /// When the process cannot sleep. The next command that changes the queue starts another.
    pub fn keep_alarm(&self) -> Result<()> {
        let failed = || Error::io("cannot keep the alarm");
        while let Some(mut alarm) = Alarm::take(&self.base.home).map_err(failed())? {
            fail_point("alarm-taken");
            self.start_what_is_due(&mut alarm).map_err(failed())?;
            let is_current = alarm.is_current();
            drop(alarm);
            fail_point("alarm-released");
            // Another process may have left a due time to this one just before the lock was released.
            let is_needed =
                || self.next_look(self.base.clock.now(), FIRST_RETRY).is_ok_and(|next| next.is_some());
            if !is_current || !is_needed() {
                break;
            }
        }
        Ok(())
    }

    /// Starts what is due until nothing is due later, or the home is gone.
    fn start_what_is_due(&self, alarm: &mut Alarm) -> std::io::Result<()> {
        let mut retry = FIRST_RETRY;
        while alarm.is_current() {
            let now = self.base.clock.now();
            let done = Reconciler::on(self.base).reconcile();
            fail_point("alarm-started-due");
            let next = match done.and_then(|()| self.next_look(now, retry)) {
                Ok(None) => break,
                Ok(Some(next)) => next.min(later(now, LONGEST_SLEEP)),
                Err(_) => later(now, retry),
            };
            // A disk without room for the note: the alarm is rung more often than necessary.
            let _ = alarm.note(next);
            fail_point("alarm-noted");
            // A time that was committed before the note.
            let earlier = self.next_look(now, retry).ok().flatten().map_or(next, |other| other.min(next));
            alarm.sleep(earlier)?;
            retry = if earlier == later(now, retry) { LONGEST_RETRY.min(retry * 2) } else { FIRST_RETRY };
        }
        Ok(())
    }

    /// Returns when to look again, after what was due at a time was started; `None` if nothing is left. A task that was due
    /// and is still queued waits for a slot, or could not be started; then whoever frees the slot starts it.
    fn next_look(&self, now: Timestamp, retry: Duration) -> Result<Option<Timestamp>> {
        let store = self.base.database.store()?;
        let overdue = store.any_overdue(now)?.then(|| later(now, retry));
        Ok(store.next_due(now)?.into_iter().chain(overdue).min())
    }
}

fn later(now: Timestamp, after: Duration) -> Timestamp {
    now.plus_ms(after.as_millis() as u64)
}
