//! Access to files that may be absent.
//!
//! A file is absent only if the system says so. Any other failure (no descriptor or memory left, no permission, a
//! failing disk) is an error from which nothing may be concluded.

use std::path::Path;
use std::{fs, io};

use rustix::io::Errno;

use crate::error::{Error, Result};

/// Returns the error for a file that cannot be inspected.
pub(crate) fn cannot_inspect(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    Error::io(format!("cannot inspect {}", path.display()))
}

/// Returns whether an error means that the file does not exist.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns whether an error means that the file does not exist, or can never be read as a file.
pub(crate) fn is_no_file(error: &io::Error) -> bool {
    let never = [Errno::ISDIR, Errno::LOOP];
    is_absent(error) || never.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Turns the result of a file operation into `None` if the file is absent.
pub(crate) fn present<T>(looked: io::Result<T>) -> io::Result<Option<T>> {
    match looked {
        Err(error) if is_absent(&error) => Ok(None),
        looked => looked.map(Some),
    }
}

/// Like [`present`], with an error that names the file.
pub(crate) fn look<T>(path: &Path, looked: io::Result<T>) -> Result<Option<T>> {
    present(looked).map_err(cannot_inspect(path))
}

/// Reads a file; `None` if it is absent or not a file.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if is_no_file(&error) => Ok(None),
        looked => look(path, looked),
    }
}

/// Returns whether a file exists and is not empty.
pub(crate) fn has_text(path: &Path) -> Result<bool> {
    Ok(look(path, fs::metadata(path))?.is_some_and(|found| found.len() > 0))
}
