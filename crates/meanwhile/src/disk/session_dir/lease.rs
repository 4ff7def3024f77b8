//! A lease on a session: a locked file in the session's directory. The kernel releases the lock when the holder dies.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mw_model::Lifetime;
use mw_model::wire::{HOST_PREFIX, NO_HOST_FILE, NO_SERVER_FILE, SERVER_PREFIX};

use super::holder_loss;
use crate::disk::file_lock::open_below;
use crate::disk::platform;

/// Prefix of the lease files of processes that only receive notifications.
const RELAY_PREFIX: &str = "teller-";

/// Prefixes of all lease files.
const PREFIXES: [&str; 3] = [HOST_PREFIX, SERVER_PREFIX, RELAY_PREFIX];

/// A lease, released when dropped.
pub(crate) struct Lease {
    /// The file's name, which identifies the holder in the ledger.
    pub(crate) token: String,
    path: PathBuf,
    /// Whether the session had lost its holders before.
    pub(crate) ended_loss: bool,
    file: File,
}

impl Lease {
    /// Takes a host's lease on the session with this directory. Tasks of the session end with its last host.
    pub(crate) fn host(session: &Path) -> io::Result<Self> {
        Self::take(session, HOST_PREFIX, &[NO_HOST_FILE, NO_SERVER_FILE])
    }

    /// Takes the lease of a tool server of the session. Tasks that end with their client end with the last server and
    /// host.
    pub(crate) fn server(session: &Path) -> io::Result<Self> {
        Self::take(session, SERVER_PREFIX, &[NO_SERVER_FILE])
    }

    /// Takes the lease of a process that only receives notifications.
    pub(crate) fn relay(session: &Path) -> io::Result<Self> {
        Self::take(session, RELAY_PREFIX, &[])
    }

    fn take(session: &Path, prefix: &str, losses: &[&str]) -> io::Result<Self> {
        sweep(session);
        loop {
            let token = format!("{prefix}{:016x}", u64::from_le_bytes(platform::random_bytes()?));
            let path = session.join(&token);
            let mut file = open_below(session, &path, OpenOptions::new().read(true))?;
            file.lock()?;
            // Another process may have removed the file as a dead holder's before it was locked.
            if fs::metadata(&path).is_ok() {
                file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
                let ended_loss = holder_loss::strike(session, losses);
                return Ok(Self { token, path, ended_loss, file });
            }
        }
    }

    /// Releases the lease before it is dropped.
    pub(crate) fn give_back(&self) {
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns whether the holder with this token is alive.
pub(crate) fn is_held(session: &Path, token: &str) -> bool {
    File::open(session.join(token)).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// Returns the tokens and process ids of all live holders of a session.
pub(crate) fn holders(session: &Path) -> Vec<(String, u32)> {
    let held = names(session).filter(|name| is_lease(name) && is_held(session, name));
    held.filter_map(|name| {
        let pid = fs::read_to_string(session.join(&name)).ok()?.trim().parse().ok()?;
        Some((name, pid))
    })
    .collect()
}

/// The kinds of live holders of a session, not counting processes that only receive notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) hosts: bool,
    pub(crate) servers: bool,
}

impl Held {
    /// Returns whether these holders keep a task with this lifetime running.
    pub(crate) const fn keeps(self, lifetime: Lifetime) -> bool {
        match lifetime {
            Lifetime::Session => self.hosts,
            Lifetime::Client => self.hosts || self.servers,
            Lifetime::Kept | Lifetime::Detached => true,
        }
    }
}

/// Returns which kinds of holders a session has.
pub(crate) fn held(session: &Path) -> Held {
    let mut found = Held::default();
    for name in names(session) {
        let kind = if name.starts_with(HOST_PREFIX) {
            &mut found.hosts
        } else if name.starts_with(SERVER_PREFIX) {
            &mut found.servers
        } else {
            continue;
        };
        *kind = *kind || is_held(session, &name);
    }
    found
}

/// Counts the live hosts.
pub(crate) fn count_hosts(session: &Path) -> usize {
    names(session).filter(|name| name.starts_with(HOST_PREFIX) && is_held(session, name)).count()
}

fn is_lease(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn names(session: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(session).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Removes the lease files of dead holders.
fn sweep(session: &Path) {
    if !fs::symlink_metadata(session).is_ok_and(|found| found.is_dir()) {
        return;
    }
    for path in names(session).filter(|name| is_lease(name)).map(|name| session.join(name)) {
        // The lock is kept until the file is removed, so a new holder that has not locked it yet notices.
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(&path);
            drop(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_lasts_until_it_is_dropped_and_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s");
        let (one, two) = (Lease::host(&session).unwrap(), Lease::relay(&session).unwrap());
        let token = one.token.clone();
        assert_ne!(token, two.token);
        assert!(is_held(&session, &token));
        assert_eq!(held(&session), Held { hosts: true, servers: false });
        drop(one);
        assert!(!is_held(&session, &token));
        assert!(is_held(&session, &two.token));
        drop(two);
        assert_eq!(fs::read_dir(&session).unwrap().count(), 0);
    }

    #[test]
    fn leases_taken_at_the_same_time_do_not_remove_each_other() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..50 {
            let take = || {
                std::thread::spawn({
                    let session = dir.path().to_owned();
                    move || Lease::relay(&session).unwrap()
                })
            };
            let taken: Vec<_> = [(); 8].map(|()| take()).into_iter().map(|one| one.join().unwrap()).collect();
            assert!(taken.iter().all(|lease| is_held(dir.path(), &lease.token)));
        }
    }

    #[test]
    fn the_lease_file_of_a_dead_host_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("host-dead"), "1\n").unwrap();
        assert!(!is_held(dir.path(), "host-dead"));
        let lease = Lease::host(dir.path()).unwrap();
        assert!(!dir.path().join("host-dead").exists());
        assert!(is_held(dir.path(), &lease.token));
    }
}
