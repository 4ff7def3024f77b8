//! Much output goes to the log through a mapped file, `output.buffer`.
//!
//! `splice` to a file locks the pipe during the copy, so that the task cannot write. `read` is faster, but loses what it
//! has read if the process is killed. So it reads into a mapped file, where a successor finds the bytes:
//!
//! 1. *arm*: note where the bytes belong, and put random bytes, the canary, at the beginning and at the end of their place;
//! 2. *read* them from the pipe, over the canary;
//! 3. *write* them to the log;
//! 4. *disarm*.
//!
//! If a successor finds the buffer armed and the canary intact, nothing was read. Otherwise everything was read, because the
//! pipe held that many bytes and the kernel does not interrupt such a read; the successor repeats the write. If only the
//! end of the canary is intact, the read has failed midway, and the bytes are counted as dropped.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::io::ioctl_fionread;
use rustix::rand::{GetRandomFlags, getrandom};

use super::log_file::Log;
use crate::boot::descriptors::{MANY, has_spare};
use crate::fail_point::fail_point;
use crate::sys::Mapping;

const BUFFER_FILE: &str = "output.buffer";
/// `MWBU` and version 1.
const MAGIC: u64 = u64::from_le_bytes(*b"MWBU\x01\0\0\0");
/// With less output `splice` is as fast.
const LEAST: usize = 64 << 10;
/// Maximum size of one batch in bytes: less than a pipe holds, so that the task can write meanwhile.
const MAX: usize = 376 << 10;
const CANARY: usize = 16;
/// Where the bytes are. Before them are the magic number, the log's inode, the offset in the log, the length and the canary.
const DATA: usize = 4 * 8 + CANARY;

/// Whether there is a buffer.
pub(super) enum Buffering {
    /// It was not needed yet.
    Untried,
    Ready(Buffer),
    /// The system does not allow it.
    Impossible,
}

pub(super) struct Buffer {
    file: File,
    memory: Mapping,
    canary: [u8; CANARY],
}

impl Buffer {
    fn create(dir: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(dir.join(BUFFER_FILE))?;
        // Written, not only extended, so that a full disk is noticed here.
        file.write_all(&vec![0; DATA + MAX])?;
        let memory = Mapping::new(&file, DATA + MAX)?;
        let mut canary = [0; CANARY];
        getrandom(&mut canary, GetRandomFlags::empty())?;
        Ok(Self { file, memory, canary })
    }

    fn arm(&self, log_inode: u64, start: u64, len: usize) -> io::Result<()> {
        self.file.write_all_at(&self.canary, (DATA + len - CANARY) as u64)?;
        let header = [MAGIC, log_inode, start, len as u64].map(u64::to_le_bytes).concat();
        // One write within one page: a kill leaves all of it or nothing.
        self.file.write_all_at(&[&header[..], &self.canary, &self.canary].concat(), 0)
    }

    fn disarm(&self) -> io::Result<()> {
        self.file.write_all_at(&[0; 8], 0)
    }

    /// Writes bytes to the log; returns how many could be written.
    fn write(&self, log: &File, start: u64, len: usize) -> usize {
        let mut done = 0;
        while done < len {
            match self.memory.write_to(log, start + done as u64, DATA + done, len - done) {
                Ok(written) if written > 0 => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => break,
            }
        }
        done
    }
}

impl Log {
    /// Moves much output from a pipe to the log; nothing if there is little, or no buffer.
    pub(super) fn move_much(&mut self, source: &impl AsFd, room: usize) -> io::Result<Option<u64>> {
        let len = (ioctl_fionread(source).unwrap_or(0) as usize).min(room).min(MAX);
        if len < LEAST {
            return Ok(None);
        }
        if let Buffering::Untried = self.buffering {
            let buffer = Buffer::create(&self.dir).ok().filter(|_| has_spare(&self.null, MANY));
            self.buffering = buffer.map_or(Buffering::Impossible, Buffering::Ready);
        }
        let Buffering::Ready(buffer) = &self.buffering else { return Ok(None) };
        let armed = buffer.arm(self.inode, self.size, len);
        fail_point("output-armed");
        let read = armed.and_then(|()| buffer.memory.read_from(source, DATA, len)).unwrap_or(0);
        fail_point("output-read");
        let kept = buffer.write(&self.file, self.size, read);
        fail_point("output-written");
        if buffer.disarm().is_err() || read < len {
            self.forget_buffer();
            self.buffering = Buffering::Impossible;
        }
        self.end += read as u64;
        self.size += kept as u64;
        self.file.seek(SeekFrom::Start(self.size))?;
        if kept < read {
            self.count_drop((read - kept) as u64);
            self.rewind_to(self.size)?;
        }
        Ok((read > 0).then_some(read as u64))
    }

