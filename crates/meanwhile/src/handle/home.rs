//! An open home, for any number of threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::session::Session;
use super::surroundings;
use crate::error::Result;
use crate::runtime::Runtime;
use crate::settings::Settings;

/// How many connections are kept for the next call.
const MOST_IDLE: usize = 4;

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
        let home = Self::open_later(settings);
        home.with(|_| Ok(()))?;
        Ok(home)
    }

    /// The same, but the home is opened by the first call that needs it.
    #[must_use]
    pub fn open_later(settings: Settings) -> Self {
        Self { shared: Arc::new(Shared { settings, idle: Mutex::default() }) }
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

    /// Calls the engine, for whatever has no method here. After a failure the home is opened anew: what was wrong with it
    /// may be over.
    ///
    /// # Errors
    /// Those of the work, and those of opening a further connection.
    pub fn with<T>(&self, work: impl FnOnce(&Runtime) -> Result<T>) -> Result<T> {
        let idle = self.idle().pop();
        let runtime = idle.map_or_else(|| Runtime::open(self.shared.settings.clone()), Ok)?;
        let done = work(&runtime).inspect_err(|error| _ = runtime.base.heal_after(error))?;
        let mut idle = self.idle();
        if idle.len() < MOST_IDLE {
            idle.push(runtime);
        }
        Ok(done)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Runtime>> {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meanwhile").field("home", &self.shared.settings.home).finish_non_exhaustive()
    }
}
