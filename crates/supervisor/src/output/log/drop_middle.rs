//! Dropping the middle: the log becomes head, marker, tail.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};

use mw_model::wire::{
    EntryKind, HEADER_LEN, INDEX_FILE, IndexEntry, IndexHeader, LOG_FILE, Segment, drop_marker, segments,
};

use super::log_file::{Log, NEW_INDEX, NEW_LOG, fresh};
use crate::fail_point::fail_point;

/// How far a cut may move to the end of a line.
const LINE_SLACK: u64 = 4096;

/// A place in the log: physical and logical offset.
#[derive(Clone, Copy)]
struct CutPoint {
    physical: u64,
    logical: u64,
}

impl Log {
    /// Drops the middle: a quarter of the cap stays as head, three eighths as tail.
    ///
    /// A reader sees the old pair or the new one; `cat` always shows head, marker with the exact count, and tail.
    pub(super) fn drop_middle(&mut self) -> io::Result<()> {
        self.open_index()?;
        let entries = self.entries()?;
        let parts = segments(&entries, self.prefix, self.size);
        let held = self.cap.min(self.held());
        let head = self.head_end(&parts, self.prefix + held / 4)?;
        let tail = self.tail_start(&parts, self.size - held * 3 / 8)?;
        if tail.physical <= head.physical {
            return Ok(());
        }
        let count = tail.logical - head.logical;
        let marker = drop_marker(count);

        for leftover in [NEW_LOG, NEW_INDEX] {
            let _ = fs::remove_file(self.dir.join(leftover));
        }
        let mut log = fresh(&self.dir.join(NEW_LOG))?;
        self.copy_range(&mut log, 0, head.physical)?;
        log.write_all(marker.as_bytes())?;
        self.copy_range(&mut log, tail.physical, self.size)?;

        let mut index = fresh(&self.dir.join(NEW_INDEX))?;
        let header =
            IndexHeader { log_inode: log.metadata()?.ino(), prefix_len: self.prefix, has_drops: true };
        let mut bytes = header.encode().to_vec();
        for entry in kept_entries(&entries, &parts, head, tail, count) {
            bytes.extend(entry.encode());
        }
        index.write_all(&bytes)?;

        fail_point("middle-copied");
        fs::rename(self.dir.join(NEW_INDEX), self.dir.join(INDEX_FILE))?;
        fail_point("middle-index-replaced");
        fs::rename(self.dir.join(NEW_LOG), self.dir.join(LOG_FILE))?;
        fail_point("middle-dropped");
        let before: u64 = drops_within(&parts, head.logical, tail.logical);
        self.dropped += count - before;
        self.size = head.physical + marker.len() as u64 + (self.size - tail.physical);
        self.index_len = bytes.len() as u64;
        self.file = log;
        self.inode = header.log_inode;
        self.index = Some(index);
        self.announced = None;
        Ok(())
    }

    pub(super) fn entries(&self) -> io::Result<Vec<IndexEntry>> {
        let Some(index) = &self.index else { return Ok(Vec::new()) };
        let mut bytes = vec![0; (self.index_len - HEADER_LEN) as usize];
        index.read_exact_at(&mut bytes, HEADER_LEN)?;
        Ok(bytes.chunks(IndexEntry::LEN).filter_map(IndexEntry::decode).collect())
    }

    /// The head ends where it ended before, or after a line near the target.
    fn head_end(&self, parts: &[Segment], target: u64) -> io::Result<CutPoint> {
        let cut_before = parts.iter().find(|part| matches!(part.kind, EntryKind::Drop(_)));
        if let Some(cut) = cut_before.filter(|cut| cut.physical <= target) {
            return Ok(CutPoint { physical: cut.physical, logical: cut.logical });
        }
        let from = target.saturating_sub(LINE_SLACK).max(self.prefix);
        let window = self.window(from, target)?;
        let physical =
            window.iter().rposition(|byte| *byte == b'\n').map_or(target, |at| from + at as u64 + 1);
        Ok(cut_point_at(parts, physical))
    }

    /// The tail begins after a line near the target, never inside a marker.
    fn tail_start(&self, parts: &[Segment], target: u64) -> io::Result<CutPoint> {
        let window = self.window(target, (target + LINE_SLACK).min(self.size))?;
        let physical =
            window.iter().position(|byte| *byte == b'\n').map_or(target, |at| target + at as u64 + 1);
        Ok(cut_point_at(parts, physical.min(self.size)))
    }

    fn window(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; to.saturating_sub(from) as usize];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }

    fn copy_range(&mut self, to: &mut fs::File, from: u64, until: u64) -> io::Result<()> {
        let here = self.file.stream_position()?;
        self.file.seek(SeekFrom::Start(from))?;
        let copied = io::copy(&mut (&self.file).take(until - from), to);
        self.file.seek(SeekFrom::Start(here))?;
        if copied? == until - from { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Returns the logical offset of a physical one; inside a marker, the place after it.
fn cut_point_at(parts: &[Segment], physical: u64) -> CutPoint {
    let Some(part) = parts.iter().rev().find(|part| part.physical <= physical) else {
        return CutPoint { physical, logical: 0 };
    };
    match part.kind {
        EntryKind::Drop(count) => CutPoint {
            physical: (part.physical + drop_marker(count).len() as u64).max(physical),
            logical: part.logical + count,
        },
        EntryKind::Stdout(_) | EntryKind::Stderr(_) => {
            CutPoint { physical, logical: part.logical + (physical - part.physical).min(part.len) }
        }
    }
}

fn drops_within(parts: &[Segment], from: u64, until: u64) -> u64 {
    let inside = |part: &&Segment| part.logical >= from && part.logical < until;
    parts
        .iter()
        .filter(inside)
        .filter(|part| matches!(part.kind, EntryKind::Drop(_)))
        .map(|part| part.len)
        .sum()
}

fn kept_entries(
    entries: &[IndexEntry],
    parts: &[Segment],
    head: CutPoint,
    tail: CutPoint,
    count: u64,
) -> Vec<IndexEntry> {
    let is_stream = |entry: &&IndexEntry| !matches!(entry.kind, EntryKind::Drop(_));
    let mut kept: Vec<_> = entries.iter().filter(|entry| entry.offset < head.logical).copied().collect();
    kept.push(IndexEntry { offset: head.logical, kind: EntryKind::Drop(count) });
    let cut = parts
        .iter()
        .rev()
        .find(|part| part.logical <= tail.logical && !matches!(part.kind, EntryKind::Drop(_)));
    if let Some(cut) = cut {
        kept.push(IndexEntry { offset: tail.logical, kind: cut.kind });
    }
    kept.extend(entries.iter().filter(|entry| entry.offset > tail.logical).copied());
    // Of two entries at one offset the later one counts.
    kept.dedup_by(|later, earlier| {
        let same = later.offset == earlier.offset && is_stream(&&*later) && is_stream(&&*earlier);
        if same {
            *earlier = *later;
        }
        same
    });
    kept
}
