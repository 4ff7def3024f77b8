//! The log and its index: appends by `splice`, keeps a head and a live tail under the cap, and counts
//! what it had to drop.
//!
//! The pair is replaced when the middle is dropped: index first, log second, both by rename. The
//! index header names the log's inode, so a reader (or a successor) can tell which of the two renames
//! has happened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mw_model::wire::{
    Entry, EntryKind, HEADER_LEN, INDEX_FILE, IndexHeader, LOG_FILE, drop_marker, segments,
};
use rustix::io::Errno;

use crate::sys::{self, Board};

mod batch;
mod compact;
mod stage;

use self::stage::Staging;

/// Most bytes moved by one call, which is also the size asked for our pipes.
pub(crate) const CHUNK: usize = 1 << 19;
/// An index entry is renewed after this long, so that times in the index stay useful.
const RENEW_US: u64 = 1_000_000;
/// An index beyond this is compacted along with its log, where there is a cap.
const INDEX_LIMIT: u64 = 1 << 20;
const NEW_LOG: &str = "output.log.new";
const NEW_INDEX: &str = "output.idx.new";

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// What a call of [`Log::append_from`] did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Took this many bytes, kept or dropped.
    Bytes(u64),
    /// There was nothing to take.
    Nothing,
}

/// An open log.
pub(crate) struct Log {
    dir: PathBuf,
    file: File,
    /// Made when it has something to tell: a second stream, a later time, dropped bytes. A log without
    /// one is all stdout.
    index: Option<File>,
    null: File,
    board: Board,
    cap: u64,
    prefix: u64,
    /// Physical size.
    size: u64,
    index_len: u64,
    /// Logical end: every byte taken so far.
    end: u64,
    /// Bytes taken that are not in the log.
    dropped: u64,
    /// The stream the index announced last, and when.
    announced: Option<(Stream, u64)>,
    /// When the first byte came.
    born_us: Option<u64>,
    /// The log's, as of the last look.
    inode: u64,
    staging: Staging,
}

impl Log {
    /// Makes an empty log without a cap.
    pub(crate) fn create(dir: &Path, board: Board) -> io::Result<Self> {
        // What lies here is from a start that was called off or killed before it executed anything.
        let _ = fs::remove_file(dir.join(INDEX_FILE));
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(dir.join(LOG_FILE))?;
        Self::with(dir, file, None, board)
    }

    fn with(dir: &Path, file: File, index: Option<File>, board: Board) -> io::Result<Self> {
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        let dir = dir.to_owned();
        let index_len = HEADER_LEN;
        Ok(Self {
            dir,
            file,
            index,
            null,
            board,
            cap: 0,
            prefix: 0,
            size: 0,
            index_len,
            end: 0,
            dropped: 0,
            announced: None,
            born_us: None,
            inode: 0,
            staging: Staging::Untried,
        })
    }

    /// Sets the most bytes of output the log may hold; 0 = no cap.
    pub(crate) fn set_cap(&mut self, cap: u64) {
        self.cap = cap;
    }

    /// Puts text outside all offsets at the head of an empty log.
    pub(crate) fn write_header(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.prefix = text.len() as u64;
        self.size = self.prefix;
        self.open_index().map(|_| ())
    }

    /// Opens the log that a predecessor left, finishing a replacement it was killed in.
    pub(crate) fn recover(dir: &Path, board: Board) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut index = OpenOptions::new().read(true).write(true).open(dir.join(INDEX_FILE)).ok();
        if let Some(index) = &mut index {
            index.read_to_end(&mut bytes)?;
        }
        let header = IndexHeader::decode(&bytes);
        let inode = |path: &Path| fs::metadata(path).map(|found| found.ino()).ok();
        if let Some(header) = &header
            && inode(&dir.join(LOG_FILE)) != Some(header.log_inode)
            && inode(&dir.join(NEW_LOG)) == Some(header.log_inode)
        {
            fs::rename(dir.join(NEW_LOG), dir.join(LOG_FILE))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(dir.join(LOG_FILE))?;
        let size = file.seek(SeekFrom::End(0))?;
        let mut log = Self::with(dir, file, None, board)?;
        log.size = size;
        log.end = size;
        if let (Some(header), Some(index)) = (header, index) {
            let whole = bytes.len() - (bytes.len() - HEADER_LEN as usize) % Entry::LEN;
            index.set_len(whole as u64)?;
            let entries: Vec<_> =
                bytes[HEADER_LEN as usize..whole].chunks(Entry::LEN).filter_map(Entry::decode).collect();
            let found = segments(&entries, header.prefix_len, size);
            log.index = Some(index);
            log.index_len = whole as u64;
            log.prefix = header.prefix_len;
            log.end = found.last().map_or(0, |last| last.logical + last.len);
            let drops = found.iter().filter(|part| matches!(part.kind, EntryKind::Drop(_)));
            log.dropped = drops.map(|part| part.len).sum();
        }
        let pending = board.pending_drop();
        log.end += pending;
        log.dropped += pending;
        Ok(log)
    }

