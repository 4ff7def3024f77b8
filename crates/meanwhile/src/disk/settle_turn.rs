//! The turn of the one process that settles.
//!
//! Many tasks may end at the same moment. One process records their ends and starts the next tasks. The others leave a
//! mark and exit, and the process that has the turn looks once more if it finds the mark.
//!
//! ```text
//! has the turn   remove the mark ▸ settle ▸ once more if there is a mark ▸ release the lock ▸ a mark now? ▸ take the turn again
//! another        leave a mark ▸ try the lock again ▸ busy: the owner looks for marks later, and finds this one
//! ```
//!
//! The mark is a byte in a file that stays: a file system may remember every file that was removed, and then takes long to
//! make others.
//!
//! A supervisor follows the same rule before it executes `mw settle`, which gets the locked file as its standard input.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use mw_model::wire::{SETTLE_TIMEOUT, SETTLING_FILE, UNSETTLED_FILE};

use super::file_lock::open_private;
use super::home::Home;
use super::platform::{self, FileWatch};
use crate::fail_point::fail_point;

/// The turn of this process. It is released when dropped.
pub(crate) struct SettleTurn {
    /// Absent if the lock cannot be used. Then this process works concurrently with others.
    lock: Option<File>,
    mark: PathBuf,
    is_wanted: bool,
    /// Changes of the mark. It is kept, because the kernel takes many milliseconds to close it.
    watch: Option<FileWatch>,
}

impl SettleTurn {
    /// Takes the turn; `None` if another process has it and will see that there is more to do. A supervisor may have taken it
    /// for this process, and hands over its lock.
    pub(crate) fn take(home: &Home, handed_over: Option<File>) -> Option<Self> {
        let mark = home.root().join(UNSETTLED_FILE);
        let lock = open_private(&home.root().join(SETTLING_FILE)).ok();
        let lock =
            lock.map(|lock| handed_over.filter(|handed_over| is_same(handed_over, &lock)).unwrap_or(lock));
        let turn = Self { lock, mark, is_wanted: false, watch: None };
        match turn.try_lock() {
            Ok(()) => Some(turn.begun()),
            Err(TryLockError::Error(_)) => Some(Self { lock: None, ..turn }),
            Err(TryLockError::WouldBlock) => {
                // Without a mark, the other process would not look again. One that takes too long may be stopped.
                if turn.is_overdue() || turn.leave_mark().is_err() {
                    return Some(Self { lock: None, is_wanted: true, ..turn });
                }
                fail_point("settle-marked");
                turn.try_lock().is_ok().then(|| turn.begun())
            }
        }
    }

    /// Returns whether another process has left a mark: the ends of other tasks must be recorded as well.
    pub(crate) const fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Keeps the turn if another process leaves a mark within this time; else releases it, and takes it again if a mark was
    /// left meanwhile.
    pub(crate) fn once_more(mut self, patience: Duration) -> Option<Self> {
        self.lock.as_ref()?;
        // Not released first: a process that ends now would begin to settle beside the end of this one.
        if self.is_marked_within(patience) {
            return Some(self.begun());
        }
        self.lock.as_ref()?.unlock().ok()?;
        fail_point("settle-released");
        // If another process has the turn by now, it sees everything that was marked before it began.
        (self.is_marked() && self.try_lock().is_ok()).then(|| self.begun())
    }

    fn is_marked_within(&mut self, patience: Duration) -> bool {
        if patience.is_zero() || self.is_marked() {
            return self.is_marked();
        }
        if self.watch.is_none() {
            self.watch = open_private(&self.mark).and_then(|_| FileWatch::of(&self.mark)).ok();
        }
        let Some(watch) = &self.watch else { return false };
        watch.forget_changes();
        // The mark may have been left before that.
        self.is_marked() || (platform::is_readable_within(watch, patience) && self.is_marked())
    }

    fn is_marked(&self) -> bool {
        fs::metadata(&self.mark).is_ok_and(|found| found.len() > 0)
    }

    fn leave_mark(&self) -> io::Result<()> {
        open_private(&self.mark)?.set_len(1)
    }

    fn remove_mark(&self) -> bool {
        self.is_marked() && open_private(&self.mark).and_then(|mark| mark.set_len(0)).is_ok()
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        self.lock.as_ref().map_or(Ok(()), File::try_lock)
    }

