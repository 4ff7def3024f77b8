//! `output.batch`, in which versions before this one noted a batch of output that they were moving.
//!
//! They copied a batch to the log first and took it out of its pipe afterwards. If both supervisors were killed in between,
//! the log's length says whether all of it was copied, and the first bytes in the pipe say whether it was taken: a batch was
//! only begun if the bytes after it differed from its first ones.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::fstat;

use super::{CHUNK, Log, read_and_drop};
use crate::sys;

const BATCH_FILE: &str = "output.batch";
/// `MWBA` and version 1.
const MAGIC: u64 = u64::from_le_bytes(*b"MWBA\x01\0\0\0");
/// How many bytes at the beginning of a batch differ from those after it.
const WINDOW: usize = 256;

/// A batch that was being moved.
struct Batch {
    log_inode: u64,
    pipe_inode: u64,
    /// Where it begins in the log.
    start: u64,
    end: u64,
}

impl Batch {
    /// Reads a note; nothing if no batch was being moved.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at * 8..at * 8 + 8)?.try_into().ok()?));
        let (start, len) = (word(3)?, word(4)?);
        let batch = Self { log_inode: word(1)?, pipe_inode: word(2)?, start, end: start.checked_add(len)? };
        (word(0)? == MAGIC).then_some(batch)
    }
}

impl Log {
    /// Finishes or undoes a batch that an earlier version left. Can be repeated until it succeeds.
    pub(crate) fn finish_old_batch(&mut self, pipes: [&OwnedFd; 2]) -> io::Result<()> {
        let path = self.dir.join(BATCH_FILE);
        let Ok(note) = fs::read(&path) else { return Ok(()) };
        if let Some(batch) = Batch::decode(&note) {
            let is_its = |pipe: &&OwnedFd| fstat(pipe).is_ok_and(|found| found.st_ino == batch.pipe_inode);
            if let Some(pipe) = pipes.into_iter().find(is_its) {
                self.finish_batch_of(&batch, pipe)?;
            }
        }
        fs::remove_file(path)
    }

    fn finish_batch_of(&mut self, batch: &Batch, pipe: &OwnedFd) -> io::Result<()> {
        let is_its_log = self.file.metadata()?.ino() == batch.log_inode;
        if !is_its_log || self.size < batch.start || self.size > batch.end {
            return Ok(());
        }
        if self.size < batch.end {
            // All of it is still in the pipe.
            self.end -= self.size - batch.start;
            return self.rewind_to(batch.start);
        }
        let mut beginning = [0; WINDOW];
        self.file.read_exact_at(&mut beginning, batch.start)?;
        if peek(pipe)?.is_some_and(|head| head == beginning) {
            let mut left = (batch.end - batch.start) as usize;
            while left > 0 {
                match sys::move_bytes(pipe, &self.null, left).or_else(|_| read_and_drop(pipe, left)) {
                    Ok(gone) if gone > 0 => left -= gone,
                    Ok(_) | Err(_) => break,
                }
            }
        }
        Ok(())
    }
}

/// Returns the first bytes in a pipe and leaves them there.
fn peek(pipe: &impl AsFd) -> io::Result<Option<[u8; WINDOW]>> {
    let (read, write) = sys::new_pipe(CHUNK)?;
    rustix::io::ioctl_fionbio(&read, true)?;
    let mut window = [0; WINDOW];
    let shared = sys::share_bytes(pipe, &write, WINDOW);
    let is_whole = shared == Ok(WINDOW) && rustix::io::read(&read, &mut window) == Ok(WINDOW);
    Ok(is_whole.then_some(window))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::path::Path;

    use super::*;
    use crate::output::log::{Moved, Stream};
    use crate::spawn::pipe::OutputPipe;
    use crate::sys::Board;

    const LEN: usize = 100_000;

    /// How far the batch came before both supervisors died.
    #[derive(Clone, Copy, Debug)]
    enum Death {
        Noted,
        Copying(usize),
        Copied,
        Taken,
    }

    fn recovered(dir: &Path, pipe: &OutputPipe) -> Log {
        let mut log = Log::recover(dir, Board::new().unwrap()).unwrap();
        log.finish_old_batch([&pipe.read, &pipe.read]).unwrap();
        assert!(!dir.join(BATCH_FILE).exists());
        log
    }

    #[test]
    fn a_batch_of_an_earlier_version_is_neither_missing_nor_doubled() {
        for death in [Death::Noted, Death::Copying(1), Death::Copying(LEN - 1), Death::Copied, Death::Taken] {
            let dir = tempfile::tempdir().unwrap();
            let pipe = OutputPipe::new().unwrap();
            let bytes: Vec<u8> = (0..LEN as u64 * 2 / 8).flat_map(u64::to_be_bytes).collect();
            File::from(pipe.write.try_clone().unwrap()).write_all(&bytes).unwrap();
            let mut log = Log::create(dir.path(), Board::new().unwrap()).unwrap();
            let inode = |fd: &dyn AsFd| fstat(fd.as_fd()).unwrap().st_ino;
            let words = [MAGIC, inode(&log.file), inode(&pipe.read), 0, LEN as u64];
            let note: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
            let copied = match death {
                Death::Noted => 0,
                Death::Copying(bytes) => bytes,
                Death::Copied | Death::Taken => LEN,
            };
            log.file.write_all(&bytes[..copied]).unwrap();
            if let Death::Taken = death {
                assert_eq!(sys::move_bytes(&pipe.read, &log.null, LEN), Ok(LEN));
            }
            // The second time as if the first adopter had died before it removed the note.
            for _ in 0..2 {
                fs::write(dir.path().join(BATCH_FILE), &note).unwrap();
                log = recovered(dir.path(), &pipe);
            }
            while let Moved::Bytes(1..) = log.append_from(Stream::Stdout, &pipe.read, 0) {}
            assert_eq!(log.end(), bytes.len() as u64, "{death:?}");
            assert!(fs::read(dir.path().join("output.log")).unwrap() == bytes, "{death:?}");
        }
    }

    #[test]
    fn what_is_no_note_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = OutputPipe::new().unwrap();
        fs::write(dir.path().join(BATCH_FILE), [0; 40]).unwrap();
        assert_eq!(recovered(dir.path(), &pipe).end(), 0);
    }
}
