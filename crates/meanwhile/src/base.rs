//! The state that every part of the engine shares: a home, its database, the settings and a clock.
//!
//! A part is a view of this base, named after its module. It owns no state, because all state is on disk. Parts use
//! each other by name, so a file's imports show what it depends on.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mw_model::TaskId;

use crate::clock::Clock;
use crate::disk::bell::{self, Bell};
use crate::disk::home::Home;
use crate::disk::platform;
use crate::disk::task_dir::control::Silent;
use crate::error::{Error, Result};
use crate::launch::hand_over::Supervisor;
use crate::record::database::Database;
use crate::settings::Settings;

/// An open home.
pub struct Base {
    pub(crate) settings: Settings,
    pub(crate) home: Home,
    pub(crate) database: Database,
    pub(crate) clock: Arc<dyn Clock>,
    /// A supervisor for the next start, if one was started early.
    pub(crate) ready: Cell<Option<Supervisor>>,
    /// Running tasks that could not be adopted, and why.
    pub(crate) untended: RefCell<HashMap<TaskId, String>>,
    /// Supervisors that did not answer.
    pub(crate) silent: Silent,
    /// Whether this process settles: it runs hooks and removes old tasks.
    pub(crate) settles_itself: Cell<bool>,
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
    /// Starts listening for changes. Every change after this call wakes the listener.
    ///
    /// # Errors
    /// When the wake-up socket cannot be created.
    pub fn listen(&self) -> Result<Ear> {
        Bell::hang(&self.home).map(Ear).map_err(Error::io("cannot listen for wake-ups"))
    }

    /// Wakes listeners, and starts `mw settle` to run hooks and export spans.
    pub(crate) fn ring(&self) {
        bell::ring(&self.home);
        let to_deliver = self.take_spans_wait() && self.settings.traces.export;
        if (self.settings.hooks.any() || to_deliver) && !self.settles_itself.get() {
            // Best effort, like hooks: the next end catches up.
            let _ = self.spawn_runner();
        }
    }

    /// Starts `mw settle` as a detached process. The caller need not wait for it.
    pub(crate) fn spawn_runner(&self) -> io::Result<()> {
        let words = self.settings.programs.settle.iter().map(|word| OsStr::from_bytes(word.as_bytes()));
        let mut shell = Command::new("/bin/sh")
            .args(["-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        shell.wait().map(drop)
    }
}

/// Wakes up when another process has written to a home.
pub struct Ear(Bell);

impl Ear {
    /// Sleeps until a process has written since the last call, or until the time is up.
    pub fn wait(&self, longest: Duration) {
        platform::is_readable_within(&self.0, longest);
        self.0.clear();
    }
}
