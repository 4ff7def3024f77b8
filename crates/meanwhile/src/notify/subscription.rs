//! A stream of events for a host.

use std::time::{Duration, Instant};

use crate::base::Base;
use crate::disk::store::TaskEvent;
use crate::disk::wake_up::Listener;
use crate::error::Result;
use crate::notify::Notifications;
use crate::read::Tasks;
use crate::reconcile::Reconciler;
use crate::task::Scope;

/// How many events are returned at once.
const BATCH: u32 = 256;

/// A position in the stream of events. No event is missed, because all of them are in the database.
pub struct Subscription<'base> {
    base: &'base Base,
    listener: Listener,
    scope: Scope,
    seen: i64,
}

impl<'base> Notifications<'base> {
    /// Subscribes to the events of the tasks in scope, from now on.
    ///
    /// # Errors
    /// When the database fails.
    pub fn subscribe(&self, scope: Scope) -> Result<Subscription<'base>> {
        Reconciler::on(self.base).reconcile()?;
        let seen = Tasks::on(self.base).last_event()?;
        self.subscribe_after(seen, scope)
    }

    /// Like [`Notifications::subscribe`], from a position that an earlier subscription had reached.
    ///
    /// # Errors
    /// When the wake-up socket cannot be created.
    pub fn subscribe_after(&self, seen: i64, scope: Scope) -> Result<Subscription<'base>> {
        Ok(Subscription { base: self.base, listener: self.base.listen()?, scope, seen })
    }
}

impl Subscription<'_> {
    /// Returns the next events, oldest first. Sleeps until there are any; empty when the time is up.
    ///
    /// # Errors
    /// When the database fails.
    pub fn next(&mut self, longest: Duration) -> Result<Vec<TaskEvent>> {
        let deadline = Instant::now() + longest;
        loop {
            // Read this before the events, so that events that arrive in between are read next time.
            let newest = Tasks::on(self.base).last_event()?;
            let events = Tasks::on(self.base).events_after(self.seen, &self.scope, None, BATCH)?;
            if let Some(last) = events.last() {
                self.seen = last.seq;
                return Ok(events);
            }
            // None of these events is in scope. Skip them, so that they are not read again after every wake-up.
            self.seen = self.seen.max(newest);
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(events);
            }
            // The process that should have sent the wake-up may have been killed, so check again from time to time.
            self.listener.wait(left.min(self.base.settings.wait_fallback));
        }
    }

    /// Like [`Subscription::next`], but returns after any wake-up. Empty if it was not for an event of these tasks: an
    /// approval request was created or answered, or a caller should stop waiting.
    ///
    /// # Errors
    /// When the database fails.
    pub fn next_or_wake_up(&mut self, longest: Duration) -> Result<Vec<TaskEvent>> {
        let events = self.next(Duration::ZERO)?;
        if !events.is_empty() {
            return Ok(events);
        }
        // The process that should have sent the wake-up may have been killed, so check again from time to time.
        self.listener.wait(longest.min(self.base.settings.wait_fallback));
        self.next(Duration::ZERO)
    }

    /// Returns the position up to which events have been returned.
    #[must_use]
    pub const fn position(&self) -> i64 {
        self.seen
    }
}
