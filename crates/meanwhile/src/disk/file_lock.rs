//! Locks on files. The kernel releases them when their holder dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Opens a private file to lock it, and creates it if it does not exist.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Returns whether an attempt took a lock; false if another process has it.
pub(crate) fn is_taken(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Repeats an attempt until it succeeds, and pauses in between. Returns false when the time is up.
pub(crate) fn within<E>(
    timeout: Duration,
    pause: Duration,
    mut attempt: impl FnMut() -> Result<bool, E>,
) -> Result<bool, E> {
    let deadline = Instant::now() + timeout;
    while !attempt()? {
        if Instant::now() > deadline {
            return Ok(false);
        }
        std::thread::sleep(pause);
    }
    Ok(true)
}
