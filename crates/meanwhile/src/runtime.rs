//! An open home and the parts of the engine that work on it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::agent::Agents;
use crate::approval::Approvals;
use crate::base::{Base, Ear};
use crate::clock::{Clock, SystemClock};
use crate::disk::home::Home;
use crate::disk::task_dir::control::Silent;
use crate::error::Result;
use crate::live::Live;
use crate::notify::{Hooks, Notifications};
use crate::read::{Reader, Tasks};
use crate::record::Lookup;
use crate::record::database::Database;
use crate::redact::Redaction;
use crate::retain::Retention;
use crate::runner::Runner;
use crate::session::Sessions;
use crate::settings::Settings;
use crate::settle::Settler;
use crate::start::Starts;
use crate::trace::Traces;

/// An open home. Each part of the engine is one method away.
pub struct Runtime {
    pub(crate) base: Base,
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
        let home = Home::open(&settings.home)?;
        Ok(Self {
            base: Base {
                settings,
                home,
                database: Database::default(),
                clock,
                ready: Cell::new(None),
                untended: RefCell::default(),
                silent: Silent::default(),
                settles_itself: Cell::new(false),
            },
        })
    }

    /// Returns the home.
    #[must_use]
    pub const fn home(&self) -> &Home {
        &self.base.home
    }

    /// Returns the settings that the home was opened with.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.base.settings
    }

    /// Sets the database aside if it is damaged. Returns whether the next call uses a new one.
    pub fn set_aside_if_damaged(&self) -> bool {
        self.base.set_aside_if_damaged()
    }

    /// Starts listening for changes. Every change after this call wakes the listener.
    ///
    /// # Errors
    /// When the wake-up socket cannot be created.
    pub fn listen(&self) -> Result<Ear> {
        self.base.listen()
    }

    /// Returns the part that reads the current tasks and events.
    #[must_use]
    pub const fn tasks(&self) -> Tasks<'_> {
        Tasks::on(&self.base)
    }

    /// Returns the part that resolves a name or id to a task.
    #[must_use]
    pub const fn lookup(&self) -> Lookup<'_> {
        Lookup::on(&self.base)
    }

    /// Returns the part that starts tasks.
    #[must_use]
    pub const fn starts(&self) -> Starts<'_> {
        Starts::on(&self.base)
    }

    /// Returns the part that handles approvals.
    #[must_use]
    pub const fn approvals(&self) -> Approvals<'_> {
        Approvals::on(&self.base)
    }

    /// Returns the part that controls running tasks.
    #[must_use]
    pub const fn live(&self) -> Live<'_> {
        Live::on(&self.base)
    }

    /// Returns the part for agent tasks.
    #[must_use]
    pub const fn agents(&self) -> Agents<'_> {
        Agents::on(&self.base)
    }

    /// Returns the part that records events.
    #[must_use]
    pub const fn settler(&self) -> Settler<'_> {
        Settler::on(&self.base)
    }

    /// Returns the part that does the work due after a task has ended.
    #[must_use]
    pub const fn runner(&self) -> Runner<'_> {
        Runner::on(&self.base)
    }

    /// Returns the part that notifies owners.
    #[must_use]
    pub const fn notifications(&self) -> Notifications<'_> {
        Notifications::on(&self.base)
    }

    /// Returns the part that runs the user's hooks.
    #[must_use]
    pub const fn hooks(&self) -> Hooks<'_> {
        Hooks::on(&self.base)
    }

    /// Returns the part for output, cursors and waits.
    #[must_use]
    pub const fn reader(&self) -> Reader<'_> {
        Reader::on(&self.base)
    }

    /// Returns the part that hides secrets.
    #[must_use]
    pub const fn redaction(&self) -> Redaction<'_> {
        Redaction::on(&self.base)
    }

    /// Returns the part that removes tasks.
    #[must_use]
    pub const fn retention(&self) -> Retention<'_> {
        Retention::on(&self.base)
    }

    /// Returns the part for sessions and their owners.
    #[must_use]
    pub const fn sessions(&self) -> Sessions<'_> {
        Sessions::on(&self.base)
    }

    /// Returns the part for spans and their export.
    #[must_use]
    pub const fn traces(&self) -> Traces<'_> {
        Traces::on(&self.base)
    }
}
