//! What the absence of those who held a session means for its waiting tasks.
//!
//! A running task has a supervisor, which ends it some time after the last holder of its session has gone. A waiting task
//! has nobody: the process that frees a slot or looks next decides, by the time that the supervisors wrote into the
//! session's directory. While nobody holds the session none of the tasks that hang on it starts.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use mw_model::wire::{NO_HOST_FILE, NO_SERVER_FILE};
use mw_model::{Cause, DEFAULT_SESSION, Lifetime, SessionBond, Timestamp};

use super::dir::open_below;
use super::lease::{self, Held};
use crate::disk::home::Home;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::task::Task;

/// The cause of an end that nobody asked for by name.
const BY: &str = "the end of its session";

/// What becomes of a waiting task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its session is held, or it does not hang on that.
    GoesOn,
    /// Nobody holds its session, and somebody may come back.
    Waits,
    /// Nobody has come back.
    Ends,
}

/// Returns the cause of the end of a waiting task whose session is over.
pub(crate) fn end_of_session() -> Cause {
    Cause::Cancelled { by: BY.to_owned(), exit: None }
}

/// Returns the file that says since when a task's session has had nobody on whom such a task hangs; nothing where nobody's
/// leaving ends it.
const fn file_for(lifetime: Lifetime) -> Option<&'static str> {
    match lifetime {
        Lifetime::Session => Some(NO_HOST_FILE),
        Lifetime::Client => Some(NO_SERVER_FILE),
        Lifetime::Kept | Lifetime::Detached => None,
    }
}

/// Looks how a task hangs on its session.
pub(crate) fn bond(
    home: &Home,
    session: &str,
    lifetime: Lifetime,
    grace_ms: u64,
    at: Timestamp,
) -> Option<SessionBond> {
    if session == DEFAULT_SESSION || file_for(lifetime).is_none() {
        return None;
    }
    let held = lease::held(home.session(session).path()).keeps(lifetime);
    Some(SessionBond { held, at, grace_ms })
}

/// Tells whether it was noted that a session lost its holders.
pub(crate) fn is_noted(session: &Path) -> bool {
    [NO_HOST_FILE, NO_SERVER_FILE].iter().any(|file| session.join(file).exists())
}

/// Strikes the notes that somebody's coming makes untrue; tells whether there were any.
pub(super) fn strike(session: &Path, files: &[&str]) -> bool {
    files.iter().filter(|file| fs::remove_file(session.join(file)).is_ok()).count() > 0
}

fn since(session: &Path, file: &str) -> Option<Timestamp> {
    let text = fs::read_to_string(session.join(file)).ok()?;
    text.trim().parse().ok().map(Timestamp::from_micros)
}

fn note(session: &Path, file: &str, now: Timestamp) -> io::Result<()> {
    let new = session.join(format!("{file}.{}", std::process::id()));
    let _ = fs::remove_file(&new);
    // This refuses a directory that is a link.
    let mut written = open_below(session, &new, OpenOptions::new().create_new(true))?;
    written.write_all(format!("{}\n", now.as_micros()).as_bytes())?;
    fs::rename(new, session.join(file))
}

impl Runtime {
    /// Returns who holds the session of a task that waits; nobody is asked for where it does not matter.
    pub(crate) fn held(&self, session: &str) -> Held {
        if session == DEFAULT_SESSION {
            Held::default()
        } else {
            lease::held(self.home.session(session).path())
        }
    }

    /// Decides what the absence of holders means for a waiting task.
    pub(crate) fn fate(&self, task: &Task, held: Held, now: Timestamp) -> Result<Fate> {
        let lifetime = Lifetime::from_word(&task.lifetime).unwrap_or_default();
        let Some(file) = file_for(lifetime).filter(|_| task.session != DEFAULT_SESSION) else {
            return Ok(Fate::GoesOn);
        };
        if held.keeps(lifetime) {
            return Ok(Fate::GoesOn);
        }
        let bond = match self.home.spec(&task.id) {
            Ok(spec) => spec.bond,
            // What is wrong with it is told by its launch.
            Err(Error::Damaged { .. } | Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        let Some(bond) = bond else { return Ok(Fate::GoesOn) };
        let directory = self.home.session(&task.session);
        // An older note is about others, who came and went before.
        let Some(since) = since(directory.path(), file).filter(|since| *since >= bond.at) else {
            if !bond.held {
                return Ok(Fate::GoesOn);
            }
            let _ = note(directory.path(), file, now);
            return Ok(Fate::Waits);
        };
        Ok(if now.ms_since(since) >= bond.grace_ms { Fate::Ends } else { Fate::Waits })
    }

    /// Looks again how a task hangs on its session, because it runs once more.
    pub(crate) fn renew_bond(&self, task: &Task, now: Timestamp) -> Result<()> {
        let spec = self.home.spec(&task.id)?;
        let grace_ms = spec.bond.map_or(self.settings.session_grace_ms, |bond| bond.grace_ms);
        let new = bond(&self.home, &spec.session, spec.lifetime, grace_ms, now);
        if new.map(|bond| bond.held) == spec.bond.map(|bond| bond.held) {
            return Ok(());
        }
        self.home.change_bond(&task.id, new)
    }

    /// Tells whether a host holds a session: its tasks end with that.
    #[must_use]
    pub fn is_hosted(&self, session: &str) -> bool {
        self.held(session).hosts
    }
}
