//! Events as they come, for a host.

use std::time::{Duration, Instant};

use crate::base::{Base, Ear};
use crate::disk::store::EventRow;
use crate::error::Result;
use crate::notify::Notifications;
use crate::read::Tasks;
use crate::settle::Settler;
use crate::task::Scope;

/// How many events are returned at once.
const BATCH: u32 = 256;

/// A place in the stream of events. It misses nothing: what it has not returned is in the database.
pub struct Subscription<'base> {
    base: &'base Base,
    ear: Ear,
    scope: Scope,
    seen: i64,
}

impl<'base> Notifications<'base> {
    /// Follows the events of some tasks from now on.
    ///
    /// # Errors
    /// When the database fails.
    pub fn subscribe(&self, scope: Scope) -> Result<Subscription<'base>> {
        Settler::on(self.base).reconcile()?;
        let seen = Tasks::on(self.base).last_event()?;
        self.subscribe_after(seen, scope)
    }

    /// Follows them from a place on that an earlier subscription had come to.
    ///
    /// # Errors
    /// When nobody can be listened to.
    pub fn subscribe_after(&self, seen: i64, scope: Scope) -> Result<Subscription<'base>> {
        Ok(Subscription { base: self.base, ear: self.base.listen()?, scope, seen })
    }
}

impl Subscription<'_> {
    /// Returns the next events, oldest first, sleeping until there are any; nothing when the time is up.
    ///
    /// # Errors
    /// When the database fails.
    pub fn next(&mut self, longest: Duration) -> Result<Vec<EventRow>> {
        let deadline = Instant::now() + longest;
        loop {
            // Before the look at its own: what others do meanwhile is looked at the next time.
            let newest = Tasks::on(self.base).last_event()?;
            let events = Tasks::on(self.base).events_after(self.seen, &self.scope, None, BATCH)?;
            if let Some(last) = events.last() {
                self.seen = last.seq;
                return Ok(events);
            }
            // None of these is of its tasks: a busy home's events are not read again at every ring.
            self.seen = self.seen.max(newest);
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(events);
            }
            // Who should have rung may have been killed, so it looks by itself now and then.
            self.ear.wait(left.min(Duration::from_millis(self.base.settings.fallback_ms)));
        }
    }

    /// As [`Subscription::next`], but returns as soon as anybody rings, with nothing if that was for no event of these
    /// tasks: a question was asked or answered, somebody wants a call to wait no longer.
    ///
    /// # Errors
    /// When the database fails.
    pub fn next_or_ring(&mut self, longest: Duration) -> Result<Vec<EventRow>> {
        let events = self.next(Duration::ZERO)?;
        if !events.is_empty() {
            return Ok(events);
        }
        // Who should have rung may have been killed, so it looks by itself now and then.
        self.ear.wait(longest.min(Duration::from_millis(self.base.settings.fallback_ms)));
        self.next(Duration::ZERO)
    }

    /// Returns the place up to which it has returned what there was.
    #[must_use]
    pub const fn place(&self) -> i64 {
        self.seen
    }
}
