//! Locks on private files. The kernel releases them when their holder dies.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Opens a private file to lock it, and creates it if it does not exist.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Refuses a link, or a file, in place of a directory.
pub(super) fn refuse_link(directory: &Path) -> io::Result<()> {
    if fs::symlink_metadata(directory).is_ok_and(|found| !found.is_dir()) {
        let why = format!("{} is a link or a file, not a directory; remove it", directory.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
    }
    Ok(())
}

/// Opens a private file for writing, and creates it and its directory if they do not exist.
pub(crate) fn open_below(directory: &Path, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let options = options.write(true).create(true).truncate(false).mode(0o600);
    refuse_link(directory)?;
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            options.open(path)
        }
        other => other,
    }
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
