//! What there is to tell a session, one by one.

use std::vec;

use mw_model::Notice;

use super::session::Session;
use crate::error::Result;
use crate::notify::delivery::{acknowledge_one, give_back_one};
use crate::notify::host::{DeliveryPolicy, Moment};

/// Notices on their way to the owner, oldest first. Those that are not acknowledged are told again.
pub struct Notices {
    session: Session,
    left: vec::IntoIter<Notice>,
}

impl Notices {
    pub(super) fn take(session: &Session) -> Result<Self> {
        let notices = session.home.with(|runtime| {
            let host =
                runtime.notifications().host_with(&session.name, session.lease(), DeliveryPolicy::Immediate);
            Ok(host.drain(Moment::Idle)?.into_notices())
        })?;
        Ok(Self { session: session.clone(), left: notices.into_iter() })
    }
}

impl Iterator for Notices {
    type Item = PendingNotice;

    fn next(&mut self) -> Option<PendingNotice> {
        let notice = self.left.next()?;
        Some(PendingNotice { session: self.session.clone(), notice, is_open: true })
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        // Those that nobody looked at.
        for notice in self.left.by_ref() {
            drop(PendingNotice { session: self.session.clone(), notice, is_open: true });
        }
    }
}

/// A notice that is told again unless it is acknowledged.
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

    /// Says it in one sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        self.notice.summary()
    }

    /// Returns the block that a model reads.
    #[must_use]
    pub fn to_block(&self) -> String {
        self.notice.to_block()
    }

    /// Closes it: its owner has it, and it is never told again.
    ///
    /// # Errors
    /// When the database fails; it is told again then.
    pub fn acknowledge(mut self) -> Result<()> {
        let token = self.session.lease().token();
        self.session.home.with(|runtime| acknowledge_one(&runtime.base, &self.notice, token))?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for PendingNotice {
    fn drop(&mut self) {
        if self.is_open {
            let token = self.session.lease().token();
            // What cannot be given back now is when this process is gone.
            let _ = self.session.home.with(|runtime| give_back_one(&runtime.base, &self.notice, token));
        }
    }
}
