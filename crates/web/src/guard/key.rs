//! The secret of a home from which cookies are derived. It outlives the server, so browsers stay signed in.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

/// A secret from which cookies are derived. It does not appear in debug output.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Returns the key with these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads the key in a file, and creates it if it does not exist. Only this user can read it.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not a key.
    pub fn kept_in(path: &Path) -> io::Result<Self> {
        let mut random = [0; 32];
        let mut filled = 0;
        while filled < random.len() {
            filled += getrandom(&mut random[filled..], GetRandomFlags::empty())?;
        }
        match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(mut file) => file.write_all(&random)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let no_key = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not a key; remove it");
        fs::read(path)?.try_into().map(Self).map_err(no_key)
    }

    /// Derives the secret for a purpose. It does not reveal the key, nor the secret for another purpose.
    pub(super) fn derive(&self, purpose: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(purpose.as_bytes());
        hash.update(self.0);
        hash.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_depend_on_the_key_and_the_purpose() {
        let (one, other) = (Key::new([1; 32]), Key::new([2; 32]));
        assert_eq!(one.derive("a").len(), 64);
        assert_eq!(one.derive("a"), Key::new([1; 32]).derive("a"));
        assert_ne!(one.derive("a"), one.derive("b"));
        assert_ne!(one.derive("a"), other.derive("a"));
    }
}
