//! The secret of a home from which cookies are derived. It outlives the server, so browsers stay signed in.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

use super::token::Token;

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
        if !path.try_exists()? {
            create(path)?;
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

/// Creates a file with a new key. The file appears with its content, because another server may read it at once. One that
/// another server has created meanwhile stays.
fn create(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", Token::random()?.as_str()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    let linked = file.write_all(&random()?).and_then(|()| file.sync_all()).and_then(|()| {
        fs::hard_link(&beside, path).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            // Some file systems have no links.
            _ => fs::rename(&beside, path),
        })
    });
    let _ = fs::remove_file(&beside);
    linked
}

fn random() -> io::Result<[u8; 32]> {
    let mut random = [0; 32];
    let mut filled = 0;
    while filled < random.len() {
        filled += getrandom(&mut random[filled..], GetRandomFlags::empty())?;
    }
    Ok(random)
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn secrets_depend_on_the_key_and_the_purpose() {
        let (one, other) = (Key::new([1; 32]), Key::new([2; 32]));
        assert_eq!(one.derive("a").len(), 64);
        assert_eq!(one.derive("a"), Key::new([1; 32]).derive("a"));
        assert_ne!(one.derive("a"), one.derive("b"));
        assert_ne!(one.derive("a"), other.derive("a"));
    }
    /// Also with several servers that start at the same moment, nobody reads a key that is not complete.
    #[test]
    fn a_key_is_created_once_and_is_complete_when_it_appears() {
        for _ in 0..20 {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("serve.key");
            let created = Barrier::new(8);
            let keys: Vec<Key> = std::thread::scope(|scope| {
                let servers = [(); 8].map(|()| {
                    scope.spawn(|| {
                        created.wait();
                        Key::kept_in(&path).unwrap()
                    })
                });
                servers.map(|server| server.join().unwrap()).into()
            });
            assert!(keys.iter().all(|key| key.0 == keys[0].0));
            assert_eq!(fs::read(&path).unwrap(), keys[0].0);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left beside it");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_and_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("serve.key");
        fs::write(&path, "short").unwrap();
        assert_eq!(Key::kept_in(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(fs::read(&path).unwrap(), b"short");
    }
}
