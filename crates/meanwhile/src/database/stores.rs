//! The database of a home: the one on disk, or a copy in memory while the disk is full.

use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::restore_lost_log::LogLoss;
use crate::clock::Clock;
use crate::disk::home::Home;
use crate::disk::store::{Opened, Store, Transaction};
use crate::error::{DatabaseError, Error, Result};
use crate::settings::Settings;

/// How often a process that uses the copy checks whether the disk has room again.
const RETRY: Duration = Duration::from_secs(1);

/// How often finished tasks are purged without a request.
const PURGE_EVERY_S: i64 = 3600;
const PURGED: &str = "purged";

/// The database of a home. It is opened when it is first needed; most starts never need it.
pub(crate) struct Database {
    pub(super) settings: Arc<Settings>,
    pub(super) home: Home,
    pub(super) clock: Arc<dyn Clock>,
    disk: OpenStores,
    copy: RefCell<Option<MemoryCopy>>,
    /// Whether spans were stored that no supervisor exports at its end. `announce` starts a process that does.
    pub(super) spans_wait: Cell<bool>,
    /// Whether this process is `mw settle`, which runs hooks and removes old tasks itself.
    pub(crate) settles_itself: Cell<bool>,
}

/// The database on disk, and the one that replaced it, if another process has replaced it. The old one stays open,
/// because a caller may still use it.
#[derive(Default)]
struct OpenStores {
    store: OnceCell<Store>,
    next: OnceCell<Box<OpenStores>>,
}

impl OpenStores {
    fn last(&self) -> &Self {
        let mut last = self;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }

    /// Returns the database that was opened last.
    fn get(&self) -> Option<&Store> {
        self.last().store.get()
    }
}

/// The copy that replaces the database on disk. Its changes are lost when this process exits or the disk has room
/// again. They are then repeated from the task directories.
struct MemoryCopy {
    store: Store,
    /// When the disk was last found full.
    full_at: Instant,
}

/// The database in use. A copy lives while a caller holds it.
pub(crate) enum InUse<'runtime> {
    Disk(&'runtime Store),
    Copy(Ref<'runtime, Store>),
}

impl Deref for InUse<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        match self {
            Self::Disk(store) => store,
            Self::Copy(store) => store,
        }
    }
}

impl Database {
    /// Returns the database of a home, without opening it.
    pub(crate) fn new(settings: Arc<Settings>, home: Home, clock: Arc<dyn Clock>) -> Self {
        let (disk, copy) = (OpenStores::default(), RefCell::default());
        let (spans_wait, settles_itself) = (Cell::new(false), Cell::new(false));
        Self { settings, home, clock, disk, copy, spans_wait, settles_itself }
    }

