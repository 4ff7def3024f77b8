//! A session's directory: its slots, and the count of its tasks.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::QueueLimits;

use crate::disk::slots::{Pool, Slots};
use crate::error::{Error, Result};

/// What the counts of contexts begin their files' names with.
const CONTEXT_PREFIX: &str = "handles-";
/// How long the count of a context is kept that nobody uses.
const CONTEXTS_KEPT: Duration = Duration::from_secs(30 * 86_400);

/// Where a session keeps what is not in the database.
pub(crate) struct SessionDir {
    path: PathBuf,
}

impl SessionDir {
    /// The directory of a session among those of all.
    pub(crate) fn of(sessions: &Path, session: &str) -> Self {
        Self { path: sessions.join(directory_name(session)) }
    }

    /// Returns the directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the slots a task needs, with `common` holding those over all sessions; nothing when a limit is
    /// reached.
    pub(crate) fn take_slots(&self, common: &Path, limits: QueueLimits, pool: Pool) -> Result<Option<Slots>> {
        Slots::take(&self.path, common, limits, pool).map_err(Error::io("cannot take a slot"))
    }

    /// Takes the next number of the session's tasks; none is given twice. `last` tells the last one given
    /// when nothing here does.
    pub(crate) fn take_number(&self, last: impl FnOnce() -> Result<u64>) -> Result<u64> {
        self.count_on("number", last)
    }

    /// Takes the next number for a short handle of a context, or else of the session itself.
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

    /// Removes the counts of contexts that were last used long ago. One that lives on is counted again from its tasks.
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
        // One byte more than the longest number has with its line end: what fills it is none.
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

    /// Lays down what a session is decided by.
    pub(crate) fn set_house_rules(&self, text: &[u8]) -> Result<()> {
        let write = || {
            let (new, path) = (self.path.join("house.new"), self.path.join("house.json"));
            let file = open_below(&self.path, &new, &mut OpenOptions::new())?;
            file.set_len(0)?;
            file.write_all_at(text, 0)?;
            fs::rename(new, path)
        };
        write().map_err(Error::io("cannot write the policy settings of the session"))
    }

    /// Returns what a session is decided by, if its host said so.
    pub(crate) fn house_rules(&self) -> Result<Option<Vec<u8>>> {
        match fs::read(self.path.join("house.json")) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("cannot read the policy settings of the session")(error)),
        }
    }
}

/// Opens a private file for writing, making it and its directory when they are absent.
pub(crate) fn open_below(directory: &Path, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let options = options.write(true).create(true).truncate(false).mode(0o600);
    if fs::symlink_metadata(directory).is_ok_and(|found| !found.is_dir()) {
        let why = format!("{} is a link or a file, not a directory; remove it", directory.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
    }
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            options.open(path)
        }
        other => other,
    }
}

/// Returns the name of a session's directory: the session's own where that is a plain one.
fn directory_name(session: &str) -> String {
    use std::fmt::Write;
    const LONGEST: usize = 200;
    // The directory of all sessions is nobody's own.
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
    // Too long for a file name: its beginning, and a number made from all of it (FNV-1a).
    let hash = session
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    name.truncate(LONGEST - 20);
    format!("{name}%%{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_and_begin_after_the_last_known() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionDir::of(dir.path(), "s");
        let take = |last: u64| session.take_number(|| Ok(last)).unwrap();
        assert_eq!((take(7), take(0), take(0)), (8, 9, 10));
        fs::write(dir.path().join("s/number"), "garbage that is longer").unwrap();
        assert_eq!((take(10), take(0)), (11, 12));
    }

    #[test]
    fn odd_sessions_get_directories_of_their_own() {
        assert_eq!(directory_name("default"), "default");
        assert_eq!(directory_name("../x/é"), "%2e.%2fx%2f%c3%a9");
        let (long, longer) = ("x".repeat(300), "x".repeat(301));
        assert_ne!(directory_name(&long), directory_name(&longer));
        assert!(directory_name(&long).len() < 255);
    }
}
