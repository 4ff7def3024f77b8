//! Tests of the log against a model: for any interleaving and cap, a reader gets the bytes that were written.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mw_model::Stream;
use mw_model::wire::{
    EntryKind, HEADER_LEN, INDEX_FILE, IndexEntry, IndexHeader, LOG_FILE, Segment, drop_marker, segments,
};
use proptest::prelude::*;

use super::log_file::*;
use crate::sys::Board;

/// Reads log and index like a reader.
fn read_back(dir: &Path) -> (Vec<u8>, Vec<Segment>) {
    let log = fs::read(dir.join(LOG_FILE)).unwrap();
    let Ok(index) = fs::read(dir.join(INDEX_FILE)) else {
        let all = [IndexEntry { offset: 0, kind: EntryKind::Stdout(0) }];
        let parts = segments(&all, 0, log.len() as u64);
        return (log, parts);
    };
    let header = IndexHeader::decode(&index).unwrap();
    let entries: Vec<_> =
        index[HEADER_LEN as usize..].chunks(IndexEntry::LEN).filter_map(IndexEntry::decode).collect();
    let parts = segments(&entries, header.prefix_len, log.len() as u64);
    (log, parts)
}

/// Checks that every kept byte has the value, the offset and the stream with which it was written.
fn assert_log_matches(dir: &Path, written: &[(Stream, u8)], dropped: u64) {
    let (log, parts) = read_back(dir);
    let mut missing = 0;
    let mut position = 0;
    for part in &parts {
        assert_eq!(part.logical, position, "segments follow each other");
        position += part.len;
        let stream = match part.kind {
            EntryKind::Stdout(_) => Stream::Stdout,
            EntryKind::Stderr(_) => Stream::Stderr,
            EntryKind::Drop(count) => {
                missing += count;
                let marker = drop_marker(count);
                let found = &log[part.physical as usize..][..marker.len()];
                assert_eq!(found, marker.as_bytes(), "the marker is where bytes are missing");
                continue;
            }
        };
        let bytes = &log[part.physical as usize..][..part.len as usize];
        let expected = &written[part.logical as usize..][..part.len as usize];
        assert!(bytes.iter().zip(expected).all(|(byte, (from, value))| byte == value && *from == stream));
    }
    assert_eq!(position, written.len() as u64, "the log ends where the output ends");
    assert_eq!(missing, dropped, "the dropped bytes are counted exactly");
}

struct Writer {
    log: Log,
    pipes: [(OwnedFd, File); 2],
    written: Vec<(Stream, u8)>,
    time: u64,
}

impl Writer {
    fn new(dir: &Path, cap: u64, header: Option<&str>) -> Self {
        let mut log = Log::create(dir, Board::new().unwrap()).unwrap();
        log.set_cap(cap);
        if let Some(header) = header {
            log.write_header(header).unwrap();
        }
        let pipe = || {
            let (read, write) = rustix::pipe::pipe().unwrap();
            (read, File::from(write))
        };
        Self { log, pipes: [pipe(), pipe()], written: Vec::new(), time: 0 }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        self.time += 1;
        for part in bytes.chunks(4096) {
            let (read, write) = &mut self.pipes[stream as usize];
            write.write_all(part).unwrap();
            let mut left = part.len() as u64;
            while left > 0 {
                match self.log.append_from(stream, &*read, self.time) {
                    Moved::Bytes(0) => panic!("{left} bytes are never taken from the pipe"),
                    Moved::Bytes(count) => left -= count,
                    Moved::Nothing => panic!("the pipe holds {left} bytes"),
                }
            }
        }
        self.written.extend(bytes.iter().map(|byte| (stream, *byte)));
    }
}

impl Writer {
    /// Counts bytes as if the disk had been full.
    fn drop_some(&mut self, count: u64) {
        self.log.lose(count);
        self.written.extend((0..count).map(|_| (Stream::Stdout, b'x')));
    }
}

