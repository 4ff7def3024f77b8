//! The output of a task, written to the pipes of its supervisor. A driver that follows another one begins with the byte
//! at which the log ends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use mw_model::Stream;
use mw_model::wire::{
    CONTROL_SOCKET, CONTROL_VERSION, ControlReply, ControlRequest, EntryKind, HEADER_LEN, INDEX_FILE,
    IndexEntry, IndexHeader, Operation,
};

use rustix::fs::FileType;

use crate::error::{PlaceError, Result};

/// How much of each stream was written: two numbers, and the stream that is written next.
const COUNTERS_FILE: &str = "place.counters";
/// The pause between two questions to the supervisor.
const PAUSE: Duration = Duration::from_millis(10);

/// The output of a run.
pub(crate) struct Output {
    counters: File,
    /// Bytes that were written, of stdout and stderr.
    written: [u64; 2],
}

impl Output {
    /// Begins with the first byte.
    pub(crate) fn new() -> Result<Self> {
        let failed = PlaceError::files("cannot write the counters of the output");
        let mut options = OpenOptions::new();
        let counters = options.create(true).write(true).truncate(true).mode(0o600).open(COUNTERS_FILE);
        Ok(Self { counters: counters.map_err(failed)?, written: [0, 0] })
    }

    /// Continues where the log ends. Waits until a supervisor has taken all that an earlier driver has written.
    pub(crate) fn resume() -> Result<Self> {
        let total = settled_total();
        let counted = fs::read(COUNTERS_FILE).unwrap_or_default();
        let index = fs::read(INDEX_FILE).unwrap_or_default();
        let written = resumed(&index, &counted, total);
        let mut output = Self::new()?;
        output.written = written;
        Ok(output)
    }

    /// Waits until a supervisor has taken everything that was written.
    pub(crate) fn settle(&self) {
        while !(is_taken(rustix::stdio::stdout()) && is_taken(rustix::stdio::stderr())) {
            thread::sleep(PAUSE);
        }
    }

    /// Returns how many bytes of a stream were written.
    pub(crate) const fn offset(&self, stream: Stream) -> u64 {
        self.written[stream as usize]
    }

    /// Writes bytes of a stream.
    pub(crate) fn write(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        let [stdout, stderr] = self.written;
        let next = stream as u64;
        let counters = [stdout, stderr, next].map(u64::to_le_bytes).concat();
        // On a full disk the index alone has to suffice.
        let _ = self.counters.write_all_at(&counters, 0);
        let failed = PlaceError::files("cannot write the output");
        match stream {
            Stream::Stdout => write_all(rustix::stdio::stdout(), bytes),
            Stream::Stderr => write_all(rustix::stdio::stderr(), bytes),
        }
        .map_err(failed)?;
        self.written[stream as usize] += bytes.len() as u64;
        Ok(())
    }
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns whether a pipe is empty. What is no pipe needs no reader.
fn is_taken(to: BorrowedFd<'_>) -> bool {
    rustix::io::ioctl_fionread(to).is_ok_and(|left| left == 0)
        || !rustix::fs::fstat(to).is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Fifo)
}

/// Returns how many bytes the log has, once the pipes are empty. Without a supervisor there is no answer, so this waits
/// for the next one.
fn settled_total() -> u64 {
    loop {
        let is_empty = |pipe: BorrowedFd<'_>| rustix::io::ioctl_fionread(pipe).is_ok_and(|left| left == 0);
        let are_empty =
            || is_empty(rustix::stdio::stdout().as_fd()) && is_empty(rustix::stdio::stderr().as_fd());
        if are_empty()
            && let Ok(Some(total)) = total_of_log()
        {
            return total;
        }
        thread::sleep(PAUSE);
    }
}