    /// Logical end: every byte the task printed so far.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes that are not in the log.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The last bytes of the log as it stands.
    pub(crate) fn tail(&self, most: u64) -> Vec<u8> {
        let from = self.size.saturating_sub(most).max(self.prefix);
        let mut bytes = vec![0; (self.size - from) as usize];
        let read = self.file.read_at(&mut bytes, from).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }

    /// Counts the lines of each stream; nothing for a log that is too large to read through.
    pub(crate) fn count_lines(&self) -> Option<(u64, u64)> {
        const LARGEST: u64 = 16 << 20;
        if self.size > LARGEST {
            return None;
        }
        let entries = self.entries().ok()?;
        let parts = match &*entries {
            [] => segments(&[Entry { offset: 0, kind: EntryKind::Stdout(0) }], self.prefix, self.size),
            entries => segments(entries, self.prefix, self.size),
        };
        let mut counts = (0, 0);
        let mut buffer = vec![0; (64 << 10).min(self.size as usize)];
        for part in parts {
            let counter = match part.kind {
                EntryKind::Stdout(_) => &mut counts.0,
                EntryKind::Stderr(_) => &mut counts.1,
                EntryKind::Drop(_) => continue,
            };
            let mut at = 0;
            while at < part.len {
                let most = buffer.len().min((part.len - at) as usize);
                let read = self
                    .file
                    .read_at(&mut buffer[..most], part.physical + at)
                    .ok()
                    .filter(|read| *read > 0)?;
                *counter += buffer[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
                at += read as u64;
            }
        }
        Some(counts)
    }

    /// Takes what a pipe holds, up to one chunk, and keeps it; drops and counts it where that is not
    /// possible. Never blocks on the pipe, which holds so many bytes at least.
    pub(crate) fn append_from(
        &mut self,
        stream: Stream,
        source: impl AsFd,
        waiting: u64,
        now_us: u64,
    ) -> Moved {
        match self.keep(stream, &source, waiting, now_us) {
            Ok(moved) => moved,
            Err(_) => {
                self.unshare(stream);
                self.discard(&source)
            }
        }
    }

    fn keep(&mut self, stream: Stream, source: &impl AsFd, waiting: u64, now_us: u64) -> io::Result<Moved> {
        self.notice_damage()?;
        self.write_pending_drop()?;
        if self.cap > 0 && (self.held() >= self.cap || self.index_len > INDEX_LIMIT) {
            self.drop_middle()?;
        }
        let room = self.room()?;
        self.announce(stream, now_us)?;
        if let Some(moved) = self.keep_much(stream, source, waiting as usize, room)? {
            return Ok(Moved::Bytes(moved));
        }
        match sys::move_bytes(source, &self.file, room) {
            Ok(moved) => {
                self.size += moved as u64;
                self.end += moved as u64;
                Ok(Moved::Bytes(moved as u64))
            }
            Err(Errno::AGAIN) => Ok(Moved::Nothing),
            Err(Errno::INVAL) => self.copy(source, room),
            Err(error) => Err(error.into()),
        }
    }

    /// Bytes that count against the cap: the header does not.
    fn held(&self) -> u64 {
        self.size.saturating_sub(self.prefix)
    }

    /// How much may be written at once; an error where that is nothing, since nothing would ever be taken then.
    fn room(&self) -> io::Result<usize> {
        if self.cap == 0 {
            return Ok(CHUNK);
        }
        match self.cap.saturating_sub(self.held()) {
            0 => Err(io::ErrorKind::StorageFull.into()),
            left => Ok(CHUNK.min(left as usize)),
        }
    }

    /// For file systems that cannot splice.
    fn copy(&mut self, source: &impl AsFd, room: usize) -> io::Result<Moved> {
        let mut buffer = vec![0; room.min(64 << 10)];
        let read = match rustix::io::read(source, &mut buffer) {
            Ok(read) => read,
            Err(Errno::AGAIN) => return Ok(Moved::Nothing),
            Err(error) => return Err(error.into()),
        };
        match self.file.write_all(&buffer[..read]) {
            Ok(()) => self.size += read as u64,
            Err(_) => {
                self.rewind_to(self.size)?;
                self.count_drop(read as u64);
            }
        }
        self.end += read as u64;
        Ok(Moved::Bytes(read as u64))
    }

    fn announce(&mut self, stream: Stream, now_us: u64) -> io::Result<()> {
        if self.announced.is_some_and(|(last, at)| last == stream && now_us.saturating_sub(at) < RENEW_US) {
            return Ok(());
        }
        let born = *self.born_us.get_or_insert(now_us);
        let untold =
            self.index.is_none() && stream == Stream::Stdout && now_us.saturating_sub(born) < RENEW_US;
        if !untold {
            let kind = match stream {
                Stream::Stdout => EntryKind::Stdout(now_us),
                Stream::Stderr => EntryKind::Stderr(now_us),
            };
            self.append_entry(Entry { offset: self.end, kind })?;
        }
        self.announced = Some((stream, now_us));
        Ok(())
    }

    fn append_entry(&mut self, entry: Entry) -> io::Result<()> {
        let at = self.open_index()?;
        if let Some(index) = &self.index {
            index.write_all_at(&entry.encode(), at)?;
        }
        self.index_len += Entry::LEN as u64;
        Ok(())
    }

    /// Makes the index if there is none; returns where it ends.
    fn open_index(&mut self) -> io::Result<u64> {
        if self.index.is_none() {
            let index = fresh(&self.dir.join(INDEX_FILE))?;
            let mut bytes = self.header(false).encode().to_vec();
            if self.end > 0 {
                let kind = EntryKind::Stdout(self.born_us.unwrap_or(0));
                bytes.extend(Entry { offset: 0, kind }.encode());
            }
            index.write_all_at(&bytes, 0)?;
            self.index_len = bytes.len() as u64;
            self.index = Some(index);
        }
        Ok(self.index_len)
    }

    /// Forgets all entries, or those from a length on.
    fn cut_index(&mut self, len: u64) -> io::Result<()> {
        self.open_index()?;
        self.index_len = len;
        self.index.as_ref().map_or(Ok(()), |index| index.set_len(len))
    }

    fn write_index_header(&mut self) -> io::Result<()> {
        self.open_index()?;
        let header = self.header(true).encode();
        self.index.as_ref().map_or(Ok(()), |index| index.write_all_at(&header, 0))
    }

    fn discard(&mut self, source: &impl AsFd) -> Moved {
        match sys::move_bytes(source, &self.null, CHUNK).or_else(|_| read_away(source, CHUNK)) {
            Ok(gone) => {
                self.end += gone as u64;
                self.count_drop(gone as u64);
                Moved::Bytes(gone as u64)
            }
            Err(_) => Moved::Nothing,
        }
    }

    fn count_drop(&mut self, bytes: u64) {
        self.dropped += bytes;
        self.board.set_pending_drop(self.board.pending_drop() + bytes);
    }

    /// Puts a marker where bytes were dropped, as soon as there is room for it.
    fn write_pending_drop(&mut self) -> io::Result<()> {
        let count = self.board.pending_drop();
        if count == 0 {
            return Ok(());
        }
        let size = self.size;
        let index_len = self.open_index()?;
        let written = self.append_drop(count);
        if written.is_err() {
            self.rewind_to(size)?;
            self.cut_index(index_len)?;
        }
        written
    }

    fn append_drop(&mut self, count: u64) -> io::Result<()> {
        self.append_entry(Entry { offset: self.end - count, kind: EntryKind::Drop(count) })?;
        let marker = drop_marker(count);
        self.file.write_all(marker.as_bytes())?;
        self.write_index_header()?;
        self.size += marker.len() as u64;
        self.announced = None;
        self.board.set_pending_drop(0);
        Ok(())
    }

    fn header(&self, has_drops: bool) -> IndexHeader {
        let log_inode = self.file.metadata().map(|found| found.ino()).unwrap_or_default();
        IndexHeader { log_inode, prefix_len: self.prefix, has_drops }
    }

    fn rewind_to(&mut self, size: u64) -> io::Result<()> {
        self.file.set_len(size)?;
        self.file.seek(SeekFrom::Start(size))?;
        self.size = size;
        Ok(())
    }

    /// Somebody cut the log or removed it: what it held counts as dropped, and it begins anew.
    fn notice_damage(&mut self) -> io::Result<()> {
        let found = self.file.metadata()?;
        self.inode = found.ino();
        if found.nlink() > 0 && found.size() >= self.size {
            return Ok(());
        }
        if found.nlink() == 0 {
            self.file = fresh(&self.dir.join(LOG_FILE))?;
            self.inode = self.file.metadata()?.ino();
        } else {
            self.rewind_to(0)?;
        }
        self.prefix = 0;
        self.size = 0;
        self.cut_index(HEADER_LEN)?;
        self.write_index_header()?;
        self.announced = None;
        self.dropped = self.end;
        self.board.set_pending_drop(self.end);
        Ok(())
    }
}

/// For systems that cannot splice.
fn read_away(source: &impl AsFd, most: usize) -> Result<usize, Errno> {
    let mut buffer = [0; 4096];
    let most = most.min(buffer.len());
    rustix::io::read(source, &mut buffer[..most])
}

fn fresh(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests;