    /// Returns whether the owner of the turn has had it for too long, or may have: a time in the future says nothing, because the
    /// clock was set back.
    fn is_overdue(&self) -> bool {
        let begun = self.lock.as_ref().and_then(|lock| lock.metadata().ok()?.modified().ok());
        begun.is_some_and(|begun| begun.elapsed().map_or(true, |time| time > SETTLE_TIMEOUT))
    }

    /// Removes the mark before the work, so that a later mark is not lost. Notes when the turn began.
    fn begun(self) -> Self {
        self.lock.iter().for_each(|lock| _ = lock.set_modified(SystemTime::now()));
        let is_wanted = self.remove_mark();
        Self { is_wanted, ..self }
    }
}

fn is_same(one: &File, other: &File) -> bool {
    let identity = |file: &File| file.metadata().ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("home")).unwrap();
        (dir, home)
    }

    #[test]
    fn the_owner_takes_the_turn_again_if_another_process_left_a_mark() {
        let (_dir, home) = home();
        let turn = SettleTurn::take(&home, None).unwrap();
        assert!(!turn.is_wanted());
        assert!(SettleTurn::take(&home, None).is_none());
        assert!(SettleTurn::take(&home, None).is_none());
        let turn = turn.once_more(Duration::ZERO).expect("another process has left a mark");
        assert!(turn.is_wanted());
        assert!(turn.once_more(Duration::ZERO).is_none());
        assert!(!SettleTurn::take(&home, None).unwrap().is_wanted());
    }

    #[test]
    fn a_patient_owner_sees_a_mark_that_is_left_while_it_waits() {
        let (_dir, home) = home();
        let turn = SettleTurn::take(&home, None).unwrap();
        std::thread::scope(|scope| {
            let patient = scope.spawn(|| turn.once_more(Duration::from_secs(60)));
            assert!(SettleTurn::take(&home, None).is_none());
            assert!(patient.join().unwrap().is_some_and(|turn| turn.is_wanted()));
        });
    }

    #[test]
    fn a_turn_that_was_handed_over_is_kept_and_another_file_is_ignored() {
        let (dir, home) = home();
        let lock = open_private(&home.root().join(SETTLING_FILE)).unwrap();
        lock.lock().unwrap();
        let other = File::create(dir.path().join("other")).unwrap();
        assert!(SettleTurn::take(&home, Some(other)).is_none());
        let turn = SettleTurn::take(&home, Some(lock)).unwrap();
        assert!(turn.is_wanted(), "the first process has left a mark");
        assert!(turn.once_more(Duration::ZERO).is_none());
    }

    #[test]
    fn a_mark_left_for_a_killed_owner_is_seen_by_the_next_owner() {
        let (_dir, home) = home();
        let killed = SettleTurn::take(&home, None).unwrap();
        assert!(SettleTurn::take(&home, None).is_none());
        drop(killed);
        assert!(SettleTurn::take(&home, None).unwrap().is_wanted());
    }

    #[test]
    fn another_process_settles_beside_an_overdue_turn() {
        let (_dir, home) = home();
        let overdue = SettleTurn::take(&home, None).unwrap();
        let long_ago = SystemTime::now() - 2 * SETTLE_TIMEOUT;
        overdue.lock.as_ref().unwrap().set_modified(long_ago).unwrap();
        assert!(SettleTurn::take(&home, None).is_some_and(|other| other.is_wanted()));
    }

    #[test]
    fn another_process_settles_beside_a_turn_that_began_before_the_clock_was_set_back() {
        let (_dir, home) = home();
        let turn = SettleTurn::take(&home, None).unwrap();
        let later = SystemTime::now() + Duration::from_secs(3600);
        turn.lock.as_ref().unwrap().set_modified(later).unwrap();
        assert!(SettleTurn::take(&home, None).is_some_and(|other| other.is_wanted()));
    }

    #[test]
    fn a_process_that_cannot_leave_a_mark_settles_without_the_turn() {
        let (_dir, home) = home();
        fs::create_dir(home.root().join(UNSETTLED_FILE)).unwrap();
        let _turn = SettleTurn::take(&home, None).unwrap();
        assert!(SettleTurn::take(&home, None).is_some_and(|other| other.is_wanted()));
    }
}