fn chunk() -> impl Strategy<Value = (Stream, Vec<u8>)> {
    let stream = prop_oneof![Just(Stream::Stdout), Just(Stream::Stderr)];
    let byte = prop_oneof![4 => any::<u8>(), 1 => Just(b'\n')];
    (stream, proptest::collection::vec(byte, 0..900))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn kept_bytes_match_the_written_bytes(
        chunks in proptest::collection::vec(chunk(), 0..40),
        cap in prop_oneof![Just(0_u64), 512_u64..20_000],
        header in prop_oneof![Just(String::new()), "[ -~\n]{1,1500}"],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(dir.path(), cap, Some(&*header).filter(|header| !header.is_empty()));
        for (stream, bytes) in &chunks {
            writer.write(*stream, bytes);
            let size = fs::metadata(dir.path().join(LOG_FILE)).unwrap().size();
            prop_assert!(cap == 0 || size <= cap + header.len() as u64, "{size} > {cap} and a header");
        }
        prop_assert!(fs::read(dir.path().join(LOG_FILE)).unwrap().starts_with(header.as_bytes()));
        prop_assert_eq!(writer.log.end(), writer.written.len() as u64);
        assert_log_matches(dir.path(), &writer.written, writer.log.dropped());
    }

    #[test]
    fn a_successor_continues_the_log_where_it_ends(
        before in proptest::collection::vec(chunk(), 0..20),
        after in proptest::collection::vec(chunk(), 0..20),
        cap in prop_oneof![Just(0_u64), 1024_u64..10_000],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(dir.path(), cap, None);
        for (stream, bytes) in &before {
            writer.write(*stream, bytes);
        }
        let dropped = writer.log.dropped();
        writer.log = Log::recover(dir.path(), writer.log.board).unwrap();
        writer.log.set_cap(cap);
        prop_assert_eq!((writer.log.end(), writer.log.dropped()), (writer.written.len() as u64, dropped));
        for (stream, bytes) in &after {
            writer.write(*stream, bytes);
        }
        assert_log_matches(dir.path(), &writer.written, writer.log.dropped());
    }
}

#[test]
fn a_capped_log_has_a_head_one_marker_and_a_tail() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 4096, None);
    for line in 0..2000 {
        writer.write(Stream::Stdout, format!("line {line}\n").as_bytes());
    }
    let text = fs::read_to_string(dir.path().join(LOG_FILE)).unwrap();
    assert!(text.starts_with("line 0\nline 1\n"));
    assert!(text.ends_with("line 1999\n"));
    assert_eq!(text.matches("bytes dropped from middle").count(), 1);
    assert!(text.contains(&drop_marker(writer.log.dropped())));
}

#[test]
fn a_replacement_interrupted_between_the_renames_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 2048, None);
    for line in 0..150 {
        writer.write(Stream::Stdout, format!("line {line} with some text\n").as_bytes());
    }
    // The state between the two renames: the new log is complete but not in its place.
    fs::rename(dir.path().join(LOG_FILE), dir.path().join(NEW_LOG)).unwrap();
    fs::write(dir.path().join(LOG_FILE), "the log as it was before").unwrap();
    let dropped = writer.log.dropped();
    writer.log = Log::recover(dir.path(), writer.log.board).unwrap();
    assert_eq!(writer.log.dropped(), dropped);
    assert_log_matches(dir.path(), &writer.written, dropped);
}

#[test]
fn a_truncated_log_counts_the_lost_bytes_as_dropped_and_continues() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"before the cut\n");
    fs::write(dir.path().join(LOG_FILE), "").unwrap();
    writer.write(Stream::Stdout, b"after\n");
    assert_eq!(writer.log.dropped(), 15);
    assert_log_matches(dir.path(), &writer.written, 15);
}

#[test]
fn a_removed_log_is_created_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stderr, b"before\n");
    fs::remove_file(dir.path().join(LOG_FILE)).unwrap();
    writer.write(Stream::Stdout, b"after\n");
    assert_log_matches(dir.path(), &writer.written, 7);
}

#[test]
fn a_replaced_log_is_created_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"before\n");
    fs::write(dir.path().join("edited"), "before, edited and longer than it was\n").unwrap();
    // The original file still exists under another name.
    fs::hard_link(dir.path().join(LOG_FILE), dir.path().join("kept")).unwrap();
    fs::rename(dir.path().join("edited"), dir.path().join(LOG_FILE)).unwrap();
    writer.write(Stream::Stdout, b"after\n");
    writer.write(Stream::Stderr, b"more\n");
    assert_eq!(writer.log.dropped(), 7);
    assert_log_matches(dir.path(), &writer.written, 7);
    assert_eq!(fs::read(dir.path().join("kept")).unwrap(), b"before\n");
}

#[test]
fn lines_are_counted_per_stream() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, Some("# head\n"));
    writer.write(Stream::Stdout, b"a\nb\n");
    writer.write(Stream::Stderr, b"c\n");
    writer.write(Stream::Stdout, b"d");
    assert_eq!(writer.log.count_lines(), Some((2, 1)));
}

#[test]
fn a_log_of_one_stream_needs_no_index() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"only stdout\n");
    assert!(!dir.path().join(INDEX_FILE).exists());
    writer.write(Stream::Stderr, b"now both\n");
    assert!(dir.path().join(INDEX_FILE).exists());
    assert_log_matches(dir.path(), &writer.written, 0);
}

