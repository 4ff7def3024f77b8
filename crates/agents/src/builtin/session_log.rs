//! Stores each session on disk as an append-only file of JSON lines.

use std::io;
use std::path::{Path, PathBuf};

use meanwhile::engine::{AGENT_SESSIONS_DIR, Clock, SystemClock};
use serde_json::{Value, json};

use super::conversation::{Conversation, Record};
use crate::line_file::{LineFile, LineFileError, is_name, random_name};

/// The version of the format. Files of other versions are never changed.
const VERSION: u64 = 1;
const FILE: &str = "transcript.jsonl";

/// The reason why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionLogError {
    #[error("no session {0:?}; start a new one")]
    NotFound(String),
    #[error("the session {0:?} is in use by another process; close it there first")]
    InUse(String),
    #[error("cannot read line {line} of {path}: {why}; start a new session, or repair the file")]
    Damaged { path: PathBuf, line: usize, why: String },
    #[error("{path} cannot be used: {error}")]
    Io { path: PathBuf, error: io::Error },
}

impl SessionLogError {
    fn of(error: LineFileError, id: &str, path: &Path) -> Self {
        match error {
            LineFileError::NotFound => Self::NotFound(id.to_owned()),
            LineFileError::InUse => Self::InUse(id.to_owned()),
            LineFileError::Io(error) => Self::Io { path: path.to_owned(), error },
        }
    }
}

/// The file of one session.
pub(super) struct SessionLog {
    file: LineFile,
    path: PathBuf,
}

/// A session that was read from disk.
pub(super) struct LoadedSession {
    pub(super) store: SessionLog,
    pub(super) conversation: Conversation,
    /// The size of an incomplete last line that was removed.
    pub(super) torn: usize,
}

fn file_of(home: &Path, id: &str) -> PathBuf {
    home.join(AGENT_SESSIONS_DIR).join(id).join(FILE)
}

impl SessionLog {
    /// Creates the file of a new session.
    pub(super) fn create(home: &Path, id: &str, cwd: &str) -> Result<Self, SessionLogError> {
        let path = file_of(home, id);
        let file = LineFile::create(&path).map_err(|error| SessionLogError::of(error, id, &path))?;
        let mut store = Self { file, path };
        store.append(&Record::Begun { id: id.to_owned(), cwd: cwd.to_owned() })?;
        Ok(store)
    }

    /// Opens the file of a session and reads it.
    pub(super) fn open(home: &Path, id: &str) -> Result<LoadedSession, SessionLogError> {
        if !is_name(id) {
            return Err(SessionLogError::NotFound(id.to_owned()));
        }
        let path = file_of(home, id);
        let (file, contents) =
            LineFile::open(&path).map_err(|error| SessionLogError::of(error, id, &path))?;
        let mut conversation = Conversation::default();
        for (line, text) in contents.lines() {
            let record =
                read(text).map_err(|why| SessionLogError::Damaged { path: path.clone(), line, why })?;
            conversation.take(record);
        }
        Ok(LoadedSession { store: Self { file, path }, conversation, torn: contents.torn })
    }

    /// Appends a record. It is on disk when this returns. If this fails, no part of it is on disk.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), SessionLogError> {
        let appended = line(record).and_then(|line| self.file.append_durably(&line));
        appended.map_err(|error| SessionLogError::Io { path: self.path.clone(), error })
    }
}

fn line(record: &Record) -> io::Result<String> {
    let mut line = json!({"v": VERSION, "at": SystemClock.now().to_string()});
    if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), serde_json::to_value(record)?) {
        line.extend(fields);
    }
    Ok(format!("{line}\n"))
}

fn read(line: &[u8]) -> Result<Record, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    match value["v"].as_u64() {
        Some(VERSION) => serde_json::from_value(value).map_err(|error| error.to_string()),
        other => Err(format!(
            "it has version {}, this program reads {VERSION}",
            other.map_or("?".to_owned(), |v| v.to_string())
        )),
    }
}

/// Returns an id for a new session.
pub(super) fn new_id() -> io::Result<String> {
    random_name::<12>()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use super::*;

    fn user(text: &str) -> Record {
        Record::User { text: text.to_owned(), notices: Vec::new() }
    }

    #[test]
    fn records_are_read_back_and_a_torn_line_is_dropped_and_counted() {
        let home = tempfile::tempdir().unwrap();
        let mut store = SessionLog::create(home.path(), "a1", "/p").unwrap();
        store.append(&user("one")).unwrap();
        store.append(&user("two")).unwrap();
        let path = store.path.clone();
        drop(store);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"v\":1,\"type\":\"us").unwrap();
        let mut found = SessionLog::open(home.path(), "a1").unwrap();
        assert_eq!((found.conversation.records().len(), found.torn), (2, 17));
        found.store.append(&user("three")).unwrap();
        drop(found);
        let found = SessionLog::open(home.path(), "a1").unwrap();
        assert_eq!((found.conversation.records().last(), found.torn), (Some(&user("three")), 0));
    }

    #[test]
    fn a_partial_line_of_a_failed_write_does_not_damage_the_next_record() {
        let home = tempfile::tempdir().unwrap();
        let mut store = SessionLog::create(home.path(), "a1", "/p").unwrap();
        // A full disk may leave half a line.
        OpenOptions::new().append(true).open(&store.path).unwrap().write_all(b"{\"v\":1,\"ty").unwrap();
        store.append(&user("after")).unwrap();
        drop(store);
        let found = SessionLog::open(home.path(), "a1").unwrap();
        assert_eq!((found.conversation.records(), found.torn), (&[user("after")][..], 0));
    }

    #[test]
    fn a_session_can_be_open_only_once() {
        let home = tempfile::tempdir().unwrap();
        let store = SessionLog::create(home.path(), "a1", "/p").unwrap();
        assert!(matches!(SessionLog::open(home.path(), "a1"), Err(SessionLogError::InUse(_))));
        drop(store);
        assert!(SessionLog::open(home.path(), "a1").is_ok());
    }

    #[test]
    fn invalid_names_are_not_found_and_unreadable_sessions_are_damaged() {
        let home = tempfile::tempdir().unwrap();
        for id in ["", "../x", "a/b", "nothing", &"a".repeat(99)] {
            assert!(matches!(SessionLog::open(home.path(), id), Err(SessionLogError::NotFound(_))), "{id}");
        }
        for (id, text) in [("a1", "{\"v\":2}\n"), ("a2", "garbage\n"), ("a3", "{\"v\":1,\"type\":\"x\"}\n")] {
            drop(SessionLog::create(home.path(), id, "/p").unwrap());
            fs::write(home.path().join(AGENT_SESSIONS_DIR).join(id).join(FILE), text).unwrap();
            assert!(
                matches!(SessionLog::open(home.path(), id), Err(SessionLogError::Damaged { line: 1, .. })),
                "{id}"
            );
        }
    }

    #[test]
    fn a_new_session_id_is_a_valid_name() {
        let home = tempfile::tempdir().unwrap();
        let id = new_id().unwrap();
        drop(SessionLog::create(home.path(), &id, "/p").unwrap());
        assert!(SessionLog::open(home.path(), &id).is_ok());
    }
}
