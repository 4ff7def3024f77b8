//! The limit on open files, which is inherited from the starter and may be small.
//!
//! It is raised only when it is reached. Programs that are executed from here get the original limit.

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Returns whether an error means too many open files or too little memory, so that another attempt may succeed.
pub(crate) fn is_file_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Returns whether an error is such a shortage, or a limit on processes.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    is_file_shortage(error) || error.raw_os_error() == Some(Errno::AGAIN.raw_os_error())
}

/// What an adopter opens, and what more output needs.
pub(crate) const MANY: usize = 8;
/// What a new supervisor opens at a time: a connection, a directory of processes and a file in it, a handle of a process.
pub(crate) const FEW: usize = 4;

/// Returns whether there are descriptors left for what is opened later.
pub(crate) fn has_spare(any: &File, number: usize) -> bool {
    (0..number).map(|_| any.try_clone()).collect::<io::Result<Vec<_>>>().is_ok()
}

/// Makes sure that descriptors are left, and raises the limit if necessary.
pub(crate) fn ensure_spare(any: &File, number: usize) -> io::Result<()> {
    let is_enough = has_spare(any, number) || (raise_limit() && has_spare(any, number));
    if is_enough { Ok(()) } else { Err(Errno::MFILE.into()) }
}

/// Runs a function that needs a descriptor, and raises the limit if necessary.
pub(crate) fn with_enough<T>(act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match act() {
        Err(error) if is_file_shortage(&error) && raise_limit() => act(),
        other => other,
    }
}

/// Raises the limit to its maximum; returns whether that is more than before.
pub(crate) fn raise_limit() -> bool {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return false;
    }
    let _ = BEFORE.set(limit);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).is_ok()
}

/// Restores the original limit.
pub(crate) fn give_back_limit() {
    if let Some(before) = BEFORE.get() {
        let _ = setrlimit(Resource::Nofile, *before);
    }
}
