//! The pending notifications of a session, each delivered until it is acknowledged.

use std::time::{Duration, Instant};
use std::{fmt, vec};

use mw_model::{MessageTurn, Notice};

use super::session::Session;
use crate::error::Result;
use crate::notify::delivery::Delivery;

/// Notifications that were taken for delivery, oldest first, at most a hundred. Those that are neither acknowledged nor
/// stored with a message are delivered again.
///
/// While this process holds them, no other host of the session gets them.
pub struct Notices {
    session: Session,
    left: vec::IntoIter<Notice>,
}

impl Notices {
    /// Takes at most this many pending notifications. Waits until there are some, the time is up, or the caller no longer
    /// wants to wait.
    pub(super) fn take(
        session: &Session,
        most: usize,
        timeout: Duration,
        goes_on: impl Fn() -> bool,
    ) -> Result<Self> {
        let deadline = Instant::now().checked_add(timeout);
        let notices = session.as_host(|host| {
            // Listen before the first look, so that nothing that happens in between is missed.
            let listener = if timeout.is_zero() { None } else { Some(host.base.listen()?) };
            // The process that should have sent the wake-up may have been killed.
            let fallback = host.base.settings.wait_fallback;
            loop {
                let notices = host.drain_some(most, |_| false)?.into_notices();
                let left =
                    deadline.map_or(fallback, |deadline| deadline.saturating_duration_since(Instant::now()));
                match &listener {
                    Some(listener) if notices.is_empty() && !left.is_zero() && goes_on() => {
                        listener.wait(left.min(fallback));
                    }
                    Some(_) | None => return Ok(notices),
                }
            }
        })?;
        Ok(Self { session: session.clone(), left: notices.into_iter() })
    }

    /// Stores a message with the remaining notifications in front of a text, and acknowledges them in the same
    /// transaction: after a crash, [`Session::messages`] has both or neither.
    ///
    /// # Errors
    /// When the database fails. Then nothing was stored, and the notifications are delivered again.
    pub fn into_message(mut self, text: &str) -> Result<MessageTurn> {
        let notices = self.left.by_ref().collect();
        self.session.as_host(|host| Delivery::new(host, notices).store(text))
    }
}

impl Iterator for Notices {
    type Item = PendingNotice;

    fn next(&mut self) -> Option<PendingNotice> {
        let notice = self.left.next()?;
        Some(PendingNotice { session: self.session.clone(), notice, is_open: true })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Notices {}

impl Drop for Notices {
    fn drop(&mut self) {
        give_back(&self.session, self.left.by_ref().collect());
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Notices").field(&self.left.as_slice()).finish()
    }
}

/// A notification that is delivered again unless it is acknowledged.
#[derive(Debug)]
pub struct PendingNotice {
    session: Session,
    notice: Notice,
    is_open: bool,
}

impl PendingNotice {
    /// Returns what happened.
    #[must_use]
    pub fn notice(&self) -> &Notice {
        &self.notice
    }

    /// Returns what happened as one line.
    #[must_use]
    pub fn summary(&self) -> String {
        self.notice.summary()
    }

    /// Returns the block that a model reads.
    #[must_use]
    pub fn to_block(&self) -> String {
        self.notice.to_block()
    }

    /// Acknowledges it: the owner has it, and it is never delivered again.
    ///
    /// # Errors
    /// When the database fails. Then it is delivered again.
    pub fn acknowledge(mut self) -> Result<()> {
        self.is_open = false;
        self.session.as_host(|host| Delivery::new(host, vec![self.notice.clone()]).acknowledge())
    }
}

impl Drop for PendingNotice {
    fn drop(&mut self) {
        if self.is_open {
            give_back(&self.session, vec![self.notice.clone()]);
        }
    }
}

/// Leaves notifications to the next delivery. If that fails, they are delivered again when this process has exited.
fn give_back(session: &Session, notices: Vec<Notice>) {
    if !notices.is_empty() {
        let _ = session.as_host(|host| {
            drop(Delivery::new(host, notices));
            Ok(())
        });
    }
}
