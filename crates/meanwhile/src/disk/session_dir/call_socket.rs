//! The socket on which a host of a session answers calls of the session's confined tasks.
//!
//! It is next to the home, because the home is hidden from these tasks. Its path depends only on the home and the session,
//! so that tasks find it again after another process has taken it over.

use std::fs::{self, DirBuilder, DirEntry, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::fnv1a;

use crate::disk::file_lock::{is_taken, open_private};
use crate::disk::names::CALLS_SUFFIX;
use crate::disk::platform::short;

/// The extension of the lock of a socket.
const LOCK: &str = "lock";

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
        let Some(lock) = lock(&path)? else { return Ok(None) };
        remove(&path)?;
        sweep(&directory, &path);
        let listener = short(&path, |path| UnixListener::bind(path))?;
        Ok(Some(Self { listener, path, _lock: lock }))
    }

    /// Returns the listening socket.
    #[must_use]
    pub const fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for CallSocket {
    fn drop(&mut self) {
        // The lock is released last.
        let _ = remove(&self.path).and_then(|()| remove(&lock_of(&self.path)));
    }
}

/// Connects to the socket of a session. Its path may be longer than a socket address.
///
/// # Errors
/// When nothing listens there, or this process may not connect.
pub fn connect(socket: &Path) -> io::Result<UnixStream> {
    short(socket, |socket| UnixStream::connect(socket))
}

fn lock_of(socket: &Path) -> PathBuf {
    socket.with_extension(LOCK)
}

/// Takes the lock of a socket; `None` if another process has it.
fn lock(socket: &Path) -> io::Result<Option<File>> {
    let path = lock_of(socket);
    loop {
        let file = open_private(&path)?;
        if !is_taken(file.try_lock())? {
            return Ok(None);
        }
        // Another process may have removed the file before it was locked.
        if fs::metadata(&path).is_ok_and(|now| file.metadata().is_ok_and(|own| own.ino() == now.ino())) {
            return Ok(Some(file));
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns whether a lock was made a moment ago. The process that has made it may be about to take it.
fn is_new(lock: &DirEntry) -> bool {
    let age = lock.metadata().and_then(|about| about.modified()).map(|made| made.elapsed());
    !matches!(age, Ok(Ok(age)) if age > Duration::from_secs(60))
}

/// Removes the other sockets whose processes were killed.
fn sweep(directory: &Path, own: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let socket = path.with_extension("");
        if path.extension().is_none_or(|extension| extension != LOCK) || socket == own || is_new(&entry) {
            continue;
        }
        if let Ok(Some(lock)) = lock(&socket) {
            let _ = remove(&socket).and_then(|()| remove(&path));
            drop(lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

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
        assert_eq!(fs::read_dir(directory(&home)).unwrap().count(), 0);
        // What killed processes leave.
        for session in ["s", "killed"] {
            drop(UnixListener::bind(path(&home, session)).unwrap());
            let left = File::create(lock_of(&path(&home, session))).unwrap();
            left.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
        }
        let next = CallSocket::listen(&home, "s").unwrap().unwrap();
        UnixStream::connect(path(&home, "s")).unwrap();
        next.listener().accept().unwrap();
        assert_eq!(fs::read_dir(directory(&home)).unwrap().count(), 2);
    }

    #[test]
    fn the_path_of_a_home_can_be_longer_than_a_socket_address() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("long/".repeat(30)).join("home");
        let socket = CallSocket::listen(&home, "s").unwrap().unwrap();
        connect(&path(&home, "s")).unwrap();
        socket.listener().accept().unwrap();
        drop(socket);
        assert_eq!(fs::read_dir(directory(&home)).unwrap().count(), 0);
    }

    #[test]
    fn sockets_taken_at_the_same_time_do_not_remove_each_other() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        for _ in 0..50 {
            let take = |number: usize| {
                let home = home.clone();
                std::thread::spawn(move || CallSocket::listen(&home, ["s", "t"][number % 2]).unwrap())
            };
            let taken: Vec<_> = (0..8).map(take).collect();
            let taken: Vec<_> = taken.into_iter().filter_map(|one| one.join().unwrap()).collect();
            assert_eq!(taken.len(), 2);
            for session in ["s", "t"] {
                UnixStream::connect(path(&home, session)).unwrap();
            }
        }
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