#[test]
fn a_drop_without_a_marker_outlives_the_supervisor_and_the_guardian() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"before\n");
    writer.drop_some(1000);
    writer.drop_some(500);
    // Their shared page is lost.
    writer.log = Log::recover(dir.path(), Board::new().unwrap()).unwrap();
    assert_eq!((writer.log.end(), writer.log.dropped()), (1507, 1500));
    writer.write(Stream::Stdout, b"after\n");
    assert_log_matches(dir.path(), &writer.written, 1500);
}

#[test]
fn output_is_called_lost_if_the_only_count_of_dropped_bytes_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"before\n");
    // As on a full disk, no index can be made.
    fs::create_dir(dir.path().join(INDEX_FILE)).unwrap();
    writer.drop_some(500);
    let guardians = Log::recover(dir.path(), writer.log.board).unwrap();
    assert_eq!(
        (guardians.dropped(), guardians.has_uncounted_drops()),
        (500, false),
        "the page has the count"
    );
    let adopted = Log::recover(dir.path(), Board::new().unwrap()).unwrap();
    assert_eq!((adopted.dropped(), adopted.has_uncounted_drops()), (0, true));
    let again = Log::recover(dir.path(), Board::new().unwrap()).unwrap();
    assert!(again.has_uncounted_drops(), "nobody can count them later");
}

#[test]
fn a_noted_drop_is_still_counted_after_several_successors() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"before\n");
    writer.drop_some(500);
    for _ in 0..3 {
        let adopted = Log::recover(dir.path(), Board::new().unwrap()).unwrap();
        assert_eq!((adopted.end(), adopted.dropped()), (507, 500));
    }
    writer.log = Log::recover(dir.path(), Board::new().unwrap()).unwrap();
    writer.write(Stream::Stdout, b"after\n");
    assert_log_matches(dir.path(), &writer.written, 500);
}

#[test]
fn output_is_not_called_lost_once_the_dropped_bytes_are_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"before\n");
    fs::create_dir(dir.path().join(INDEX_FILE)).unwrap();
    writer.drop_some(500);
    fs::remove_dir(dir.path().join(INDEX_FILE)).unwrap();
    writer.log.write_pending_drop().unwrap();
    let adopted = Log::recover(dir.path(), Board::new().unwrap()).unwrap();
    assert_eq!((adopted.dropped(), adopted.has_uncounted_drops()), (500, false));
}

#[test]
fn a_drop_is_counted_once_wherever_its_marker_is_cut() {
    let marker = drop_marker(1000).len() as u64;
    for (cut, is_on_the_page) in (1..=marker).map(|cut| (cut, false)).chain([(marker, true)]) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(dir.path(), 0, None);
        writer.write(Stream::Stderr, b"before\n");
        writer.drop_some(1000);
        writer.log.write_pending_drop().unwrap();
        let log = OpenOptions::new().write(true).open(dir.path().join(LOG_FILE)).unwrap();
        log.set_len(7 + marker - cut).unwrap();
        let board = writer.log.board;
        board.pending_drop.set(if is_on_the_page { 1000 } else { 0 });
        writer.log = Log::recover(dir.path(), board).unwrap();
        assert_eq!((writer.log.end(), writer.log.dropped()), (1007, 1000), "{cut} bytes short");
        writer.write(Stream::Stdout, b"after\n");
        assert_log_matches(dir.path(), &writer.written, 1000);
    }
}

#[test]
fn consecutive_drops_are_both_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.drop_some(1);
    writer.log.write_pending_drop().unwrap();
    writer.drop_some(1);
    writer.log = Log::recover(dir.path(), writer.log.board).unwrap();
    assert_eq!((writer.log.end(), writer.log.dropped()), (2, 2));
    writer.write(Stream::Stdout, b"after\n");
    assert_log_matches(dir.path(), &writer.written, 2);
}

#[test]
fn an_empty_index_file_is_rewritten_when_the_second_stream_begins() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"only stdout\n");
    fs::write(dir.path().join(INDEX_FILE), "").unwrap();
    writer.write(Stream::Stderr, b"now both\n");
    assert_log_matches(dir.path(), &writer.written, 0);
}

#[test]
fn a_successor_continues_the_log_once_it_can_open_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut guardian = Log::create(dir.path(), Board::new().unwrap()).unwrap();
    let mut writer = Writer::new(dir.path(), 0, None);
    writer.write(Stream::Stdout, b"before\n");
    let (log, aside) = (dir.path().join(LOG_FILE), dir.path().join("aside"));
    fs::rename(&log, &aside).unwrap();
    fs::create_dir(&log).unwrap();
    guardian.succeed();
    writer.log = guardian;
    writer.write(Stream::Stdout, b"meanwhile\n");
    fs::remove_dir(&log).unwrap();
    fs::rename(&aside, &log).unwrap();
    writer.write(Stream::Stdout, b"after\n");
    assert_eq!((writer.log.end(), writer.log.dropped()), (23, 10));
    assert_log_matches(dir.path(), &writer.written, 10);
}
