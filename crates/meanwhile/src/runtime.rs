//! An open home and the parts of the engine that work on it.

use std::cell::Cell;
use std::sync::Arc;

use crate::agent::Agents;
use crate::approval::Approvals;
use crate::base::{Base, Directories};
use crate::clock::{Clock, SystemClock};
use crate::database::Lookup;
use crate::disk::home::Home;
use crate::disk::wake_up::Listener;
use crate::error::{Error, Result};
use crate::hooks::Hooks;
use crate::live::Live;
use crate::notify::Notifications;
use crate::queue::Queue;
use crate::read::{Reader, Tasks};
use crate::reconcile::Reconciler;
use crate::redact::Redaction;
use crate::retain::Retention;
use crate::session::Sessions;
use crate::settings::Settings;
use crate::settle::Settler;
use crate::start::Starts;
use crate::trace::Traces;

/// An open home. Each part of the engine is one method away.
pub struct Runtime {
    pub(crate) base: Base,
    /// Whether the database or the disk has failed.
    pub(crate) has_failed: Cell<bool>,
}

impl Runtime {
    /// Opens a home, and creates it if it does not exist. The database is opened when it is first needed, and rebuilt
    /// then if it was removed.
    ///
    /// # Errors
    /// When the home is not usable.
    pub fn open(settings: Settings) -> Result<Self> {
        Self::open_with_clock(settings, Arc::new(SystemClock))
    }

    /// Like [`Runtime::open`], with the caller's clock.
    ///
    /// # Errors
    /// As [`Runtime::open`].
    pub fn open_with_clock(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        Base::open(settings, clock).map(|base| Self { base, has_failed: Cell::new(false) })
    }

    /// Returns the home.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.base.home
    }

    /// Returns the part of the home that needs no database.
    #[must_use]
    pub fn directories(&self) -> &Directories {
        &self.base
    }

    /// Returns the settings that the home was opened with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.base.settings
    }

    /// Sets the database aside if it is damaged. Returns whether the next call uses a new one.
    pub fn set_aside_if_damaged(&self) -> bool {
        self.base.database.set_aside_if_damaged()
    }

    /// Records an error that is reported inside [`Meanwhile::with`](crate::Meanwhile::with), as part of a successful
    /// result. A damaged database is set aside, and the home is opened again for the next call.
    pub fn note_failure(&self, error: &Error) {
        self.base.database.heal_after(error);
        if matches!(error, Error::Store(_) | Error::Io { .. } | Error::EndedOnly { .. }) {
            self.has_failed.set(true);
        }
    }

    /// Starts listening for changes. Every change after this call wakes the listener.
    ///
    /// # Errors
    /// When the wake-up socket cannot be created.
    pub fn listen(&self) -> Result<Listener> {
        self.base.listen()
    }

    /// Returns the part that resolves a name or id to a task.
    #[must_use]
    pub const fn lookup(&self) -> Lookup<'_> {
        Lookup::on(&self.base.database)
    }
}

/// Defines the methods that return a part of the engine.
macro_rules! parts {
    ($($(#[$doc:meta])* $method:ident: $part:ident,)*) => {
        impl Runtime {
            $(
                $(#[$doc])*
                #[must_use]
                pub const fn $method(&self) -> $part<'_> {
                    $part::on(&self.base)
                }
            )*
        }
    };
}

parts! {
    /// Returns the part that reads the current tasks and events.
    tasks: Tasks,
    /// Returns the part that starts tasks.
    starts: Starts,
    /// Returns the part that decides which task runs next.
    queue: Queue,
    /// Returns the part that handles approvals.
    approvals: Approvals,
    /// Returns the part that controls running tasks.
    live: Live,
    /// Returns the part for agent tasks.
    agents: Agents,
    /// Returns the part that records events.
    reconciler: Reconciler,
    /// Returns the part that does the work due after a task has ended.
    settler: Settler,
    /// Returns the part that notifies owners.
    notifications: Notifications,
    /// Returns the part that runs the user's hooks.
    hooks: Hooks,
    /// Returns the part for output, cursors and waits.
    reader: Reader,
    /// Returns the part that hides secrets.
    redaction: Redaction,
    /// Returns the part that removes tasks.
    retention: Retention,
    /// Returns the part for sessions and their owners.
    sessions: Sessions,
    /// Returns the part for spans and their export.
    traces: Traces,
}
