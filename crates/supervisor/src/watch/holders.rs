//! Whether a process holds the task's session. A task that belongs to a session ends with it. If the session's host
//! is killed, the task ends after a grace period, unless another host connects. For some tasks servers count as
//! hosts, too.
//!
//! The time since which a session has had no holder is written to the session's directory, because its queued tasks,
//! which have no supervisor, end by it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use mw_model::wire::{HOST_PREFIX, NO_HOST_FILE, NO_SERVER_FILE, SERVER_PREFIX, SessionWatch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;

use crate::clock;
use crate::sys::ProcessHandle;

/// The processes that hold a session: hosts, and for some tasks servers.
pub(crate) struct Holders {
    directory: PathBuf,
    grace_ms: u64,
    /// Whether servers count as hosts.
    servers: bool,
    state: State,
    /// Whether a host was ever seen.
    was_hosted: bool,
}

enum State {
    /// The session has had no host so far, such as a person's shell. It ends when that person ends it.
    Unhosted,
    /// This host is alive.
    Hosted(Holder),
    /// The last host is gone; the task ends at this time.
    Orphaned { ends_ms: u64 },
}

/// A process that holds the session.
struct Holder {
    process: ProcessHandle,
    /// Its locked file.
    hold: PathBuf,
}

impl Holders {
    pub(crate) fn new(watch: &SessionWatch) -> Self {
        let directory = Path::new(std::ffi::OsStr::from_bytes(watch.directory.as_bytes())).to_owned();
        Self {
            directory,
            grace_ms: watch.grace_ms,
            servers: watch.servers,
            state: State::Unhosted,
            was_hosted: false,
        }
    }

    /// The state before the first search: the host that was there when the task was requested may be gone.
    pub(crate) fn at_start(watch: &SessionWatch, now_ms: u64) -> Self {
        let holders = Self::new(watch);
        if watch.hosted {
            let ends_ms = now_ms.saturating_add(watch.grace_ms);
            return Self { state: State::Orphaned { ends_ms }, ..holders };
        }
        holders
    }

    /// The state after a predecessor that has seen a host: as if that host had just gone.
    pub(crate) fn of_hosted(watch: &SessionWatch, now_ms: u64) -> Self {
        let ends_ms = now_ms.saturating_add(watch.grace_ms);
        Self { state: State::Orphaned { ends_ms }, was_hosted: true, ..Self::new(watch) }
    }

    /// Checks the host; returns whether the session is over.
    pub(crate) fn look(&mut self, now_ms: u64) -> bool {
        match &self.state {
            State::Hosted(host) if !is_dead(&host.process) => false,
            State::Hosted(_) => {
                self.replace_holder(now_ms);
                false
            }
            State::Orphaned { ends_ms } if now_ms < *ends_ms => false,
            State::Orphaned { .. } => {
                let is_over = !self.search();
                if is_over {
                    // A task with the same grace period must end now, too.
                    self.note_vacancy(clock::monotonic_ms().saturating_sub(self.grace_ms));
                }
                is_over
            }
            State::Unhosted => false,
        }
    }

    /// Searches for another holder after one has gone.
    fn replace_holder(&mut self, now_ms: u64) {
        self.state = match self.find_living() {
            Some(host) => State::Hosted(host),
            None => {
                self.note_vacancy(clock::monotonic_ms());
                State::Orphaned { ends_ms: now_ms.saturating_add(self.grace_ms) }
            }
        };
    }

    /// Searches for a host; returns whether there is one.
    pub(crate) fn search(&mut self) -> bool {
        if let Some(host) = self.find_living() {
            self.state = State::Hosted(host);
        }
        matches!(self.state, State::Hosted(_))
    }

    /// Searches for a host after one has come or gone; returns whether it is the first one ever seen.
    pub(crate) fn search_first(&mut self, now_ms: u64) -> bool {
        match &self.state {
            // Its process may still be alive.
            State::Hosted(host) if !is_locked(&host.hold) => self.replace_holder(now_ms),
            State::Hosted(_) => {}
            State::Unhosted => _ = self.search(),
            State::Orphaned { .. } => {
                if !self.search() && !self.directory.join(self.vacancy_file()).exists() {
                    self.note_vacancy(clock::monotonic_ms());
                }
            }
        }
        matches!(self.state, State::Hosted(_)) && !std::mem::replace(&mut self.was_hosted, true)
    }

    const fn vacancy_file(&self) -> &'static str {
        if self.servers { NO_SERVER_FILE } else { NO_HOST_FILE }
    }

    /// Records since when the session has had no holder. On a full disk this is lost, and queued tasks end later.
    fn note_vacancy(&self, since_ms: u64) {
        // Links are not followed.
        if !fs::symlink_metadata(&self.directory).is_ok_and(|found| found.is_dir()) {
            return;
        }
        let name = self.vacancy_file();
        let new = self.directory.join(format!("{name}.{}", std::process::id()));
        let _ = fs::remove_file(&new);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
        let written = file.and_then(|mut file| file.write_all(format!("{since_ms}\n").as_bytes()));
        let _ = written.and_then(|()| fs::rename(&new, self.directory.join(name)));
    }

    /// Finds a holder: a locked file with the pid of a process.
    fn find_living(&self) -> Option<Holder> {
        let entries = fs::read_dir(&self.directory).ok()?;
        let counts = |name: &[u8]| {
            name.starts_with(HOST_PREFIX.as_bytes())
                || (self.servers && name.starts_with(SERVER_PREFIX.as_bytes()))
        };
        let holds = entries.flatten().filter(|entry| counts(entry.file_name().as_encoded_bytes()));
        holds.map(|entry| entry.path()).find_map(|hold| {
            let pid = fs::read_to_string(&hold).ok()?.trim().parse().ok()?;
            let process = ProcessHandle::open(pid)?;
            // The process is opened before the lock is checked: while the file is locked, the pid is not reused.
            is_locked(&hold).then_some(Holder { process, hold })
        })
    }

    /// When to check again without an event.
    pub(crate) const fn due_ms(&self) -> Option<u64> {
        match &self.state {
            State::Orphaned { ends_ms } => Some(*ends_ms),
            State::Unhosted | State::Hosted(_) => None,
        }
    }

    /// Becomes readable when the host ends.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Hosted(host) => Some(host.process.as_fd()),
            State::Unhosted | State::Orphaned { .. } => None,
        }
    }
}

fn is_dead(host: &ProcessHandle) -> bool {
    let mut fds = [PollFd::new(host, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

fn is_locked(path: &Path) -> bool {
    File::open(path)
        .is_ok_and(|file| rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}

#[cfg(test)]
#[path = "holders_tests.rs"]
mod tests;
