//! The output index: which stream printed each part of the log, when, and where bytes were dropped.
//!
//! `output.idx` is a header and 16-byte entries in order of logical offset. An entry is written *before* the bytes it
//! announces, and ends where the next one begins. So the streams are attributed exactly even if a supervisor is killed
//! between the two writes.
//!
//! Logical offsets count every byte the task printed. Where bytes were dropped, the log has a [`drop_marker`] instead,
//! so physical offsets after it differ:
//!
//! ```text
//! log      [prefix][head bytes............][marker][tail bytes......]
//! logical          0 .............. 1000    (drop)  9000 ......... 9800
//! ```

/// The version in the header.
pub const INDEX_VERSION: u32 = 1;
/// Length of the header in bytes.
pub const HEADER_LEN: u64 = 32;
const MAGIC: &[u8; 4] = b"MWIX";
const ENTRY_LEN: usize = 16;

/// The beginning of `output.idx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexHeader {
    /// Inode of the log it describes, because the two files are not replaced at the same moment.
    pub log_inode: u64,
    /// Bytes at the beginning of the log that are not output.
    pub prefix_len: u64,
    /// Whether any byte was dropped; if not, logical and physical offsets differ only by the prefix.
    pub has_drops: bool,
}

impl IndexHeader {
    /// Returns the bytes of the header.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_LEN as usize] {
        let mut bytes = [0; HEADER_LEN as usize];
        bytes[..4].copy_from_slice(MAGIC);
        bytes[4..8].copy_from_slice(&INDEX_VERSION.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.log_inode.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.prefix_len.to_le_bytes());
        bytes[24] = u8::from(self.has_drops);
        bytes
    }

    /// Parses a header; `None` if it is incomplete, not ours, or of a newer version.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let version = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
        if bytes.get(..4)? != MAGIC || version != INDEX_VERSION {
            return None;
        }
        Some(Self {
            log_inode: word(bytes, 8)?,
            prefix_len: word(bytes, 16)?,
            has_drops: *bytes.get(24)? != 0,
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// What an entry announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Bytes of stdout (or of the terminal) follow; with the time in microseconds since the epoch.
    Stdout(u64),
    /// Bytes of stderr follow; with the time.
    Stderr(u64),
    /// This many bytes are missing here.
    Drop(u64),
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Logical offset at which it begins; 62 bits.
    pub offset: u64,
    /// What it announces.
    pub kind: EntryKind,
}

impl IndexEntry {
    /// Length of an entry in bytes.
    pub const LEN: usize = ENTRY_LEN;

    /// Returns the bytes of the entry.
    #[must_use]
    pub fn encode(&self) -> [u8; ENTRY_LEN] {
        let (tag, value) = match self.kind {
            EntryKind::Stdout(time) => (0_u64, time),
            EntryKind::Stderr(time) => (1, time),
            EntryKind::Drop(count) => (2, count),
        };
        let mut bytes = [0; ENTRY_LEN];
        bytes[..8].copy_from_slice(&(tag << 62 | self.offset).to_le_bytes());
        bytes[8..].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    /// Parses an entry; `None` if it is incomplete or of an unknown kind.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (first, value) = (word(bytes, 0)?, word(bytes, 8)?);
        let kind = match first >> 62 {
            0 => EntryKind::Stdout(value),
            1 => EntryKind::Stderr(value),
            2 => EntryKind::Drop(value),
            _ => return None,
        };
        Some(Self { offset: first & (u64::MAX >> 2), kind })
    }
}

/// A part of the log from one stream, or a gap in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Logical offset of its first byte.
    pub logical: u64,
    /// Number of logical bytes.
    pub len: u64,
    /// Physical offset in the log, including the prefix; for a gap, that of the marker.
    pub physical: u64,
    /// What it is.
    pub kind: EntryKind,
}

/// Converts entries into segments, given the physical size of the log.
///
/// The last segment ends where the log ends. Entries beyond the end of a truncated log become empty segments, so that
/// a reader never reads past the file.
#[must_use]
pub fn segments(entries: &[IndexEntry], prefix_len: u64, log_size: u64) -> Vec<Segment> {
    let mut physical = prefix_len;
    let mut result = Vec::with_capacity(entries.len());
    for (position, entry) in entries.iter().enumerate() {
        let next = entries.get(position + 1).map(|next| next.offset);
        let (len, occupied) = match entry.kind {
            EntryKind::Drop(count) => {
                (count, (drop_marker(count).len() as u64).min(log_size.saturating_sub(physical)))
            }
            EntryKind::Stdout(_) | EntryKind::Stderr(_) => {
                let left = log_size.saturating_sub(physical);
                let len = next.map_or(left, |next| next.saturating_sub(entry.offset)).min(left);
                (len, len)
            }
        };
        result.push(Segment { logical: entry.offset, len, physical, kind: entry.kind });
        physical += occupied;
    }
    result
}

/// Returns the text in the log that replaces `count` dropped bytes, for people and programs.
#[must_use]
pub fn drop_marker(count: u64) -> String {
    format!("\n…({count} bytes dropped from middle)…\n<output-truncated bytes-dropped=\"{count}\"/>\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn incomplete_headers_and_other_versions_are_refused() {
        let header = IndexHeader { log_inode: 5, prefix_len: 3, has_drops: true };
        assert_eq!(IndexHeader::decode(&header.encode()), Some(header));
        let mut newer = header.encode();
        newer[4] = 9;
        assert_eq!(IndexHeader::decode(&newer), None);
        assert_eq!(IndexHeader::decode(&header.encode()[..20]), None);
    }

    #[test]
    fn dropped_bytes_shift_the_physical_offsets_after_them() {
        let marker = drop_marker(8000).len() as u64;
        let entries = [
            IndexEntry { offset: 0, kind: EntryKind::Stdout(1) },
            IndexEntry { offset: 1000, kind: EntryKind::Drop(8000) },
            IndexEntry { offset: 9000, kind: EntryKind::Stderr(2) },
        ];
        let found = segments(&entries, 10, 10 + 1000 + marker + 800);
        assert_eq!(found[0], Segment { logical: 0, len: 1000, physical: 10, kind: EntryKind::Stdout(1) });
        assert_eq!(found[1].len, 8000);
        assert_eq!(
            found[2],
            Segment { logical: 9000, len: 800, physical: 1010 + marker, kind: EntryKind::Stderr(2) }
        );
    }

    #[test]
    fn segments_end_where_a_truncated_log_ends() {
        let entries = [
            IndexEntry { offset: 0, kind: EntryKind::Stdout(1) },
            IndexEntry { offset: 500, kind: EntryKind::Stderr(1) },
        ];
        let found = segments(&entries, 0, 100);
        assert_eq!((found[0].len, found[1].len), (100, 0));
    }

    proptest! {
        #[test]
        fn any_entry_survives_encoding(offset in 0_u64..1 << 61, value: u64, tag in 0_u8..3) {
            let kind = match tag { 0 => EntryKind::Stdout(value), 1 => EntryKind::Stderr(value), _ => EntryKind::Drop(value) };
            let entry = IndexEntry { offset, kind };
            prop_assert_eq!(IndexEntry::decode(&entry.encode()), Some(entry));
        }

        #[test]
        fn decoding_arbitrary_bytes_does_not_panic(bytes: Vec<u8>, size: u64) {
            let _ = IndexHeader::decode(&bytes);
            let entries: Vec<_> = bytes.chunks(16).filter_map(IndexEntry::decode).collect();
            let _ = segments(&entries, 0, size >> 8);
        }
    }
}
