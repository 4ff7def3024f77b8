//! The state that every part of the engine shares: a home, its database, the settings and a clock.
//!
//! A part is a view of this base, named after its module. It owns no state, because all state is on disk. Parts use
//! each other by name, so a file's imports show what it depends on.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use mw_model::TaskId;

use crate::clock::Clock;
use crate::database::Database;
use crate::disk::home::Home;
use crate::disk::wake_up::Listener;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::supervisor::Supervisor;
use crate::supervisor::control::Unresponsive;

/// An open home.
pub struct Base {
    pub(crate) settings: Arc<Settings>,
    pub(crate) home: Home,
    pub(crate) database: Database,
    pub(crate) clock: Arc<dyn Clock>,
    /// A supervisor for the next start, if one was started early.
    pub(crate) ready: Cell<Option<Supervisor>>,
    /// Running tasks that could not be adopted, and why.
    pub(crate) untended: RefCell<HashMap<TaskId, String>>,
    /// Supervisors that did not answer.
    pub(crate) unresponsive: Unresponsive,
}

/// Defines a part: a view of the base.
macro_rules! part {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'base> {
            base: &'base crate::base::Base,
        }

        impl<'base> $name<'base> {
            pub(crate) const fn on(base: &'base crate::base::Base) -> Self {
                Self { base }
            }
        }
    };
}
pub(crate) use part;

impl Base {
    /// Opens a home, and creates it if it does not exist.
    pub(crate) fn open(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        let home = Home::open(&settings.home)?;
        let settings = Arc::new(settings);
        let database = Database::new(Arc::clone(&settings), home.clone(), Arc::clone(&clock));
        let (ready, untended, unresponsive) = (Cell::new(None), RefCell::default(), Unresponsive::default());
        Ok(Self { settings, home, database, clock, ready, untended, unresponsive })
    }

    /// Starts listening for changes. Every change after this call wakes the listener.
    ///
    /// # Errors
    /// When the wake-up socket cannot be created.
    pub(crate) fn listen(&self) -> Result<Listener> {
        Listener::new(&self.home).map_err(Error::io("cannot listen for wake-ups"))
    }
}
