//! An open home, for any number of threads.

use std::sync::{Arc, Mutex, PoisonError};

use super::session::Session;
use super::surroundings;
use crate::error::Result;
use crate::runtime::Runtime;
use crate::settings::Settings;

/// A home that is open. Clones share it, and any thread may use them.
#[derive(Clone)]
pub struct Meanwhile {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    /// Connections that nobody uses at the moment. A call takes one for itself, so no call waits for another.
    idle: Mutex<Vec<Runtime>>,
}

impl Meanwhile {
    /// Opens the home of this user, where `mw` has it too: `$MEANWHILE_HOME`, else `$XDG_STATE_HOME/meanwhile`, else
    /// `~/.local/state/meanwhile`. `mw` and `mw-supervisor` are looked for beside this program and on the `PATH`.
    ///
    /// # Errors
    /// When the home cannot be used, or the executables are not found.
    pub fn open_default() -> Result<Self> {
        Self::open(surroundings::default_settings()?)
    }

    /// Opens a home with settings of the caller's own.
    ///
    /// # Errors
    /// When the home cannot be used.
    pub fn open(settings: Settings) -> Result<Self> {
        let first = Runtime::open(settings.clone())?;
        Ok(Self { shared: Arc::new(Shared { settings, idle: Mutex::new(vec![first]) }) })
    }

    /// Holds a session. Its tasks end some time after the last guard of it is gone, unless they are detached.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn host(&self, session: &str) -> Result<Session> {
        Session::hold(self.clone(), session)
    }

    /// Returns the settings it was opened with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Calls the engine. Whatever has no method here is done so.
    ///
    /// # Errors
    /// Those of the work, and those of opening a further connection.
    pub fn with<T>(&self, work: impl FnOnce(&Runtime) -> Result<T>) -> Result<T> {
        let idle = self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let runtime = match idle {
            Some(runtime) => runtime,
            None => Runtime::open(self.shared.settings.clone())?,
        };
        let done = work(&runtime);
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).push(runtime);
        done
    }
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meanwhile").field("home", &self.shared.settings.home).finish_non_exhaustive()
    }
}