    /// Finishes the batch in which a predecessor was killed.
    pub(super) fn finish_batch(&mut self) -> io::Result<()> {
        let Ok(bytes) = fs::read(self.dir.join(BUFFER_FILE)) else { return Ok(()) };
        if let Some((start, data, canary)) = armed_batch(&bytes, self.file.metadata()?.ino())
            && (start..=start + data.len() as u64).contains(&self.size)
            && data[..CANARY] != *canary
        {
            self.end -= self.size - start;
            self.rewind_to(start)?;
            if data[data.len() - CANARY..] != *canary && self.file.write_all(data).is_ok() {
                self.size += data.len() as u64;
                self.end += data.len() as u64;
            } else {
                self.rewind_to(start)?;
                self.lose(data.len() as u64);
            }
            fail_point("output-recovered");
        }
        self.forget_buffer();
        Ok(())
    }

    /// Removes the buffer when it is no longer needed.
    pub(crate) fn tidy(&self) {
        if let Buffering::Ready(_) = self.buffering {
            self.forget_buffer();
        }
    }

    fn forget_buffer(&self) {
        let _ = fs::remove_file(self.dir.join(BUFFER_FILE));
    }
}

/// Returns the offset, the bytes and the canary of an armed buffer for this log.
fn armed_batch(bytes: &[u8], log_inode: u64) -> Option<(u64, &[u8], &[u8])> {
    let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at * 8..at * 8 + 8)?.try_into().ok()?));
    let (start, len) = (word(2)?, usize::try_from(word(3)?).ok()?);
    let data = bytes.get(DATA..DATA.checked_add(len)?).filter(|data| data.len() >= LEAST)?;
    let is_armed = word(0)? == MAGIC && word(1)? == log_inode && start.checked_add(len as u64).is_some();
    is_armed.then_some((start, data, &bytes[DATA - CANARY..DATA]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mw_model::Stream;

    use crate::output::log::Moved;
    use crate::spawn::pipe::OutputPipe;
    use crate::sys::Board;

    const LEN: usize = 100_000;

    /// The step of a batch at which its supervisors were killed.
    #[derive(Clone, Copy, Debug)]
    enum Death {
        Armed,
        /// The read failed midway.
        Half,
        Read,
        Writing(usize),
        Disarmed,
    }

    #[test]
    fn an_interrupted_batch_is_neither_lost_nor_written_twice() {
        use Death::{Armed, Disarmed, Half, Read, Writing};
        for death in [Armed, Read, Writing(1), Writing(LEN - 1), Writing(LEN), Disarmed, Half] {
            let dir = tempfile::tempdir().unwrap();
            let pipe = OutputPipe::new().unwrap();
            let bytes: Vec<u8> = (0..LEN as u64 * 2 / 8).flat_map(u64::to_be_bytes).collect();
            File::from(pipe.write.try_clone().unwrap()).write_all(&bytes).unwrap();
            let mut log = Log::create(dir.path(), Board::new().unwrap()).unwrap();
            let buffer = Buffer::create(dir.path()).unwrap();
            buffer.arm(log.file.metadata().unwrap().ino(), 0, LEN).unwrap();
            let read = |len| assert_eq!(buffer.memory.read_from(&pipe.read, DATA, len).unwrap(), len);
            match death {
                Armed => {}
                Half => read(LEN / 2),
                Read => read(LEN),
                Writing(written) => {
                    read(LEN);
                    assert_eq!(buffer.write(&log.file, 0, written), written);
                }
                Disarmed => {
                    read(LEN);
                    assert_eq!(buffer.write(&log.file, 0, LEN), LEN);
                    buffer.disarm().unwrap();
                }
            }
            let saved = fs::read(dir.path().join(BUFFER_FILE)).unwrap();
            // The second round is as if the first successor was killed before it removed the buffer.
            for _ in 0..if let Half = death { 1 } else { 2 } {
                fs::write(dir.path().join(BUFFER_FILE), &saved).unwrap();
                log = Log::recover(dir.path(), Board::new().unwrap()).unwrap();
                assert!(!dir.path().join(BUFFER_FILE).exists());
            }
            while let Moved::Bytes(1..) = log.append_from(Stream::Stdout, &pipe.read, 0) {}
            let found = fs::read(dir.path().join("output.log")).unwrap();
            if let Half = death {
                assert_eq!(log.dropped(), LEN as u64, "the number of bytes that were read is unknown");
            } else {
                assert_eq!((log.end(), log.dropped()), (bytes.len() as u64, 0), "{death:?}");
                assert!(found == bytes, "{death:?}: {} of {} bytes", found.len(), bytes.len());
            }
        }
    }

    #[test]
    fn large_output_goes_through_the_buffer() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = OutputPipe::new().unwrap();
        let bytes: Vec<u8> = (0..super::super::CHUNK as u64 / 8).flat_map(u64::to_be_bytes).collect();
        File::from(pipe.write.try_clone().unwrap()).write_all(&bytes).unwrap();
        let mut log = Log::create(dir.path(), Board::new().unwrap()).unwrap();
        assert_eq!(log.append_from(Stream::Stdout, &pipe.read, 0), Moved::Bytes(MAX as u64));
        while let Moved::Bytes(1..) = log.append_from(Stream::Stdout, &pipe.read, 0) {}
        assert!(fs::read(dir.path().join("output.log")).unwrap() == bytes);
        log.tidy();
        assert!(!dir.path().join(BUFFER_FILE).exists());
    }
}
