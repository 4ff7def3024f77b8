//! The starter's limit on open files, which is ours too and may be small.
//!
//! Nothing is done about it before it is reached, and what is executed from here gets it back as it was.

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Tells whether something failed because there are too many open files, or no memory for another: it may work later.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// The same, or that there may be no further process. It is the starter's limit that says so.
pub(crate) fn is_lack(error: &io::Error) -> bool {
    is_shortage(error) || error.raw_os_error() == Some(Errno::AGAIN.raw_os_error())
}

/// Tells whether there are some left for what has to be opened later.
fn has_spare(any: &File) -> bool {
    const ENOUGH: usize = 8;
    (0..ENOUGH).map(|_| any.try_clone()).collect::<io::Result<Vec<_>>>().is_ok()
}

/// Sees to it that there are some left, with more of them allowed if need be.
pub(crate) fn ensure_spare(any: &File) -> io::Result<()> {
    if has_spare(any) || (raise_limit() && has_spare(any)) { Ok(()) } else { Err(Errno::MFILE.into()) }
}

/// Does something that needs a descriptor, with more of them allowed if need be.
pub(crate) fn with_enough<T>(act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match act() {
        Err(error) if is_shortage(&error) && raise_limit() => act(),
        other => other,
    }
}

/// Allows as many descriptors as there may be; tells whether that are more than before.
pub(crate) fn raise_limit() -> bool {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return false;
    }
    let _ = BEFORE.set(limit);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).is_ok()
}

/// Gives the limit back as it was.
pub(crate) fn give_back_limit() {
    if let Some(before) = BEFORE.get() {
        let _ = setrlimit(Resource::Nofile, *before);
    }
}
