//! What is written down about a batch under way, and what follows from it when its supervisors are dead.
//!
//! A batch is copied to the log first and taken out of its pipe afterwards. Whoever comes after a death in
//! between must know whether it is still in the pipe: the log's length tells how far the copying came, and the
//! head of the pipe tells the rest, because a batch is only begun when what follows it differs from its beginning.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// So many bytes at the beginning of a batch differ from those behind it.
pub(super) const WINDOW: usize = 256;
/// Where a batch under way is written down; only a task that prints much has this file.
const BATCH_FILE: &str = "output.batch";
/// `MWBA` and version 1.
const MAGIC: u64 = u64::from_le_bytes(*b"MWBA\x01\0\0\0");

/// A stretch of output that is being moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// The log it goes to.
    pub(super) log_inode: u64,
    /// The pipe it comes from.
    pub(super) pipe_inode: u64,
    /// Where it begins in the log.
    pub(super) start: u64,
    pub(super) len: u64,
}

/// What is to be done about a batch that was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Nothing: it is complete, or it is not about this log.
    None,
    /// All of it is still in the pipe: what of it stands in the log goes.
    CutLogTo(u64),
    /// All of it stands in the log: so much is taken out of the pipe.
    TakeFromPipe(u64),
}

impl Batch {
    const LEN: usize = 40;

    /// Says what is to be done, given the log as it is and whether the pipe begins as the batch does.
    pub(super) fn remedy(
        &self,
        log_inode: u64,
        log_size: u64,
        is_still_there: impl FnOnce() -> bool,
    ) -> Remedy {
        let end = self.start + self.len;
        if log_inode != self.log_inode || log_size < self.start || log_size > end {
            Remedy::None
        } else if log_size < end {
            Remedy::CutLogTo(self.start)
        } else if is_still_there() {
            Remedy::TakeFromPipe(self.len)
        } else {
            Remedy::None
        }
    }

    fn encode(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let words = [MAGIC, self.log_inode, self.pipe_inode, self.start, self.len];
        for (place, word) in bytes.chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at * 8..at * 8 + 8)?.try_into().ok()?));
        let batch = Self { log_inode: word(1)?, pipe_inode: word(2)?, start: word(3)?, len: word(4)? };
        (word(0)? == MAGIC && batch.start.checked_add(batch.len).is_some()).then_some(batch)
    }
}

/// The file in which the batch under way stands.
pub(super) struct Notes {
    path: PathBuf,
    file: File,
}

impl Notes {
    pub(super) fn create(dir: &Path) -> io::Result<Self> {
        let path = dir.join(BATCH_FILE);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        Ok(Self { path, file })
    }

    /// Notes a batch before any of it is copied. A note of a few bytes is written whole or not at all.
    pub(super) fn begin(&self, batch: &Batch) -> io::Result<()> {
        self.file.write_all_at(&batch.encode(), 0)
    }

    /// Forgets the batch, which is in the log and nowhere else, or in the pipe and nowhere else.
    pub(super) fn end(&self) -> io::Result<()> {
        self.file.write_all_at(&[0; Batch::LEN], 0).or_else(|_| fs::remove_file(&self.path))
    }
}

/// Finds the batch that a predecessor left.
pub(super) fn left_behind(dir: &Path) -> Option<Batch> {
    Batch::decode(&fs::read(dir.join(BATCH_FILE)).ok()?)
}

/// Forgets what a predecessor left.
pub(super) fn forget(dir: &Path) {
    let _ = fs::remove_file(dir.join(BATCH_FILE));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_note_is_read_as_it_was_written(words in any::<[u32; 4]>()) {
            let [log_inode, pipe_inode, start, len] = words.map(u64::from);
            let batch = Batch { log_inode, pipe_inode, start, len };
            prop_assert_eq!(Batch::decode(&batch.encode()), Some(batch));
        }

        #[test]
        fn anything_else_is_no_note(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(Batch::decode(&bytes), None);
        }
    }

    #[test]
    fn a_batch_that_was_forgotten_is_no_batch() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(left_behind(dir.path()), None);
        let notes = Notes::create(dir.path()).unwrap();
        let batch = Batch { log_inode: 1, pipe_inode: 2, start: 3, len: 4 };
        notes.begin(&batch).unwrap();
        assert_eq!(left_behind(dir.path()), Some(batch));
        notes.end().unwrap();
        assert_eq!(left_behind(dir.path()), None);
    }
}
