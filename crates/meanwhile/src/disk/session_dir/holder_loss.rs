//! Files in a session's directory that record that it has lost its holders.

use std::fs;
use std::io;
use std::path::Path;

use mw_model::wire::{NO_HOST_FILE, NO_SERVER_FILE};
use mw_model::{DEFAULT_SESSION, Lifetime, SessionBond};

use super::dir::replace;
use super::lease;
use crate::disk::platform;

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
) -> Option<SessionBond> {
    if session == DEFAULT_SESSION || file_for(lifetime).is_none() {
        return None;
    }
    // The time first: a holder that is lost after the look is lost later.
    let at_ms = platform::monotonic_ms();
    let held = lease::held(directory).keeps(lifetime);
    Some(SessionBond { held, at_ms, grace_ms })
}

/// Returns whether the session is recorded as having lost its holders.
pub(crate) fn is_noted(session: &Path) -> bool {
    [NO_HOST_FILE, NO_SERVER_FILE].iter().any(|file| session.join(file).exists())
}

/// Deletes these files, because the session has a holder again. Returns whether there were any.
pub(crate) fn strike(session: &Path, files: &[&str]) -> bool {
    files.iter().filter(|file| fs::remove_file(session.join(file)).is_ok()).count() > 0
}

/// Returns since when a session has had no holder, in milliseconds of the monotonic clock.
pub(crate) fn since(session: &Path, file: &str) -> Option<u64> {
    fs::read_to_string(session.join(file)).ok()?.trim().parse().ok()
}

pub(crate) fn note(session: &Path, file: &str, now_ms: u64) -> io::Result<()> {
    replace(session, file, format!("{now_ms}\n").as_bytes())
}
