//! Sets a damaged database aside. Like a removed one, it is rebuilt from the task directories.
//!
//! SQLite reports damage when it reads an invalid page. The process that gets this error takes the home's exclusive
//! lock, checks a copy of the file, and renames the file only if the copy is damaged too. Every other process holds a
//! shared lock while it opens the database and during each transaction, and checks under the lock that the file still
//! has its name. So no process writes to a file that was set aside, or opens the log of one database with the file of
//! another.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check_copy::check_copy;
use super::error::StoreError;
use super::inspect::{TRIES, copy_database};
use crate::disk::file_lock::{is_taken, within};
use crate::disk::names::{DATABASE_FILE, SET_ASIDE_PREFIX};
use crate::disk::optional_file::present;

/// How long a process waits for the home's lock.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

/// The identity of a file, which a rename does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns `None` if there is no such file.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        let found = present(fs::metadata(path))?;
        Ok(found.map(|found| Self { device: found.dev(), inode: found.ino() }))
    }
}

/// The lock on the database as a file: shared by its users, exclusive for the process that replaces it. It is a lock
/// on the home directory, so it needs no disk space.
pub(crate) struct ReplacementLock {
    home: Option<File>,
}

impl ReplacementLock {
    /// Opens the lock. If directories cannot be locked, no process holds it and nothing is set aside.
    pub(crate) fn of(database: &Path) -> Self {
        Self { home: database.parent().and_then(|home| File::open(home).ok()) }
    }

    /// Takes the shared lock.
    pub(crate) fn share(&self) -> Result<Shared<'_>, StoreError> {
        let Some(home) = &self.home else { return Ok(Shared(None)) };
        match within(TIMEOUT, PAUSE, || is_taken(home.try_lock_shared())) {
            Ok(true) => Ok(Shared(Some(home))),
            Ok(false) => Err(StoreError::BeingReplaced),
            Err(_) => Ok(Shared(None)),
        }
    }

    /// Takes the exclusive lock. Returns false if other processes do not release theirs, or locking is not possible.
    pub(crate) fn take(&self) -> bool {
        let Some(home) = &self.home else { return false };
        within(TIMEOUT, PAUSE, || is_taken(home.try_lock())).unwrap_or(false)
    }
}

/// The shared lock.
pub(crate) struct Shared<'lock>(Option<&'lock File>);

impl Shared<'_> {
    /// Keeps the lock until the [`ReplacementLock`] is dropped.
    pub(super) fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let _ = self.0.map(File::unlock);
    }
}

/// The file of an open connection.
pub(crate) struct OpenFile {
    path: PathBuf,
    identity: Option<Identity>,
    lock: ReplacementLock,
}

impl OpenFile {
    /// Records the identity of a database, just after it was opened and under the lock.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            identity: Identity::of(path).ok().flatten(),
            lock: ReplacementLock::of(path),
        }
    }

    /// Returns whether the name now belongs to another file, or to none.
    pub(crate) fn is_replaced(&self) -> bool {
        // If the file cannot be checked, it counts as unchanged.
        Identity::of(&self.path).is_ok_and(|found| found != self.identity)
    }

    /// Keeps the file from being replaced. Returns an error if it was.
    pub(crate) fn hold(&self) -> Result<Shared<'_>, StoreError> {
        let held = self.lock.share()?;
        if self.is_replaced() { Err(StoreError::BeingReplaced) } else { Ok(held) }
    }
}

/// Returns whether a database is damaged. This checks a copy, because SQLite shares what it knows about a file among
/// all connections of a process. Returns false if the check is not possible.
pub(crate) fn is_damaged(database: &Path, scratch: &Path) -> bool {
    // A process that creates the database holds the shared lock, so an empty file is not just being created.
    if fs::metadata(database).is_ok_and(|found| found.len() == 0) {
        return true;
    }
    let _ = fs::remove_dir_all(scratch);
    let copy = scratch.join(DATABASE_FILE);
    // A program without the lock may write to the database meanwhile, so try several copies.
    fs::create_dir(scratch).is_ok()
        && (0..TRIES).all(|_| {
            matches!(copy_database(database, &copy), Ok(true))
                && match check_copy(&copy) {
                    Ok(report) => !report.problems.is_empty(),
                    Err(error) => error.is_damage(),
                }
        })
}

/// Renames a database and the files next to it, the database last. If the process is killed before that, the next
/// process finds the damage again.
pub(crate) fn rename_aside(database: &Path, at: &str) -> io::Result<PathBuf> {
    let beside = |path: &Path, end: &str| PathBuf::from(format!("{}{end}", path.display()));
    let name = |number: u32| {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        database.with_file_name(format!("{SET_ASIDE_PREFIX}{}{number}", at.replace(':', "-")))
    };
    let free = (1..).map(name).find(|name| !name.exists());
    let aside = free.unwrap_or_else(|| name(1));
    for end in ["-shm", "-wal", ""] {
        match fs::rename(beside(database, end), beside(&aside, end)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !end.is_empty() => {}
            renamed => renamed?,
        }
    }
    Ok(aside)
}

/// Returns the names of the databases that were set aside in a home.
pub(super) fn set_aside_in(home: &Path) -> Vec<String> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_database = |name: &String| {
        name.starts_with(SET_ASIDE_PREFIX) && !name.ends_with("-wal") && !name.ends_with("-shm")
    };
    let mut names: Vec<_> = names.filter(is_database).collect();
    names.sort();
    names
}
