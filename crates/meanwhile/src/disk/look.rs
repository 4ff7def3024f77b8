//! Looking at files: what is absent, what is there, and what cannot be known.
//!
//! Only a fact is a fact: absent is what the system says is not there. What cannot be looked at, because there is no
//! descriptor or memory left, no permission, or a disk that fails, is an error, and nothing may be concluded from it.

use std::path::Path;
use std::{fs, io};

use rustix::io::Errno;

use crate::error::{Error, Result};

/// Names a look that failed.
pub(crate) fn unseen(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    Error::io(format!("cannot inspect {}", path.display()))
}

/// Tells whether an error says that there is nothing under this name.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The same, or that there is something that can never be read as a file.
pub(crate) fn is_no_file(error: &io::Error) -> bool {
    let never = [Errno::ISDIR, Errno::LOOP];
    is_absent(error) || never.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Tells what is there from what is not.
pub(crate) fn look<T>(path: &Path, looked: io::Result<T>) -> Result<Option<T>> {
    match looked {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unseen(path)(error)),
    }
}

/// Reads a file; nothing when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if is_no_file(&error) => Ok(None),
        looked => look(path, looked),
    }
}

/// Tells whether there is anything in a file.
pub(crate) fn has_text(path: &Path) -> Result<bool> {
    Ok(look(path, fs::metadata(path))?.is_some_and(|found| found.len() > 0))
}
