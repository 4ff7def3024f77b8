//! The exit record, the journal and the views. Files are written under another name and renamed, so that they are
//! complete or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use mw_model::wire::{
    ExitRecord, JOURNAL_FILE, JOURNAL_VERSION, JournalEntry, JournalLine, METADATA_FILE, Metadata,
    RESULT_FILE, SPAN_FILE,
};

use crate::boot::descriptors::with_enough;
use crate::clock;

const RESERVED_RESULT: &str = ".result";
const RESERVE_BYTES: usize = 8192;

/// Disk space for the exit record, so that it can be written when the disk is full. It is reserved before any output is
/// taken, and after a few milliseconds in any case: most of the shortest tasks need none.
#[derive(Default)]
pub(crate) struct ReservedSpace {
    is_reserved: bool,
}

impl ReservedSpace {
    /// Reserves it, if that was not done yet.
    pub(crate) fn ensure(&mut self) {
        if !self.is_reserved {
            self.is_reserved = true;
            // Best effort: without it the record is retried until there is room.
            let _ = private(OpenOptions::new().create(true).write(true).truncate(true), RESERVED_RESULT)
                .and_then(|mut file| file.write_all(&[b' '; RESERVE_BYTES]));
        }
    }
}

/// A written exit record. The rest of the reserved space may follow it. It is not held open: where few files may be, a client
/// that connects needs the descriptor.
pub(crate) struct Written {
    len: u64,
}

impl Written {
    /// Removes the reserved space. It is not part of the record, so nothing waits for this.
    pub(crate) fn trim(self, space: &ReservedSpace) {
        if space.is_reserved {
            let _ = OpenOptions::new().write(true).open(RESULT_FILE).and_then(|file| file.set_len(self.len));
        }
    }
}

/// Writes the exit record. It survives a kill of this process as soon as this returns.
pub(crate) fn write_result(record: &ExitRecord) -> io::Result<Written> {
    let mut text = serde_json::to_vec(record)?;
    text.push(b'\n');
    let mut file = with_enough(|| private(OpenOptions::new().create(true).write(true), RESERVED_RESULT))?;
    file.write_all(&text)?;
    fs::rename(RESERVED_RESULT, RESULT_FILE)?;
    Ok(Written { len: text.len() as u64 })
}

/// Reads the exit record of a run, if it was written.
pub(crate) fn read_result(run: u32) -> io::Result<Option<ExitRecord>> {
    let text = read_if_there(RESULT_FILE)?;
    // The parser's error for an empty text would ask the processor for its features, which is slow in a virtual machine.
    let record = if text.is_empty() { None } else { serde_json::from_slice::<ExitRecord>(&text).ok() };
    Ok(record.filter(|record| record.run == run))
}

/// Reads a file; returns nothing if it does not exist. A file that cannot be read is an error.
fn read_if_there(name: &str) -> io::Result<Vec<u8>> {
    match fs::read(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// Retries a read for a few seconds, for callers that cannot fail. After that, what cannot be read counts as absent.
pub(crate) fn retry<T: Default>(look: impl Fn() -> io::Result<T>) -> T {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        match with_enough(&look) {
            Ok(found) => return found,
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    T::default()
}

/// Writes the views that co-cli's tools read. Best effort.
pub(crate) fn write_metadata(metadata: &Metadata) {
    let text = serde_json::to_vec_pretty(metadata).map_err(io::Error::from);
    let _ = text.and_then(|text| replace(".metadata", METADATA_FILE, &text));
    if let Some(span) = metadata.span_id {
        let _ = replace(".span", SPAN_FILE, format!("{span}\n").as_bytes());
    }
}

fn replace(beside: &str, name: &str, text: &[u8]) -> io::Result<()> {
    private(OpenOptions::new().create(true).write(true).truncate(true), beside)?.write_all(text)?;
    fs::rename(beside, name)
}

/// Appends an entry to the journal. On a full disk the line is lost, and the task continues.
pub(crate) fn journal(file: &mut File, run: u32, entry: JournalEntry) {
    let _ = try_journal(file, run, entry);
}

/// Appends an entry to the journal; an error if that failed.
pub(crate) fn try_journal(file: &mut File, run: u32, entry: JournalEntry) -> io::Result<()> {
    let line = JournalLine { v: JOURNAL_VERSION, at: clock::wall(), run, entry };
    let mut text = serde_json::to_vec(&line)?;
    text.push(b'\n');
    append_line(file, &*file, &text)
}

/// Appends a complete line or nothing: after half a line the next one would be unreadable, too.
fn append_line(file: &File, mut writer: impl Write, line: &[u8]) -> io::Result<()> {
    let mut left = line;
    while !left.is_empty() {
        match writer.write(left) {
            Ok(written) if written > 0 => left = &left[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            failed => {
                let half = (line.len() - left.len()) as u64;
                if half > 0 {
                    file.set_len(file.metadata()?.len().saturating_sub(half))?;
                }
                return Err(failed.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into()));
            }
        }
    }
    Ok(())
}

/// Ends an incomplete line of a predecessor that was killed.
pub(crate) fn end_torn_line(file: &File) {
    if fs::read(JOURNAL_FILE).is_ok_and(|text| text.last().is_some_and(|last| *last != b'\n')) {
        let _ = append_line(file, file, b"\n");
    }
}

/// Reads the journal lines of a run.
pub(crate) fn read_journal(run: u32) -> io::Result<Vec<JournalLine>> {
    let text = read_if_there(JOURNAL_FILE)?;
    Ok(lines(&text).filter(|line| line.run == run).collect())
}

/// Skips lines that cannot be parsed, because their writer was killed or the disk was full.
fn lines(text: &[u8]) -> impl Iterator<Item = JournalLine> {
    // The last line ends with a line break, so the last part is empty: an error for nothing is slow.
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

pub(crate) fn private(options: &mut OpenOptions, name: &str) -> io::Result<File> {
    options.mode(0o600).open(name)
}

/// Returns the last line that is not blank, safe to show.
pub(crate) fn last_line(tail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(tail).into_owned();
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that is full after a number of bytes.
    struct Full<'a>(&'a File, usize);

    impl Write for Full<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let written = self.0.write(&bytes[..self.1.min(bytes.len())])?;
            self.1 -= written;
            Ok(written)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_invalid_journal_line_does_not_hide_the_others() {
        let line = br#"{"v":1,"at":"2026-01-02T03:04:05.678Z","run":1,"entry":"tree_empty"}"#;
        let text = [line, b"{\"prompt\":\"\xe2\x82".as_slice(), b"", line].join(&b'\n');
        assert_eq!(lines(&text).count(), 2);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn a_line_that_does_not_fit_leaves_no_partial_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        append_line(&file, &file, b"whole\n").unwrap();
        for room in 0..12 {
            assert!(append_line(&file, Full(&file, room), b"does not fit\n").is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), "whole\n");
        }
        append_line(&file, &file, b"next\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\nnext\n");
    }
}
