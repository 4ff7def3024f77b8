//! An append-only file of JSON lines that one process holds at a time: the transcript of a chat, or of a session of the
//! built-in agent.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use meanwhile::engine::random_bytes;

/// Maximum length of a name, see [`is_name`].
const MAX_NAME: usize = 64;

/// Why a file cannot be used.
#[derive(Debug)]
pub(crate) enum LineFileError {
    NotFound,
    /// Another process holds it.
    InUse,
    Io(io::Error),
}

impl From<io::Error> for LineFileError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::NotFound } else { Self::Io(error) }
    }
}

impl From<TryLockError> for LineFileError {
    fn from(error: TryLockError) -> Self {
        match error {
            TryLockError::WouldBlock => Self::InUse,
            TryLockError::Error(error) => Self::Io(error),
        }
    }
}

/// The file, locked until this is dropped.
pub(crate) struct LineFile {
    file: File,
    /// The size of the complete lines.
    size: u64,
}

/// What a file contained when it was opened.
pub(crate) struct Contents {
    bytes: Vec<u8>,
    /// The size of an incomplete last line that was removed: its writer was killed, or the disk was full.
    pub(crate) torn: usize,
}

impl Contents {
    /// Returns the lines with their numbers, without empty ones.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let numbered = (1..).zip(self.bytes.split(|byte| *byte == b'\n'));
        numbered.filter(|(_, line)| !line.is_empty())
    }
}

impl LineFile {
    /// Creates a file that does not exist yet, and its directory.
    pub(crate) fn create(path: &Path) -> Result<Self, LineFileError> {
        if let Some(directory) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        file.try_lock()?;
        Ok(Self { file, size: 0 })
    }

    /// Opens a file and reads it. An incomplete last line is removed.
    pub(crate) fn open(path: &Path) -> Result<(Self, Contents), LineFileError> {
        let mut file = OpenOptions::new().append(true).read(true).open(path)?;
        file.try_lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let torn = bytes.len() - whole;
        if torn > 0 {
            file.set_len(whole as u64)?;
            bytes.truncate(whole);
        }
        Ok((Self { file, size: whole as u64 }, Contents { bytes, torn }))
    }

    /// Appends a line, which ends with a newline. If this fails, nothing of the line stays in the file.
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        self.append_with(line, |_| Ok(()))
    }

    /// Appends a line as [`LineFile::append`] does. It is on disk when this returns.
    pub(crate) fn append_durably(&mut self, line: &str) -> io::Result<()> {
        self.append_with(line, File::sync_data)
    }

    fn append_with(&mut self, line: &str, finish: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        // An earlier failure may have left a part of a line, which would spoil this one.
        if self.file.metadata()?.len() != self.size {
            self.file.set_len(self.size)?;
        }
        let written = self.file.write_all(line.as_bytes()).and_then(|()| finish(&self.file));
        match written {
            Ok(()) => self.size += line.len() as u64,
            Err(_) => _ = self.file.set_len(self.size),
        }
        written
    }

    /// Waits until all lines are on disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Replaces the open file, so that a test can make writes fail; returns the one before.
    #[cfg(test)]
    pub(crate) fn replace(&mut self, file: File) -> File {
        std::mem::replace(&mut self.file, file)
    }
}

/// Returns whether a name can be that of a directory with such a file: letters, digits and hyphens.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns a random name of `BYTES` bytes in hexadecimal digits.
pub(crate) fn random_name<const BYTES: usize>() -> io::Result<String> {
    Ok(random_bytes::<BYTES>()?.map(|byte| format!("{byte:02x}")).concat())
}
