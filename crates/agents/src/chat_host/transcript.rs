//! The transcript of a chat on disk, with one line per entry. A chat is resumed from it.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use meanwhile::engine::CHATS_DIR;
use mw_desk::chat_protocol::ChatEntry;
use mw_model::{Dialect, is_context_stamp};

use super::ledger::Ledger;
use crate::line_file::{LineFile, LineFileError, is_name, random_name};

const FILE: &str = "transcript.jsonl";
const CONTEXT: &str = "context";
const DIALECT: &str = "dialect";
const PREFIX: &str = "chat-";

/// Why a chat cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// There is no chat with this name.
    #[error("no chat {0:?}")]
    NotFound(String),
    /// There is no chat yet.
    #[error("no chats yet")]
    None,
    /// Another process has the chat open.
    #[error("the chat {0} is open in another process")]
    InUse(String),
    /// The file of the chat cannot be used.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The last entries could not be written.
    #[error("the chat's last {entries} entries are lost: {} could not be written: {error}", path.display())]
    Unwritten {
        /// The number of entries.
        entries: usize,
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl TranscriptError {
    fn of(error: LineFileError, session: &str, path: &Path) -> Self {
        match error {
            LineFileError::NotFound => Self::NotFound(session.to_owned()),
            LineFileError::InUse => Self::InUse(session.to_owned()),
            LineFileError::Io(error) => Self::Io { path: path.to_owned(), error },
        }
    }
}

/// The transcript of a chat. Only this process has it open.
pub struct ChatTranscript {
    file: LineFile,
    directory: PathBuf,
    /// Lines that could not be written yet, oldest first. They are written before further ones.
    backlog: VecDeque<String>,
    /// The chat's session.
    pub session: String,
    /// The earlier entries.
    pub(super) entries: Vec<ChatEntry>,
    /// The number of lines that could not be read.
    pub(super) damaged: usize,
}

/// Returns a name for a new chat.
///
/// # Errors
/// When the system has no random bytes.
pub fn new_session() -> io::Result<String> {
    Ok(format!("{PREFIX}{}", random_name::<4>()?))
}

impl ChatTranscript {
    /// Creates the transcript of a new chat.
    ///
    /// # Errors
    /// When its file cannot be created.
    pub fn create(home: &Path, session: &str) -> Result<Self, TranscriptError> {
        let directory = home.join(CHATS_DIR).join(session);
        let path = directory.join(FILE);
        let file = LineFile::create(&path).map_err(|error| TranscriptError::of(error, session, &path))?;
        let (session, backlog) = (session.to_owned(), VecDeque::new());
        Ok(Self { file, directory, backlog, session, entries: Vec::new(), damaged: 0 })
    }

    /// Returns the context in which the tasks of the chat are numbered. A chat keeps its first context.
    #[must_use]
    pub fn context(&self, now: &str) -> String {
        let path = self.directory.join(CONTEXT);
        let known = fs::read_to_string(&path).ok().filter(|known| is_context_stamp(known));
        known.unwrap_or_else(|| {
            // If this fails, the numbers start again next time, and the current tasks are then known by id only.
            let _ = fs::write(&path, now);
            now.to_owned()
        })
    }

    /// Returns the stored dialect of the chat, if any.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        Dialect::named(fs::read_to_string(self.directory.join(DIALECT)).ok()?.trim())
    }

    /// Stores the dialect for when the chat is resumed. If this fails, the user must specify it again.
    pub fn keep_dialect(&self, dialect: Dialect) {
        let _ = fs::write(self.directory.join(DIALECT), dialect.name());
    }

    /// Opens the transcript of an existing chat, or of the last one.
    ///
    /// # Errors
    /// Fails if there is none, or another process has it open.
    pub fn open(home: &Path, session: Option<&str>) -> Result<Self, TranscriptError> {
        let session = match session {
            Some(session) => session.to_owned(),
            None => last(home).ok_or(TranscriptError::None)?,
        };
        if !is_name(&session) {
            return Err(TranscriptError::NotFound(session));
        }
        let directory = home.join(CHATS_DIR).join(&session);
        let path = directory.join(FILE);
        let (file, contents) =
            LineFile::open(&path).map_err(|error| TranscriptError::of(error, &session, &path))?;
        let read: Vec<_> =
            contents.lines().map(|(_, line)| serde_json::from_slice::<ChatEntry>(line)).collect();
        let unreadable = read.iter().filter(|entry| entry.is_err()).count();
        let damaged = unreadable + usize::from(contents.torn > 0);
        let entries = read.into_iter().flatten().collect();
        Ok(Self { file, directory, backlog: VecDeque::new(), session, entries, damaged })
    }

    /// Adds an entry. It survives the end of this process when this returns. If it cannot be written, it is kept in
    /// memory and written before the next one.
    pub(super) fn add(&mut self, entry: &ChatEntry) -> io::Result<()> {
        let mut line = serde_json::to_string(entry)?;
        line.push('\n');
        self.backlog.push_back(line);
        self.catch_up()
    }

    /// Writes the backlog.
    fn catch_up(&mut self) -> io::Result<()> {
        while let Some(line) = self.backlog.front() {
            self.file.append(line)?;
            self.backlog.pop_front();
        }
        Ok(())
    }

    /// Syncs the file. An entry must be on disk before its notification is acknowledged.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.catch_up()?;
        self.file.sync()
    }

    /// Tries for the last time to write the backlog.
    pub(super) fn close(mut self) -> Result<(), TranscriptError> {
        self.catch_up().map_err(|error| TranscriptError::Unwritten {
            entries: self.backlog.len(),
            path: self.directory.join(FILE),
            error,
        })
    }

    /// Returns the file for the agent's standard error.
    pub(super) fn agent_errors(&self) -> PathBuf {
        self.directory.join("agent.log")
    }

    /// Returns the mode that was last chosen in this chat.
    #[must_use]
    pub fn mode(&self) -> Option<String> {
        Ledger::of(&self.entries).mode
    }

    /// Returns the agent and the directory with which the chat was last opened.
    #[must_use]
    pub fn opened(&self) -> Option<(&str, &str)> {
        self.entries.iter().rev().find_map(|entry| match entry {
            ChatEntry::Opened { agent, cwd } => Some((agent.as_str(), cwd.as_str())),
            _ => None,
        })
    }
}

