//! The one place that opens a connection.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::wire::TASKS_DIR;
use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::damage::{OpenFile, ReplacementLock, Shared};
use super::error::StoreError;
use super::events::MARK_LOG;
use super::migrations;
use crate::disk::file_lock::open_private;

/// How often a writer retries while another process holds the lock: for ten seconds.
const MAX_TRIES: i32 = 10_000;

/// An open database.
pub(crate) struct Store {
    pub(super) connection: Connection,
    /// The directory of all task directories.
    pub(super) tasks_dir: PathBuf,
    /// The file on disk, if there is one.
    file: Option<OpenFile>,
}

/// The result of opening a database.
pub(crate) enum Opened {
    /// A database of this build's schema.
    Ready(Store),
    /// An empty or older database, which must be brought up to date before use. Until the lock is dropped, no other process
    /// takes the file for a damaged one.
    Behind(Store, ReplacementLock),
}

impl Store {
    /// Opens the database, and creates it if it is absent or empty. Its file is not replaced meanwhile.
    pub(crate) fn open(path: &Path) -> Result<Opened, StoreError> {
        let lock = ReplacementLock::of(path);
        let held = lock.share()?;
        if was_emptied(path) {
            return Err(StoreError::Emptied);
        }
        let connected = Self::connected(path)?;
        let store = Self { file: Some(OpenFile::at(path)), ..connected };
        store.connection.execute_batch("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=256;")?;
        if migrations::is_current(&store.connection)? {
            Ok(Opened::Ready(store))
        } else {
            held.keep();
            Ok(Opened::Behind(store, lock))
        }
    }

    /// Copies a database into memory if the disk has no room for the shared-memory file. Other processes cannot open
    /// the database meanwhile; they wait as for a writer.
    pub(crate) fn read_alone(path: &Path) -> Result<Self, StoreError> {
        let store = Self::connected(path)?;
        store.connection.execute_batch("PRAGMA locking_mode=EXCLUSIVE;")?;
        if migrations::is_current(&store.connection)? {
            store.copy_to_memory()
        } else {
            Err(StoreError::Corrupt("it must be migrated first".to_owned()))
        }
    }

    /// Creates an empty database in memory.
    pub(crate) fn in_memory(tasks_dir: PathBuf) -> Result<Self, StoreError> {
        Ok(Self::over(Connection::open_in_memory()?, tasks_dir))
    }

    fn connected(path: &Path) -> Result<Self, StoreError> {
        let mut connection = connect(path)?;
        connection.busy_handler(Some(wait_for_writer))?;
        // Otherwise the last connection to close would copy the whole log back and delete it; see `tidy`.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(Self::over(connection, path.with_file_name(TASKS_DIR)))
    }

    fn over(connection: Connection, tasks_dir: PathBuf) -> Self {
        Self { connection, tasks_dir, file: None }
    }

    /// Returns whether a transaction is open.
    pub(crate) fn is_in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Returns whether other threads and processes may use the database.
    pub(super) const fn is_on_disk(&self) -> bool {
        self.file.is_some()
    }

    /// Returns whether another file has replaced this one.
    pub(crate) fn is_replaced(&self) -> bool {
        self.file.as_ref().is_some_and(OpenFile::is_replaced)
    }

    /// Keeps its file from being replaced. Returns an error if it was.
    pub(super) fn hold(&self) -> Result<Option<Shared<'_>>, StoreError> {
        self.file.as_ref().map(OpenFile::hold).transpose()
    }

    /// Copies everything into a database in memory.
    pub(crate) fn copy_to_memory(&self) -> Result<Self, StoreError> {
        let mut copy = Self::in_memory(self.tasks_dir.clone())?;
        Backup::new(&self.connection, &mut copy.connection)?.run_to_completion(
            i32::MAX,
            Duration::from_millis(1),
            None,
        )?;
        Ok(copy)
    }

    /// Copies the write-ahead log back into the database when it has grown. The first process to open a database
    /// reads that log, so it must stay short.
    pub(crate) fn tidy(&mut self, path: &Path) {
        const WORTH_IT: u64 = 256 << 10;
        let wal = path.with_extension("db-wal");
        let lock = ReplacementLock::of(path);
        if std::fs::metadata(wal).is_ok_and(|found| found.len() > WORTH_IT)
            && let Ok(_held) = lock.share()
            && !self.is_replaced()
        {
            // Not worth waiting for other processes: the next one tries again.
            let _ = self.connection.busy_handler(None::<fn(i32) -> bool>);
            self.empty_log();
            let _ = self.connection.busy_handler(Some(wait_for_writer));
        }
    }
}

impl Store {
    /// Returns free pages to the file system after a large removal. Best effort: if there is no room to do it, or
    /// another process writes, the next removal tries again.
    pub(crate) fn shrink(&self) {
        const WORTH_IT: i64 = 4 << 20;
        let pragma = |name: &str| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let (Ok(pages), Ok(free), Ok(size)) =
            (pragma("page_count"), pragma("freelist_count"), pragma("page_size"))
        else {
            return;
        };
        if free * size > WORTH_IT
            && free * 2 > pages
            && let Ok(_held) = self.hold()
        {
            let _ = self.connection.execute_batch("VACUUM;");
            self.empty_log();
        }
    }

    /// Copies the log back and starts it anew. An empty log looks like one that was removed, so it does not stay
    /// empty.
    fn empty_log(&self) {
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        let _ = self.connection.execute(MARK_LOG, []);
    }
}

/// Opens a copy that no other process uses.
pub(super) fn open_copy(path: &Path) -> Result<Connection, StoreError> {
    Ok(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?)
}

/// Returns whether a database in use was emptied. SQLite creates the shared-memory file after it has written the first
/// page, so a new database never has one while it is empty. SQLite itself would wait until every process that opened
/// the database before closes it.
fn was_emptied(path: &Path) -> bool {
    let size = |path: &Path| std::fs::metadata(path).ok().map(|found| found.len());
    size(path) == Some(0) && size(&path.with_extension("db-shm")).is_some()
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    // No lock inside SQLite: a connection stays with one thread at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match Connection::open_with_flags(path, flags) {
        // SQLite falls back to read-only if it cannot open a file for writing. If another process created the file
        // between the two attempts, the fallback succeeds, but the connection could never write.
        Ok(connection) if connection.is_readonly("main")? => Ok(Connection::open_with_flags(path, flags)?),
        Ok(connection) => Ok(connection),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            // Create the file first, so that it is never readable by others.
            open_private(path).map_err(StoreError::Unopened)?;
            Ok(Connection::open_with_flags(path, flags)?)
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits for another writer. Transactions here take a fraction of a millisecond, so the first retries come quickly.
/// SQLite's own handler would sleep for whole milliseconds from the start.
pub(super) fn wait_for_writer(tries: i32) -> bool {
    let pause = if tries < 40 { Duration::from_micros(50) } else { Duration::from_millis(1) };
    std::thread::sleep(pause);
    tries < MAX_TRIES
}
