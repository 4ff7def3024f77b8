//! The state that every part of the engine shares: a home, its database, the settings and a clock.
//!
//! A part is a view of this base, named after its module. It owns no state, because all state is on disk. Parts use
//! each other by name, so a file's imports show what it depends on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use mw_model::TaskId;

use crate::clock::Clock;
use crate::database::Database;
use crate::disk::home::Home;
use crate::disk::wake_up::Listener;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::supervisor::control::Unresponsive;

/// The part of an open home that needs no database. `mw` links only this much of the library for a usual start.
pub struct Directories {
    pub(crate) settings: Arc<Settings>,
    pub(crate) home: Home,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Directories {
    /// Opens a home, and creates it if it does not exist.
    ///
    /// # Errors
    /// When the home is not usable.
    pub fn open(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        let home = Home::open(&settings.home)?;
        Ok(Self { settings: Arc::new(settings), home, clock })
    }
}

/// An open home.
pub struct Base {
    directories: Directories,
    pub(crate) database: Database,
    /// Running tasks that could not be adopted, and why.
    pub(crate) untended: RefCell<HashMap<TaskId, String>>,
    /// Supervisors that did not answer.
    pub(crate) unresponsive: Unresponsive,
}

/// Defines a part: a view of the base.
macro_rules! part {
    ($(#[$doc:meta])* pub struct $name:ident;) => {
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

impl Deref for Base {
    type Target = Directories;

    fn deref(&self) -> &Directories {
        &self.directories
    }
}

impl Base {
    /// Opens a home, and creates it if it does not exist.
    pub(crate) fn open(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        let directories = Directories::open(settings, clock)?;
        let Directories { settings, home, clock } = &directories;
        let database = Database::new(Arc::clone(settings), home.clone(), Arc::clone(clock));
        let (untended, unresponsive) = (RefCell::default(), Unresponsive::default());
        Ok(Self { directories, database, untended, unresponsive })
    }

    /// Starts listening for changes. Every change after this call wakes the listener.
    ///
    /// # Errors
    /// When the wake-up socket cannot be created.
    pub(crate) fn listen(&self) -> Result<Listener> {
        Listener::new(&self.home).map_err(Error::io("cannot listen for wake-ups"))
    }
}
