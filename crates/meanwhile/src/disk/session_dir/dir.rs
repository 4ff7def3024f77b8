//! A session's directory: its slots, and the numbers of its tasks.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::{QueueLimits, fnv1a};

use crate::disk::file_lock::{open_below, refuse_link};
use crate::disk::names::POLICY_FILE;
use crate::disk::replace_file::{open_directory, replace_file};
use crate::disk::slots::{Pool, Slots};
use crate::error::{Error, Result};

/// Prefix of the counter files of contexts.
const CONTEXT_PREFIX: &str = "handles-";
/// How long the counter of an unused context is kept.
const CONTEXTS_KEPT: Duration = Duration::from_secs(30 * 86_400);

/// The files of a session.
pub(crate) struct SessionDir {
    path: PathBuf,
}

impl SessionDir {
    /// Returns the directory of a session below the directory of all sessions.
    pub(crate) fn of(sessions: &Path, session: &str) -> Self {
        Self { path: sessions.join(directory_name(session)) }
    }

    /// Returns the directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the slots that a task needs; `None` if a limit is reached. `common` is the directory of the slots over
    /// all sessions.
    pub(crate) fn take_slots(
        &self,
        common: &Path,
        limits: &QueueLimits,
        pool: Pool,
    ) -> Result<Option<Slots>> {
        Slots::take(&self.path, common, limits, pool).map_err(Error::io("cannot take a slot"))
    }

    /// Takes the next number of the session's tasks. No number is given twice. `last` returns the last number if
    /// there is no counter file.
    pub(crate) fn take_number(&self, last: impl FnOnce() -> Result<u64>) -> Result<u64> {
        self.count_on("number", last)
    }

    /// Takes the next number for a short handle of a context, or of the session if there is no context.
    pub(crate) fn take_handle_number(
        &self,
        context: Option<&str>,
        last: impl FnOnce() -> Result<u64>,
    ) -> Result<u64> {
        match context {
            None => self.count_on("handles", last),
            Some(context) => {
                let number = self.count_on(&format!("{CONTEXT_PREFIX}{}", directory_name(context)), last)?;
                if number == 1 {
                    self.sweep_contexts();
                }
                Ok(number)
            }
        }
    }

    /// Removes the counters of contexts that were not used for long. A context that is used again continues from its
    /// tasks.
    fn sweep_contexts(&self) {
        let is_old = |entry: &fs::DirEntry| {
            let used = entry.metadata().and_then(|found| found.modified());
            used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since > CONTEXTS_KEPT))
        };
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(CONTEXT_PREFIX.as_bytes()) && is_old(&entry) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn count_on(&self, name: &str, last: impl FnOnce() -> Result<u64>) -> Result<u64> {
        let failed = |error| Error::io("cannot count the session's tasks")(error);
        let path = self.path.join(name);
        let file = open_below(&self.path, &path, OpenOptions::new().read(true)).map_err(failed)?;
        file.lock().map_err(failed)?;
        // One byte more than the longest number with its line end. A text that fills the buffer is not a number.
        let mut text = [0; 22];
        let length = file.read_at(&mut text, 0).unwrap_or(0);
        let text = str::from_utf8(&text[..length]).ok().filter(|text| text.len() < 22);
        let known = text.and_then(|text| text.trim_end().parse::<u64>().ok());
        let number = known.map_or_else(last, Ok)? + 1;
        let text = format!("{number}\n");
        file.write_all_at(text.as_bytes(), 0).map_err(failed)?;
        if known.is_none() {
            file.set_len(text.len() as u64).map_err(failed)?;
        }
        Ok(number)
    }

    /// Stores the policy of a session.
    pub(crate) fn set_session_policy(&self, text: &[u8]) -> Result<()> {
        replace(&self.path, POLICY_FILE, text)
            .map_err(Error::io("cannot write the policy settings of the session"))
    }

    /// Returns the policy of a session, if its host stored one.
    pub(crate) fn session_policy(&self) -> Result<Option<Vec<u8>>> {
        match fs::read(self.path.join(POLICY_FILE)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("cannot read the policy settings of the session")(error)),
        }
    }
}

/// Replaces a file in a session's directory atomically. A directory that is a link is refused.
pub(crate) fn replace(session: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    refuse_link(session)?;
    DirBuilder::new().recursive(true).mode(0o700).create(session)?;
    replace_file(&open_directory(session)?, name, text)
}

/// Returns the name of a session's directory: the session's name, with special characters escaped.
fn directory_name(session: &str) -> String {
    use std::fmt::Write;
    const LONGEST: usize = 200;
    // An empty name must not map to the parent directory.
    let mut name = if session.is_empty() { "%".to_owned() } else { String::with_capacity(session.len()) };
    for (at, byte) in session.bytes().enumerate() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(byte.into()),
            b'.' if at > 0 => name.push('.'),
            _ => {
                let _ = write!(name, "%{byte:02x}");
            }
        }
    }
    if name.len() <= LONGEST {
        return name;
    }
    // Too long for a file name: use its beginning and a hash of the whole name.
    let hash = fnv1a(session.as_bytes());
    name.truncate(LONGEST - 20);
    format!("{name}%%{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_numbers_increase_and_start_after_the_last_known_number() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionDir::of(dir.path(), "s");
        let take = |last: u64| session.take_number(|| Ok(last)).unwrap();
        assert_eq!((take(7), take(0), take(0)), (8, 9, 10));
        fs::write(dir.path().join("s/number"), "garbage that is longer").unwrap();
        assert_eq!((take(10), take(0)), (11, 12));
    }

    #[test]
    fn unusual_session_names_get_safe_and_distinct_directory_names() {
        assert_eq!(directory_name("default"), "default");
        assert_eq!(directory_name("../x/é"), "%2e.%2fx%2f%c3%a9");
        let (long, longer) = ("x".repeat(300), "x".repeat(301));
        assert_ne!(directory_name(&long), directory_name(&longer));
        assert!(directory_name(&long).len() < 255);
    }
}