/// Returns the most recently used chat that has a message of a user.
fn last(home: &Path) -> Option<String> {
    let chats = fs::read_dir(home.join(CHATS_DIR)).ok()?.flatten();
    let dated = chats.filter_map(|chat| {
        let path = chat.path().join(FILE);
        let written = fs::metadata(&path).ok()?.modified().ok()?;
        Some((written, path, chat.file_name().into_string().ok()?))
    });
    let mut dated: Vec<_> = dated.collect();
    dated.sort_unstable_by(|one, other| other.cmp(one));
    dated.into_iter().find(|(_, path, _)| has_words(path)).map(|(_, _, session)| session)
}

/// Returns whether a transcript has a message of a user.
fn has_words(path: &Path) -> bool {
    const BEGINNINGS: [&[u8]; 3] =
        [b"{\"entry\":\"user\"", b"{\"entry\":\"command\"", b"{\"entry\":\"waits\""];
    let Ok(file) = File::open(path) else { return false };
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    lines.into_iter().any(|line| BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    fn note(text: &str) -> ChatEntry {
        ChatEntry::Note { text: text.to_owned() }
    }

    #[test]
    fn entries_are_read_back_and_torn_or_unknown_lines_are_counted() {
        let home = tempfile::tempdir().unwrap();
        let said = ChatEntry::User { text: "one".to_owned() };
        let mut transcript = ChatTranscript::create(home.path(), "chat-1").unwrap();
        transcript.add(&said).unwrap();
        assert!(matches!(ChatTranscript::open(home.path(), Some("chat-1")), Err(TranscriptError::InUse(_))));
        drop(transcript);
        let path = home.path().join(CHATS_DIR).join("chat-1").join(FILE);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"entry\":\"of the future\"}\n{\"entry\":\"no").unwrap();
        drop(file);
        let mut reopened = ChatTranscript::open(home.path(), None).unwrap();
        assert_eq!((reopened.entries.clone(), reopened.damaged), (vec![said.clone()], 2));
        reopened.add(&note("two")).unwrap();
        drop(reopened);
        let last = ChatTranscript::open(home.path(), None).unwrap();
        assert_eq!((last.entries, last.damaged), (vec![said, note("two")], 1));
    }

    #[test]
    fn unwritten_entries_are_written_later_in_order_or_reported_as_lost() {
        let home = tempfile::tempdir().unwrap();
        let mut transcript = ChatTranscript::create(home.path(), "chat-1").unwrap();
        let said = ["one", "two", "three", "four"].map(note);
        transcript.add(&said[0]).unwrap();
        // A file that is opened read-only simulates a full disk.
        let unwritable = File::open(transcript.directory.join(FILE)).unwrap();
        let file = transcript.file.replace(unwritable);
        transcript.add(&said[1]).unwrap_err();
        transcript.add(&said[2]).unwrap_err();
        transcript.sync().unwrap_err();
        let unwritable = transcript.file.replace(file);
        transcript.add(&said[3]).unwrap();
        transcript.sync().unwrap();
        transcript.file.replace(unwritable);
        transcript.add(&note("five")).unwrap_err();
        transcript.add(&note("six")).unwrap_err();
        let lost = transcript.close().unwrap_err();
        assert!(matches!(lost, TranscriptError::Unwritten { entries: 2, .. }), "{lost}");
        let reopened = ChatTranscript::open(home.path(), Some("chat-1")).unwrap();
        assert_eq!((&reopened.entries[..], reopened.damaged), (&said[..], 0));
    }

    #[test]
    fn the_last_chat_is_the_last_one_with_a_message() {
        let home = tempfile::tempdir().unwrap();
        let mut transcript = ChatTranscript::create(home.path(), "chat-1").unwrap();
        transcript.add(&ChatEntry::User { text: "hello".to_owned() }).unwrap();
        drop(transcript);
        let mut empty = ChatTranscript::create(home.path(), "chat-2").unwrap();
        empty.add(&ChatEntry::Opened { agent: "mw".to_owned(), cwd: "/".to_owned() }).unwrap();
        drop(empty);
        assert_eq!(ChatTranscript::open(home.path(), None).unwrap().session, "chat-1");
        assert_eq!(ChatTranscript::open(home.path(), Some("chat-2")).unwrap().session, "chat-2");
    }

    #[test]
    fn invalid_and_unknown_chat_names_are_not_found() {
        let home = tempfile::tempdir().unwrap();
        for name in ["../x", "", "a/b", "nope"] {
            let found = ChatTranscript::open(home.path(), Some(name));
            assert!(matches!(found, Err(TranscriptError::NotFound(_))), "{name}");
        }
        assert!(matches!(ChatTranscript::open(home.path(), None), Err(TranscriptError::None)));
    }
}
