//! Files in a session's directory that record that it has lost its holders.

use std::fs;
use std::io;
use std::path::Path;

use mw_model::wire::{NO_HOST_FILE, NO_SERVER_FILE};
use mw_model::{DEFAULT_SESSION, Lifetime, SessionBond, Timestamp};

use super::dir::replace;
use super::lease;

/// Returns the file that records since when the session has had no holder; `None` for tasks that outlive it.
pub(crate) const fn file_for(lifetime: Lifetime) -> Option<&'static str> {
    match lifetime {
        Lifetime::Session => Some(NO_HOST_FILE),
        Lifetime::Client => Some(NO_SERVER_FILE),
        Lifetime::Kept | Lifetime::Detached => None,
    }
}

/// Returns the binding of a task to its session; `None` if the task does not end with it.
pub(crate) fn bond(
    directory: &Path,
    session: &str,
    lifetime: Lifetime,
    grace_ms: u64,
    at: Timestamp,
) -> Option<SessionBond> {
    if session == DEFAULT_SESSION || file_for(lifetime).is_none() {
        return None;
    }
    let held = lease::held(directory).keeps(lifetime);
    Some(SessionBond { held, at, grace_ms })
}

/// Returns whether the session is recorded as having lost its holders.
pub(crate) fn is_noted(session: &Path) -> bool {
    [NO_HOST_FILE, NO_SERVER_FILE].iter().any(|file| session.join(file).exists())
}

/// Deletes these files, because the session has a holder again. Returns whether there were any.
pub(crate) fn strike(session: &Path, files: &[&str]) -> bool {
    files.iter().filter(|file| fs::remove_file(session.join(file)).is_ok()).count() > 0
}

pub(crate) fn since(session: &Path, file: &str) -> Option<Timestamp> {
    let text = fs::read_to_string(session.join(file)).ok()?;
    text.trim().parse().ok().map(Timestamp::from_micros)
}

pub(crate) fn note(session: &Path, file: &str, now: Timestamp) -> io::Result<()> {
    replace(session, file, format!("{}\n", now.as_micros()).as_bytes())
}
