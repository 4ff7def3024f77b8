//! The database of a home: the one on disk, or a copy of it in memory for as long as the disk is full.

use std::cell::{OnceCell, Ref, RefCell};
use std::ops::Deref;
use std::time::{Duration, Instant};

use super::store::{Opened, Store, StoreError};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::settle::mend::Doubt;

/// How often somebody who uses the copy looks whether the disk has room again.
const RETRY: Duration = Duration::from_secs(1);

/// Both, opened when they are first needed: most starts never do.
#[derive(Default)]
pub(crate) struct Database {
    disk: OnceCell<Store>,
    copy: RefCell<Option<Copy>>,
}

/// What takes the place of the one on disk. What is written here is lost with this process, or as soon as the disk
/// has room: it is done again then, from the task directories.
struct Copy {
    store: Store,
    /// When the disk was last found full.
    full_at: Instant,
}

/// The one in use. A copy stays for as long as somebody holds it.
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

impl Runtime {
    /// Returns the database, with every task that was written down so far.
    pub(crate) fn store(&self) -> Result<InUse<'_>> {
        if let Some(disk) = self.database.disk.get().filter(|disk| disk.is_in_transaction()) {
            return Ok(InUse::Disk(disk));
        }
        loop {
            if let Some(copy) = self.copy_in_use() {
                return Ok(copy);
            }
            let earlier = self.database.copy.take();
            match self.up_to_date() {
                Ok(store) => return Ok(InUse::Disk(store)),
                Err(Error::Store(error)) if error.is_lack_of_room() => self.use_copy(earlier, error)?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the one on disk, for what must not be done again: a full disk refuses it.
    pub(crate) fn durable(&self) -> Result<&Store> {
        self.up_to_date()
    }

    /// Returns the copy where it is too early to look at the disk again, or somebody further up still uses it.
    fn copy_in_use(&self) -> Option<InUse<'_>> {
        let is_held = self.database.copy.try_borrow_mut().is_err();
        let copy = Ref::filter_map(self.database.copy.borrow(), Option::as_ref).ok()?;
        let is_fresh = copy.full_at.elapsed() < RETRY;
        (is_held || is_fresh).then(|| InUse::Copy(Ref::map(copy, |copy| &copy.store)))
    }

    /// What does not fit on the disk is kept in memory.
    fn use_copy(&self, earlier: Option<Copy>, error: StoreError) -> Result<()> {
        let store = match (earlier, self.database.disk.get()) {
            (Some(earlier), _) => earlier.store,
            (None, Some(disk)) => disk.copy_to_memory()?,
            // Not even room for what the users of a database share, or for a database.
            (None, None) => match Store::read_alone(&self.home.database()) {
                Ok(store) => store,
                Err(_) => self.rebuild_for_now().map_err(|_| error)?,
            },
        };
        store.tells_batches.set(self.settings.batch_notices);
        self.take_in_for_now(&store)?;
        self.database.copy.replace(Some(Copy { store, full_at: Instant::now() }));
        Ok(())
    }

    /// Returns every database that a removal must reach: where one in memory takes the place of the one on disk, both.
    pub(crate) fn databases(&self) -> Result<Vec<InUse<'_>>> {
        Ok(match self.store()? {
            InUse::Disk(store) => vec![InUse::Disk(store)],
            copy @ InUse::Copy(_) => vec![copy, InUse::Disk(self.on_disk()?)],
        })
    }

    /// Tells, once, whether spans were entered here that nobody will deliver unless called.
    pub(crate) fn take_spans_wait(&self) -> bool {
        self.database.disk.get().is_some_and(|store| store.spans_wait.take())
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
        if let Some(store) = self.database.disk.get() {
            return Ok(store);
        }
        let doubt = self.doubt();
        let mut store = match Store::open(&self.home.database())? {
            Opened::Ready(store) => {
                store.tells_batches.set(self.settings.batch_notices);
                if doubt != Doubt::None {
                    self.mend(&store, doubt)?;
                }
                store
            }
            Opened::Behind(store) => {
                store.tells_batches.set(self.settings.batch_notices);
                store.bring_up_to_date(&self.home.tasks(), |transaction| {
                    self.rebuild(transaction)?;
                    self.note_purge(transaction)
                })?;
                store
            }
        };
        store.tidy(&self.home.database());
        let store = self.database.disk.get_or_init(|| store);
        if !self.settles_itself.get() && self.is_purge_due()? {
            // In the background: nobody should wait for it.
            let _ = self.spawn_runner();
        }
        Ok(store)
    }
}