    /// Returns whether this process has an open transaction.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.disk.get().is_some_and(Store::is_in_transaction)
    }

    /// Returns whether this process has the database open.
    pub(crate) fn has_open_database(&self) -> bool {
        self.disk.get().is_some()
    }

    /// Returns whether the database that this process has open was replaced.
    pub(crate) fn uses_replaced_database(&self) -> bool {
        self.disk.get().is_some_and(Store::is_replaced)
    }

    /// Returns the database, including every task that has been written to disk so far.
    pub(crate) fn store(&self) -> Result<InUse<'_>> {
        if let Some(disk) = self.disk.get().filter(|disk| disk.is_in_transaction()) {
            return Ok(InUse::Disk(disk));
        }
        loop {
            if let Some(copy) = self.copy_in_use() {
                return Ok(copy);
            }
            let earlier = self.copy.take();
            match self.durable() {
                Ok(store) => return Ok(InUse::Disk(store)),
                Err(Error::Store(error)) if error.is_disk_full() => self.use_copy(earlier, error)?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the database on disk, for changes that must not be made twice. Fails if the disk is full.
    pub(crate) fn durable(&self) -> Result<&Store> {
        self.healing(|| self.up_to_date())
    }

    /// Returns the copy if it is too early to check the disk again, or if a caller still uses the copy.
    fn copy_in_use(&self) -> Option<InUse<'_>> {
        let is_held = self.copy.try_borrow_mut().is_err();
        let copy = Ref::filter_map(self.copy.borrow(), Option::as_ref).ok()?;
        let is_fresh = copy.full_at.elapsed() < RETRY;
        (is_held || is_fresh).then(|| InUse::Copy(Ref::map(copy, |copy| &copy.store)))
    }

    /// Drops a copy that nobody uses, because the database on disk was changed after it was made.
    fn forget_copy(&self) {
        if let Ok(mut copy) = self.copy.try_borrow_mut() {
            *copy = None;
        }
    }

    /// Continues with a copy in memory, because the disk is full.
    fn use_copy(&self, earlier: Option<MemoryCopy>, error: DatabaseError) -> Result<()> {
        let store = match (earlier, self.disk.get()) {
            (Some(earlier), _) => earlier.store,
            (None, Some(disk)) => disk.copy_to_memory()?,
            // There is no room for the shared-memory file, or for a database.
            (None, None) => match Store::read_alone(&self.home.database()) {
                Ok(store) => store,
                Err(_) => self.rebuild_for_now().map_err(|_| error)?,
            },
        };
        self.take_in_for_now(&store)?;
        self.copy.replace(Some(MemoryCopy { store, full_at: Instant::now() }));
        Ok(())
    }

    /// Runs an operation in one transaction. If it fails, nothing has changed.
    pub(crate) fn transact<T>(&self, operation: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.transact_in(self.durable()?, operation)
    }

    /// Like [`Database::transact`], in the database on disk or in a copy.
    pub(super) fn transact_in<T>(
        &self,
        store: &Store,
        operation: impl FnOnce(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let done = store.begin().map_err(Error::from).and_then(|transaction| {
            let done = operation(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
        if done.is_ok() {
            self.forget_copy();
        }
        // The operation is not repeated, but the next one gets a sound database.
        done.inspect_err(|error| _ = self.heal_after(error))
    }

    /// Returns every database that a removal must change: the one on disk, and the copy in memory if there is one.
    pub(crate) fn databases(&self) -> Result<Vec<InUse<'_>>> {
        Ok(match self.store()? {
            InUse::Disk(store) => vec![InUse::Disk(store)],
            copy @ InUse::Copy(_) => vec![copy, InUse::Disk(self.on_disk()?)],
        })
    }

    fn up_to_date(&self) -> Result<&Store> {
        let store = self.on_disk()?;
        if store.is_in_transaction() {
            return Ok(store);
        }
        if !self.home.arrivals().exists() {
            self.find_arrivals(store)?;
        }
        if self.home.arrivals().any()? {
            self.take_in_arrivals(store)?;
        }
        Ok(store)
    }

    fn on_disk(&self) -> Result<&Store> {
        match self.disk.get() {
            Some(store) if store.is_in_transaction() || !store.is_replaced() => return Ok(store),
            Some(_) => _ = self.disk.last().next.set(Box::default()),
            None => {}
        }
        let doubt = self.doubt();
        let mut store = match Store::open(&self.home.database())? {
            Opened::Ready(store) => {
                if doubt != LogLoss::None {
                    self.mend(&store, doubt)?;
                }
                store
            }
            Opened::Behind(mut store, lock) => {
                store.bring_up_to_date(|transaction| {
                    self.rebuild(transaction)?;
                    self.note_purge(transaction)
                })?;
                drop(lock);
                store
            }
        };
        store.tidy(&self.home.database());
        let store = self.disk.last().store.get_or_init(|| store);
        if !self.settles_itself.get() && self.is_purge_due()? {
            // In the background, because no caller should wait for it.
            let _ = self.spawn_settle();
        }
        Ok(store)
    }

    /// Records that a purge was done just now.
    pub(crate) fn note_purge(&self, transaction: &Transaction<'_>) -> Result<()> {
        Ok(transaction.set_mark(PURGED, self.clock.now().as_micros() / 1_000_000)?)
    }

    pub(crate) fn is_purge_due(&self) -> Result<bool> {
        let now = self.clock.now().as_micros() / 1_000_000;
        Ok(self.settings.retention.automatic && now - self.store()?.mark(PURGED)? >= PURGE_EVERY_S)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::clock::SystemClock;
    use crate::settings::Executables;

    #[test]
    fn what_was_written_to_disk_is_seen_after_the_disk_was_full() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("home")).unwrap();
        let programs = Executables { supervisor: PathBuf::new(), settle: Vec::new(), starter_exits: false };
        let settings = Settings::new(dir.path().join("home"), programs);
        let database = Database::new(Arc::new(settings), home, Arc::new(SystemClock));
        // As if the disk had been full a moment ago.
        let store = database.durable().unwrap().copy_to_memory().unwrap();
        database.copy.replace(Some(MemoryCopy { store, full_at: Instant::now() }));
        database.transact(|transaction| Ok(transaction.set_mark("test", 7)?)).unwrap();
        assert_eq!(database.store().unwrap().mark("test").unwrap(), 7);
    }
}
