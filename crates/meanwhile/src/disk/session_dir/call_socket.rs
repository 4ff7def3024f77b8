//! The socket on which a host of a session answers calls of the session's confined tasks.
//!
//! It is next to the home, because the home is hidden from these tasks. Its path depends only on the home and the session,
//! so that tasks find it again after another process has taken it over.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use mw_model::fnv1a;

use crate::disk::file_lock::{is_taken, open_private};
use crate::disk::names::CALLS_SUFFIX;

/// Returns the directory of the sockets of all sessions of a home.
pub(crate) fn directory(home: &Path) -> PathBuf {
    let mut name = home.as_os_str().to_owned();
    name.push(CALLS_SUFFIX);
    PathBuf::from(name)
}

/// Returns the path of the socket of a session.
pub(crate) fn path(home: &Path, session: &str) -> PathBuf {
    directory(home).join(format!("{:016x}", fnv1a(session.as_bytes())))
}

/// A socket that this process listens on. It is removed when this is dropped.
pub struct CallSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Locked, so that only one process listens for a session. The kernel releases the lock when this process dies.
    _lock: File,
}

impl CallSocket {
    /// Listens for a session; `None` if another process does.
    pub(crate) fn listen(home: &Path, session: &str) -> io::Result<Option<Self>> {
        let directory = directory(home);
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let found = fs::symlink_metadata(&directory)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0
        {
            return Err(io::Error::other("the directory of the sockets is not one of this user alone"));
        }
        let path = path(home, session);
        let lock = open_private(&path.with_extension("lock"))?;
        if !is_taken(lock.try_lock())? {
            return Ok(None);
        }
        // That of a process that was killed.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        Ok(Some(Self { listener: UnixListener::bind(&path)?, path, _lock: lock }))
    }

    /// Returns the listening socket.
    #[must_use]
    pub const fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for CallSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn one_process_at_a_time_listens_for_a_session() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        let first = CallSocket::listen(&home, "s").unwrap().unwrap();
        assert!(CallSocket::listen(&home, "s").unwrap().is_none());
        assert!(CallSocket::listen(&home, "t").unwrap().is_some());
        UnixStream::connect(path(&home, "s")).unwrap();
        drop(first);
        assert!(!path(&home, "s").exists());
        // What a killed process leaves.
        drop(UnixListener::bind(path(&home, "s")).unwrap());
        let next = CallSocket::listen(&home, "s").unwrap().unwrap();
        UnixStream::connect(path(&home, "s")).unwrap();
        next.listener().accept().unwrap();
    }

    #[test]
    fn a_directory_that_others_could_change_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        fs::create_dir(directory(&home)).unwrap();
        fs::set_permissions(directory(&home), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(CallSocket::listen(&home, "s").is_err());
        fs::remove_dir(directory(&home)).unwrap();
        std::os::unix::fs::symlink(place.path(), directory(&home)).unwrap();
        assert!(CallSocket::listen(&home, "s").is_err());
    }
}
