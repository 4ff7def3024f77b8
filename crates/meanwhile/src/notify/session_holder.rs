//! Hosts of a session: which process receives its notifications, and when.

use std::io;
use std::path::Path;
use std::sync::Arc;

use mw_model::MessageTurn;

use crate::base::Base;
use crate::disk::session_dir::lease::Lease;
use crate::error::{Error, Result};
use crate::live::Live;
use crate::notify::Notifications;
use crate::reconcile::Reconciler;
use crate::request::{Holder, check_session_name};

/// When a host wants its notifications. A delivery at another [`Moment`] is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeliveryPolicy {
    /// At the start of a run.
    #[default]
    NextRun,
    /// Also between two batches of tool calls.
    BetweenBatches,
    /// Whenever it asks.
    Immediate,
}

/// What a host is doing when it asks for notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A run is about to start.
    RunStart,
    /// Tool calls have been answered, and the model has not been asked again yet.
    BetweenBatches,
    /// The host is idle.
    Idle,
}

impl DeliveryPolicy {
    pub(super) const fn allows(self, moment: Moment) -> bool {
        match self {
            Self::NextRun => matches!(moment, Moment::RunStart),
            Self::BetweenBatches => matches!(moment, Moment::RunStart | Moment::BetweenBatches),
            Self::Immediate => true,
        }
    }
}

/// A host of a session. While it lives, notifications that were handed to it are not handed to others.
pub struct SessionHolder<'base> {
    pub(crate) base: &'base Base,
    pub(crate) session: String,
    pub(crate) lease: Arc<Lease>,
    pub(super) policy: DeliveryPolicy,
    /// Only tasks of these starters are reported while the starters live; absent = all tasks.
    pub(crate) starters: Option<Vec<String>>,
}

impl<'base> Notifications<'base> {
    /// Opens a session for its host. The session's tasks end some time after its last host has exited.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn host(&self, session: &str, policy: DeliveryPolicy) -> Result<SessionHolder<'base>> {
        let lease = self.hold(session, Lease::host)?;
        Live::on(self.base).announce_holders(session)?;
        Ok(self.opened(session, lease, policy))
    }

    /// Opens a session for a tool server, which passes notifications on. Tasks that end with their client end some time after
    /// the last server and host have exited; other tasks are not affected.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn server(&self, session: &str) -> Result<SessionHolder<'base>> {
        let lease = self.hold(session, Lease::server)?;
        Ok(self.opened(session, lease, DeliveryPolicy::Immediate))
    }

    /// Like [`Notifications::host`], with a lease that is already held.
    pub(crate) fn host_with(
        &self,
        session: &str,
        lease: &Arc<Lease>,
        policy: DeliveryPolicy,
    ) -> SessionHolder<'base> {
        let lease = Arc::clone(lease);
        SessionHolder { base: self.base, session: session.to_owned(), lease, policy, starters: None }
    }

    /// Opens a session for a process that only passes notifications on; its tasks are not affected.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn relay(&self, session: &str) -> Result<SessionHolder<'base>> {
        let lease = self.hold(session, Lease::relay)?;
        Ok(self.opened(session, lease, DeliveryPolicy::Immediate))
    }

    fn hold(&self, session: &str, take: fn(&Path) -> io::Result<Lease>) -> Result<Lease> {
        check_session_name(session)?;
        take(self.base.home.session(session).path()).map_err(Error::io("cannot hold the session"))
    }

    fn opened(&self, session: &str, lease: Lease, policy: DeliveryPolicy) -> SessionHolder<'base> {
        // Tasks that waited for a host of the session may start now.
        if lease.ended_loss && self.base.home.is_waiting_noted() {
            Reconciler::on(self.base).pump_queue();
        }
        self.host_with(session, &Arc::new(lease), policy)
    }
}

impl SessionHolder<'_> {
    /// Releases the session while this process keeps running; its tasks are notified.
    ///
    /// # Errors
    /// When the database fails.
    pub fn leave(self) -> Result<()> {
        let (base, session) = (self.base, self.session.clone());
        drop(self);
        Live::on(base).announce_holders(&session)
    }

    /// Returns the session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the name under which this host receives the session's notifications.
    #[must_use]
    pub fn holder(&self) -> Holder {
        Holder(self.lease.token.clone())
    }

    /// Returns the messages that were stored in this session, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn turns(&self) -> Result<Vec<MessageTurn>> {
        Ok(self.base.database.store()?.turns(&self.session)?)
    }
}
