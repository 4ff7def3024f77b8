//! Files that are whole or absent: written beside their place and renamed into it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;

use mw_model::wire::{
    ExitRecord, JOURNAL_VERSION, JournalEntry, JournalLine, METADATA_FILE, Metadata, RESULT_FILE, SPAN_FILE,
};

use crate::clock;

const RESERVED_RESULT: &str = ".result";
const RESERVE_BYTES: usize = 8192;

/// Sets disk space aside for the exit record, so that it can be written when the disk is full.
pub(crate) fn reserve_result() {
    // Best effort: without it the record is retried until there is room.
    let _ = private(OpenOptions::new().create(true).write(true).truncate(true), RESERVED_RESULT)
        .and_then(|mut file| file.write_all(&[b' '; RESERVE_BYTES]));
}

/// Writes the exit record. Durable against our own death when it returns.
pub(crate) fn write_result(record: &ExitRecord) -> io::Result<()> {
    let mut text = serde_json::to_vec(record)?;
    text.push(b'\n');
    let mut file = private(OpenOptions::new().create(true).write(true), RESERVED_RESULT)?;
    file.rewind()?;
    file.write_all(&text)?;
    file.set_len(text.len() as u64)?;
    fs::rename(RESERVED_RESULT, RESULT_FILE)
}

/// Reads the exit record of a run, if it was written.
pub(crate) fn read_result(run: u32) -> Option<ExitRecord> {
    let record: ExitRecord = serde_json::from_slice(&fs::read(RESULT_FILE).ok()?).ok()?;
    (record.run == run).then_some(record)
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

/// Appends what was seen to the journal. A full disk loses the line, not the task.
pub(crate) fn journal(file: &mut File, run: u32, entry: JournalEntry) {
    let _ = try_journal(file, run, entry);
}

/// The same for those who want to know whether the line is there.
pub(crate) fn try_journal(file: &mut File, run: u32, entry: JournalEntry) -> io::Result<()> {
    let line = JournalLine { v: JOURNAL_VERSION, at: clock::wall(), run, entry };
    let mut text = serde_json::to_vec(&line)?;
    text.push(b'\n');
    file.write_all(&text)
}

/// Reads the journal lines of a run.
pub(crate) fn read_journal(run: u32) -> Vec<JournalLine> {
    let text = fs::read_to_string(mw_model::wire::JOURNAL_FILE).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<JournalLine>(line).ok())
        .filter(|line| line.run == run)
        .collect()
}

pub(crate) fn private(options: &mut OpenOptions, name: &str) -> io::Result<File> {
    options.mode(0o600).open(name)
}

/// The last line with any text, safe to show.
pub(crate) fn last_line(tail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(tail).into_owned();
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(200).collect())
}
