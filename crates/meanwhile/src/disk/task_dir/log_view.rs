//! An open log with its index, which maps logical offsets to bytes.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use mw_model::wire::{
    EntryKind, HEADER_LEN, INDEX_FILE, IndexEntry, IndexHeader, LOG_FILE, NEW_LOG, Segment, segments,
};

use crate::disk::optional_file::present;

/// Which streams to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamChoice {
    /// Both, interleaved as printed.
    #[default]
    Both,
    /// Both, in the order in which they were printed, but labelled.
    Apart,
    /// Standard output only.
    Stdout,
    /// Standard error only.
    Stderr,
}

impl StreamChoice {
    /// Returns the name of the choice.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Both | Self::Apart => "both",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }

    pub(crate) const fn takes(self, kind: EntryKind) -> bool {
        matches!(
            (self, kind),
            (Self::Both | Self::Apart, _)
                | (Self::Stdout, EntryKind::Stdout(_) | EntryKind::Drop(_))
                | (Self::Stderr, EntryKind::Stderr(_) | EntryKind::Drop(_))
        )
    }
}

/// A log with its matching index. It may grow while it is read; existing content stays.
pub(crate) struct LogView {
    file: File,
    parts: Vec<Segment>,
}

impl LogView {
    /// Opens the log and index in a directory.
    ///
    /// When the log reaches its cap, the two are replaced one after the other, so a pair that does not match is
    /// opened again. If a killed supervisor left such a pair, its successor repairs it; until then the new log is
    /// found under its other name.
    pub(crate) fn open(directory: &Path, choice: StreamChoice) -> io::Result<Self> {
        const TRIES: usize = 50;
        let log = directory.join(LOG_FILE);
        for _ in 0..TRIES {
            // Before the index is looked for: the first byte of standard error is written after the index exists.
            let size = fs::metadata(&log).map_or(0, |found| found.len());
            let Some(index) = present(File::open(directory.join(INDEX_FILE)))? else {
                return Ok(Self { file: File::open(&log)?, parts: whole(0, size) });
            };
            let mut bytes = [0; HEADER_LEN as usize];
            let header = index.read_exact_at(&mut bytes, 0).ok().and_then(|()| IndexHeader::decode(&bytes));
            let Some(header) = header else {
                return Self::with(File::open(&log)?, &index, IndexHeader::default(), choice);
            };
            for name in [LOG_FILE, NEW_LOG] {
                if let Ok(file) = File::open(directory.join(name))
                    && file.metadata()?.ino() == header.log_inode
                {
                    return Self::with(file, &index, header, choice);
                }
            }
        }
        // The index describes another log: one of the two was replaced or removed.
        let file = File::open(&log)?;
        let size = file.metadata()?.len();
        Ok(Self { file, parts: whole(0, size) })
    }

    fn with(file: File, index: &File, header: IndexHeader, choice: StreamChoice) -> io::Result<Self> {
        let size = file.metadata()?.len();
        let needed = header.has_drops || choice != StreamChoice::Both;
        let parts = if needed { read_parts(index, header, size)? } else { whole(header.prefix_len, size) };
        Ok(Self { file, parts })
    }

    /// Returns the logical end and the number of dropped bytes.
    pub(crate) fn size(&self) -> (u64, u64) {
        let end = self.parts.last().map_or(0, |last| last.logical + last.len);
        let dropped = self
            .parts
            .iter()
            .filter(|part| matches!(part.kind, EntryKind::Drop(_)))
            .map(|part| part.len)
            .sum();
        (end, dropped)
    }

    pub(crate) fn parts(&self) -> &[Segment] {
        &self.parts
    }

    /// Returns the segments of the requested streams that are in the log.
    pub(crate) fn readable(&self, choice: StreamChoice) -> impl DoubleEndedIterator<Item = &Segment> {
        let is_there = move |kind| choice.takes(kind) && !matches!(kind, EntryKind::Drop(_));
        self.parts.iter().filter(move |part| is_there(part.kind))
    }

    /// Reads bytes of a segment, from a logical offset inside it.
    pub(crate) fn bytes(&self, part: &Segment, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let skip = from.saturating_sub(part.logical);
        let len = (part.len.saturating_sub(skip) as usize).min(most);
        let mut bytes = vec![0; len];
        let mut filled = 0;
        while filled < len {
            let read = self.file.read_at(&mut bytes[filled..], part.physical + skip + filled as u64)?;
            if read == 0 {
                break;
            }
            filled += read;
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// Returns the whole log as one segment, for readers that do not distinguish streams.
fn whole(prefix: u64, size: u64) -> Vec<Segment> {
    vec![Segment {
        logical: 0,
        len: size.saturating_sub(prefix),
        physical: prefix,
        kind: EntryKind::Stdout(0),
    }]
}

fn read_parts(index: &File, header: IndexHeader, log_size: u64) -> io::Result<Vec<Segment>> {
    let len = index.metadata()?.len().saturating_sub(HEADER_LEN) as usize;
    let mut bytes = vec![0; len - len % IndexEntry::LEN];
    index.read_exact_at(&mut bytes, HEADER_LEN)?;
    let entries: Vec<_> = bytes.chunks(IndexEntry::LEN).filter_map(IndexEntry::decode).collect();
    Ok(segments(&entries, header.prefix_len, log_size))
}

/// Returns when a log was last written to, in microseconds since the epoch.
pub(crate) fn last_write_us(directory: &Path) -> Option<i64> {
    let found = fs::metadata(directory.join(LOG_FILE)).ok()?;
    Some(found.mtime() * 1_000_000 + found.mtime_nsec() / 1000)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use super::*;

    /// Writes like a supervisor, which creates the index when the second stream begins, before its first byte.
    fn print_to_both(directory: &Path) {
        let mut log = File::create(directory.join(LOG_FILE)).unwrap();
        log.write_all(b"out").unwrap();
        let header = IndexHeader { log_inode: log.metadata().unwrap().ino(), ..IndexHeader::default() };
        let first = IndexEntry { offset: 0, kind: EntryKind::Stdout(0) };
        let second = IndexEntry { offset: 3, kind: EntryKind::Stderr(0) };
        let mut index = File::create(directory.join(INDEX_FILE)).unwrap();
        index.write_all(&[&header.encode()[..], &first.encode()].concat()).unwrap();
        index.write_all(&second.encode()).unwrap();
        log.write_all(b"err").unwrap();
    }

    #[test]
    fn standard_error_is_never_read_as_standard_output() {
        let place = tempfile::tempdir().unwrap();
        for round in 0..500 {
            let directory = place.path().join(round.to_string());
            fs::create_dir(&directory).unwrap();
            let writer = thread::spawn({
                let directory = directory.clone();
                move || print_to_both(&directory)
            });
            loop {
                let is_done = writer.is_finished();
                let Ok(view) = LogView::open(&directory, StreamChoice::Stdout) else { continue };
                let parts = view.parts().iter().filter(|part| StreamChoice::Stdout.takes(part.kind));
                let bytes: Vec<u8> =
                    parts.flat_map(|part| view.bytes(part, part.logical, 100).unwrap()).collect();
                assert!(b"out".starts_with(&bytes), "{}", String::from_utf8_lossy(&bytes));
                if is_done {
                    assert_eq!(bytes, b"out");
                    break;
                }
            }
            writer.join().unwrap();
        }
    }
}