/// Asks the supervisor for the size of the log.
fn total_of_log() -> io::Result<Option<u64>> {
    let mut connection = UnixStream::connect(CONTROL_SOCKET)?;
    connection.set_read_timeout(Some(Duration::from_secs(5)))?;
    let request = ControlRequest { v: CONTROL_VERSION, operation: Operation::Status };
    let mut line = serde_json::to_vec(&request)?;
    line.push(b'\n');
    connection.write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(connection).read_line(&mut answer)?;
    Ok(match serde_json::from_str(&answer)? {
        ControlReply::Status { output_bytes, .. } => Some(output_bytes),
        _ => None,
    })
}

/// Returns how many bytes of each stream are in a log of `total` bytes.
fn resumed(index: &[u8], counters: &[u8], total: u64) -> [u64; 2] {
    let header = IndexHeader::decode(index);
    if !header.is_some_and(|header| header.has_drops) {
        return by_index(index.get(HEADER_LEN as usize..).unwrap_or_default(), total);
    }
    // Gaps belong to no stream. All that was written after the counters belongs to the stream that they name.
    let number = |at: usize| {
        let bytes = counters.get(at * 8..at * 8 + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let (stdout, stderr) = (number(0).unwrap_or(0), number(1).unwrap_or(0));
    match number(2) {
        Some(1) => [stdout.min(total), total.saturating_sub(stdout)],
        _ => [total.saturating_sub(stderr), stderr.min(total)],
    }
}

fn by_index(entries: &[u8], total: u64) -> [u64; 2] {
    let entries: Vec<_> = entries.chunks(IndexEntry::LEN).map_while(IndexEntry::decode).collect();
    if entries.is_empty() {
        return [total, 0];
    }
    let mut found = [0, 0];
    for (position, entry) in entries.iter().enumerate() {
        let end = entries.get(position + 1).map_or(total, |next| next.offset.min(total));
        let len = end.saturating_sub(entry.offset);
        match entry.kind {
            EntryKind::Stdout(_) => found[0] += len,
            EntryKind::Stderr(_) => found[1] += len,
            EntryKind::Drop(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(has_drops: bool, entries: &[(u64, EntryKind)]) -> Vec<u8> {
        let header = IndexHeader { has_drops, ..IndexHeader::default() };
        let entries =
            entries.iter().flat_map(|(offset, kind)| IndexEntry { offset: *offset, kind: *kind }.encode());
        header.encode().into_iter().chain(entries).collect()
    }

    #[test]
    fn output_is_taken_once_a_pipe_is_empty_and_a_file_needs_no_reader() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        assert!(is_taken(writer.as_fd()));
        writer.write_all(b"ab").unwrap();
        assert!(!is_taken(writer.as_fd()));
        io::Read::read_exact(&mut reader, &mut [0; 2]).unwrap();
        assert!(is_taken(writer.as_fd()));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"ab").unwrap();
        assert!(is_taken(file.as_fd()));
        assert!(is_taken(File::open("/dev/null").unwrap().as_fd()));
    }

    #[test]
    fn the_index_says_how_much_of_each_stream_is_in_the_log() {
        let entries = [(0, EntryKind::Stdout(1)), (10, EntryKind::Stderr(1)), (15, EntryKind::Stdout(1))];
        assert_eq!(resumed(&index(false, &entries), &[], 40), [35, 5]);
        assert_eq!(
            resumed(&index(false, &entries), &[], 12),
            [10, 2],
            "the last entry was announced too early"
        );
        assert_eq!(resumed(&[], &[], 7), [7, 0], "a log without an index is all stdout");
    }

    #[test]
    fn after_a_gap_the_counters_say_it() {
        let counters = |stream: u64| [100_u64, 50, stream].map(u64::to_le_bytes).concat();
        let index = index(true, &[(0, EntryKind::Stdout(1)), (10, EntryKind::Drop(90))]);
        assert_eq!(resumed(&index, &counters(0), 170), [120, 50]);
        assert_eq!(resumed(&index, &counters(1), 170), [100, 70]);
    }
}
