//! An open home, for any number of threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mw_model::DEFAULT_SESSION;
use mw_model::approval::{Answer, Proposal, ProposalId};

use super::Listener;
use super::session::Session;
use super::surroundings;
use crate::disk::home::Home;
use crate::disk::store::{TaskFilter, TaskPage};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::settings::Settings;

/// How many connections are kept for the next call.
const MAX_IDLE: usize = 4;

/// An open home. Clones share it, and any thread may use them.
#[derive(Clone)]
pub struct Meanwhile {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    /// Idle connections. Each call takes one for itself, so no call waits for another.
    idle: Mutex<Vec<Runtime>>,
}

impl Meanwhile {
    /// Opens the home of this user: `$MEANWHILE_HOME`, else `$XDG_STATE_HOME/meanwhile`, else
    /// `~/.local/state/meanwhile`. It is also the home of `mw`, unless `mw` runs with the profile mycode or co-cli.
    ///
    /// Nothing else is read: no configuration file, and no other variable of meanwhile. See [`Settings::at`] for the
    /// settings.
    ///
    /// # Errors
    /// When the home cannot be used, or the executables are not found.
    pub fn open_default() -> Result<Self> {
        Self::open_at(surroundings::default_home()?)
    }

    /// Opens the home in a directory, with the settings of [`Settings::at`]. The directory is created if it is absent.
    ///
    /// # Errors
    /// When the home cannot be used, or the executables are not found.
    pub fn open_at(directory: impl Into<PathBuf>) -> Result<Self> {
        Self::open(Settings::at(directory)?)
    }

    /// Opens a home with the caller's settings.
    ///
    /// # Errors
    /// When the home cannot be used.
    pub fn open(settings: Settings) -> Result<Self> {
        let home = Self::open_lazy(settings);
        home.with(|_| Ok(()))?;
        Ok(home)
    }

    /// Like [`Meanwhile::open`], but the home is opened by the first call that needs it.
    #[must_use]
    pub fn open_lazy(settings: Settings) -> Self {
        Self { shared: Arc::new(Shared { settings, idle: Mutex::default() }) }
    }

    /// Holds a session. When its last holder is gone, its tasks end after [`Settings::session_grace`], unless they are
    /// detached. The same name gives the same session again, in this process and in any other.
    ///
    /// # Errors
    /// When the name is empty, longer than [`LONGEST_SESSION_NAME`](mw_model::LONGEST_SESSION_NAME) bytes, has control
    /// characters, or is `default`, which is the session of the user's own commands; or when the
    /// directory of the session cannot be written.
    pub fn host(&self, session: &str) -> Result<Session> {
        if session == DEFAULT_SESSION {
            let message = format!("{session:?} is the session of the user's own commands");
            return Err(Error::invalid(message, "choose another name for the session"));
        }
        Session::hold(self.clone(), session)
    }

    /// Lists tasks of any session. [`Session::tasks`] returns all tasks of one session.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tasks(&self, filter: &TaskFilter) -> Result<TaskPage> {
        self.with(|runtime| runtime.tasks().list(filter))
    }

    /// Returns a listener that becomes readable whenever anything changes in the home, for a host with an event loop of
    /// its own. Look again after each wake-up, and also from time to time: a wake-up is lost if its sender is killed.
    ///
    /// # Errors
    /// When the wake-up socket cannot be created.
    pub fn listen(&self) -> Result<Listener> {
        self.with(Runtime::listen)
    }

    /// Returns the approval requests that nobody has answered, oldest first, for a host that shows them to a person.
    /// A request stays open for the time `keep`.
    ///
    /// # Errors
    /// When the database fails.
    pub fn open_approvals(&self, keep: Duration) -> Result<Vec<Proposal>> {
        let open = self.with(|runtime| runtime.approvals().open_approvals(keep))?;
        Ok(open.into_iter().map(|entry| entry.proposal).collect())
    }

    /// Answers an approval request for a person. `by` is recorded, such as the name of the host.
    ///
    /// # Errors
    /// When the request is unknown, used, expired, or was denied by policy.
    pub fn answer(&self, request: &ProposalId, answer: Answer, by: &str) -> Result<()> {
        self.with(|runtime| runtime.approvals().answer(request, answer, by).map(drop))
    }

    /// Returns the settings it was opened with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Calls the engine, for the front ends of this workspace. After a failure of the database or the disk, the home
    /// is opened again, because the cause may be gone.
    ///
    /// # Errors
    /// Those of the work, and those of opening another connection.
    #[doc(hidden)]
    pub fn with<T>(&self, work: impl FnOnce(&Runtime) -> Result<T>) -> Result<T> {
        let idle = self.idle().pop();
        let runtime = match idle {
            // The home may have been removed since the last call.
            Some(runtime) => Home::open(&self.shared.settings.home).map(|_| runtime)?,
            None => Runtime::open(self.shared.settings.clone())?,
        };
        let done = work(&runtime).inspect_err(|error| runtime.note_failure(error));
        // Another process may adopt these tasks before the next call.
        runtime.base.untended.take();
        let mut idle = self.idle();
        if !runtime.has_failed.get() && idle.len() < MAX_IDLE {
            idle.push(runtime);
        }
        done
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
