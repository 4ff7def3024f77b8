//! Sessions on disk: an append-only file of JSON lines for each.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use meanwhile::engine::{Clock, SystemClock};
use serde_json::{Value, json};

use super::conversation::{Conversation, Record};

/// The version of the format; a file of another one is not touched.
const VERSION: u64 = 1;
const SESSIONS: &str = "agent-sessions";
const FILE: &str = "transcript.jsonl";
/// Longest name of a session.
const MOST_ID: usize = 64;

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoreError {
    #[error("no session {0:?}; start a new one")]
    NotFound(String),
    #[error("the session {0:?} is in use by another process; close it there first")]
    InUse(String),
    #[error("cannot read line {line} of {path}: {why}; start a new session, or repair the file")]
    Damaged { path: PathBuf, line: usize, why: String },
    #[error("{path} cannot be used: {error}")]
    Io { path: PathBuf, error: io::Error },
}

/// The file of one session, held by this process alone.
pub(super) struct Store {
    file: File,
    path: PathBuf,
    /// How many bytes of it are whole lines.
    whole: u64,
}

/// A session as it was found.
pub(super) struct Found {
    pub(super) store: Store,
    pub(super) conversation: Conversation,
    /// Bytes of a last line that was never finished and has been removed.
    pub(super) torn: u64,
}

impl Store {
    /// Makes the file of a new session.
    pub(super) fn create(home: &Path, id: &str, cwd: &str) -> Result<Self, StoreError> {
        let directory = home.join(SESSIONS).join(id);
        let path = directory.join(FILE);
        let failed = |error| StoreError::Io { path: path.clone(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
        let file = OpenOptions::new().append(true).read(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(failed)?;
        file.try_lock().map_err(|_| StoreError::InUse(id.to_owned()))?;
        let mut store = Self { file, path, whole: 0 };
        store.append(&Record::Begun { id: id.to_owned(), cwd: cwd.to_owned() })?;
        Ok(store)
    }

    /// Opens the file of a session and reads it.
    pub(super) fn open(home: &Path, id: &str) -> Result<Found, StoreError> {
        let usable =
            id.len() <= MOST_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !usable || id.is_empty() {
            return Err(StoreError::NotFound(id.to_owned()));
        }
        let path = home.join(SESSIONS).join(id).join(FILE);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::NotFound(id.to_owned()),
            _ => StoreError::Io { path: path.clone(), error },
        };
        let mut file = OpenOptions::new().append(true).read(true).open(&path).map_err(failed)?;
        file.try_lock().map_err(|_| StoreError::InUse(id.to_owned()))?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let torn = (bytes.len() - whole) as u64;
        if torn > 0 {
            file.set_len(whole as u64).map_err(failed)?;
        }
        let mut conversation = Conversation::default();
        for (at, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let record =
                read(line).map_err(|why| StoreError::Damaged { path: path.clone(), line: at + 1, why })?;
            conversation.take(record);
        }
        Ok(Found { store: Self { file, path, whole: whole as u64 }, conversation, torn })
    }

    /// Adds a record. It is on disk when this returns; when it fails, nothing of it is left there.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let appended = line(record).and_then(|line| {
            // What an earlier failure may have left would spoil this line, too.
            if self.file.metadata()?.len() != self.whole {
                self.file.set_len(self.whole)?;
            }
            self.file.write_all(line.as_bytes())?;
            self.file.sync_data()?;
            self.whole += line.len() as u64;
            Ok(())
        });
        appended.map_err(|error| {
            let _ = self.file.set_len(self.whole);
            StoreError::Io { path: self.path.clone(), error }
        })
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

/// Makes up a name for a session.
pub(super) fn new_id() -> io::Result<String> {
    let mut bytes = [0; 12];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn user(text: &str) -> Record {
        Record::User { text: text.to_owned(), notices: Vec::new() }
    }

    #[test]
    fn what_was_added_is_found_again_and_a_torn_line_is_dropped_and_counted() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::create(home.path(), "a1", "/p").unwrap();
        store.append(&user("one")).unwrap();
        store.append(&user("two")).unwrap();
        let path = store.path.clone();
        drop(store);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"v\":1,\"type\":\"us").unwrap();
        let mut found = Store::open(home.path(), "a1").unwrap();
        assert_eq!((found.conversation.records().len(), found.torn), (2, 17));
        found.store.append(&user("three")).unwrap();
        drop(found);
        let found = Store::open(home.path(), "a1").unwrap();
        assert_eq!((found.conversation.records().last(), found.torn), (Some(&user("three")), 0));
    }

    #[test]
    fn what_a_failed_write_left_does_not_spoil_the_next_line() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::create(home.path(), "a1", "/p").unwrap();
        // As a full disk leaves it: half a line.
        OpenOptions::new().append(true).open(&store.path).unwrap().write_all(b"{\"v\":1,\"ty").unwrap();
        store.append(&user("after")).unwrap();
        drop(store);
        let found = Store::open(home.path(), "a1").unwrap();
        assert_eq!((found.conversation.records(), found.torn), (&[user("after")][..], 0));
    }

    #[test]
    fn a_session_is_held_by_one_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::create(home.path(), "a1", "/p").unwrap();
        assert!(matches!(Store::open(home.path(), "a1"), Err(StoreError::InUse(_))));
        drop(store);
        assert!(Store::open(home.path(), "a1").is_ok());
    }

    #[test]
    fn no_name_leads_elsewhere_and_nothing_strange_is_taken_for_a_session() {
        let home = tempfile::tempdir().unwrap();
        for id in ["", "../x", "a/b", "nothing", &"a".repeat(99)] {
            assert!(matches!(Store::open(home.path(), id), Err(StoreError::NotFound(_))), "{id}");
        }
        for (id, text) in [("a1", "{\"v\":2}\n"), ("a2", "garbage\n"), ("a3", "{\"v\":1,\"type\":\"x\"}\n")] {
            drop(Store::create(home.path(), id, "/p").unwrap());
            fs::write(home.path().join(SESSIONS).join(id).join(FILE), text).unwrap();
            assert!(matches!(Store::open(home.path(), id), Err(StoreError::Damaged { line: 1, .. })), "{id}");
        }
    }

    #[test]
    fn names_are_made_up_and_accepted() {
        let home = tempfile::tempdir().unwrap();
        let id = new_id().unwrap();
        drop(Store::create(home.path(), &id, "/p").unwrap());
        assert!(Store::open(home.path(), &id).is_ok());
    }
}
