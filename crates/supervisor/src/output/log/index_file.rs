//! The log's index: which bytes came from which stream, and when.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use mw_model::Stream;
use mw_model::wire::{EntryKind, INDEX_FILE, IndexEntry, IndexHeader};

use super::log_file::{Log, fresh};

/// An index entry is renewed after this time, so that times in the index stay useful.
const RENEW_US: u64 = 1_000_000;

impl Log {
    pub(super) fn announce(&mut self, stream: Stream, now_us: u64) -> io::Result<()> {
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
            self.append_entry(IndexEntry { offset: self.end, kind })?;
        }
        self.announced = Some((stream, now_us));
        Ok(())
    }

    pub(super) fn append_entry(&mut self, entry: IndexEntry) -> io::Result<()> {
        let at = self.open_index()?;
        if let Some(index) = &self.index {
            index.write_all_at(&entry.encode(), at)?;
        }
        self.index_len += IndexEntry::LEN as u64;
        Ok(())
    }

    /// Creates the index if there is none; returns its length.
    pub(super) fn open_index(&mut self) -> io::Result<u64> {
        if self.index.is_none() {
            // An existing file is from an attempt that failed for lack of room.
            let path = self.dir.join(INDEX_FILE);
            let _ = fs::remove_file(&path);
            let index = fresh(&path)?;
            let mut bytes = self.header(false).encode().to_vec();
            if self.end > 0 {
                let kind = EntryKind::Stdout(self.born_us.unwrap_or(0));
                bytes.extend(IndexEntry { offset: 0, kind }.encode());
            }
            index.write_all_at(&bytes, 0)?;
            self.index_len = bytes.len() as u64;
            self.index = Some(index);
        }
        Ok(self.index_len)
    }

    /// Cuts the index to a length.
    pub(super) fn cut_index(&mut self, len: u64) -> io::Result<()> {
        self.open_index()?;
        self.index_len = len;
        self.index.as_ref().map_or(Ok(()), |index| index.set_len(len))
    }

    pub(super) fn write_index_header(&mut self) -> io::Result<()> {
        self.open_index()?;
        let header = self.header(true).encode();
        self.index.as_ref().map_or(Ok(()), |index| index.write_all_at(&header, 0))
    }

    pub(super) fn header(&self, has_drops: bool) -> IndexHeader {
        let log_inode = self.file.metadata().map(|found| found.ino()).unwrap_or_default();
        IndexHeader { log_inode, prefix_len: self.prefix, has_drops }
    }
}
