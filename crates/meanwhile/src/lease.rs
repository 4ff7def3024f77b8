//! A host's hold on a session: a locked file in the session's directory, which the kernel takes back when the
//! host dies, however it dies.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::platform;
use crate::session_dir::open_below;

const PREFIX: &str = "host-";

/// A hold. Given back when dropped.
pub(crate) struct Lease {
    /// By which the ledger knows this host.
    token: String,
    path: PathBuf,
    _file: File,
}

impl Lease {
    /// Takes a hold on the session whose directory this is. Any number of hosts may have one.
    pub(crate) fn take(session: &Path) -> io::Result<Self> {
        sweep(session);
        loop {
            let token = format!("{:016x}", platform::random_number()?);
            let path = session.join(format!("{PREFIX}{token}"));
            let mut file = open_below(session, &path, OpenOptions::new().read(true))?;
            file.lock()?;
            // A sweeper may have taken it for a dead one's before it was locked.
            if fs::metadata(&path).is_ok() {
                file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
                return Ok(Self { token, path, _file: file });
            }
        }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Tells whether the host with this token lives.
pub(crate) fn is_held(session: &Path, token: &str) -> bool {
    File::open(session.join(format!("{PREFIX}{token}"))).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// Removes what killed hosts left.
fn sweep(session: &Path) {
    let Ok(entries) = fs::read_dir(session) else { return };
    for entry in entries.flatten() {
        let is_hold = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        if is_hold && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_lasts_as_long_as_its_holder_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s");
        let (one, two) = (Lease::take(&session).unwrap(), Lease::take(&session).unwrap());
        let token = one.token().to_owned();
        assert_ne!(token, two.token());
        assert!(is_held(&session, &token));
        drop(one);
        assert!(!is_held(&session, &token));
        assert!(is_held(&session, two.token()));
        drop(two);
        assert_eq!(fs::read_dir(&session).unwrap().count(), 0);
    }

    #[test]
    fn what_a_dead_host_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("host-dead"), "1\n").unwrap();
        assert!(!is_held(dir.path(), "dead"));
        let lease = Lease::take(dir.path()).unwrap();
        assert!(!dir.path().join("host-dead").exists());
        assert!(is_held(dir.path(), lease.token()));
    }
}
