//! Whether anybody holds the task's session. A task that belongs to a session ends with it, also when the
//! session's host was killed: then after a time of grace in which another may take its place. A task may hang on the
//! session's servers as well.
//!
//! Since when a session has had no holder is written into its directory: its waiting tasks end at the same time, and nobody
//! watches for them.

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

/// What is known of the hosts.
pub(crate) struct Hosts {
    directory: PathBuf,
    grace_ms: u64,
    /// Whether servers count as hosts do.
    servers: bool,
    state: State,
    /// Whether anybody was ever seen to host it.
    was_hosted: bool,
}

enum State {
    /// Nobody has hosted the session so far: a person's own shell, perhaps. It ends when that person says so.
    Unhosted,
    /// This one lives.
    Hosted(Holder),
    /// The last one is gone; the task ends then.
    Orphaned { ends_ms: u64 },
}

/// Somebody who holds the session.
struct Holder {
    process: ProcessHandle,
    /// Its locked file.
    hold: PathBuf,
}

impl Hosts {
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

    /// What is known before anybody has looked: whoever hosted the session when the task was started may be gone.
    pub(crate) fn at_start(watch: &SessionWatch, now_ms: u64) -> Self {
        let hosts = Self::new(watch);
        if watch.hosted {
            let ends_ms = now_ms.saturating_add(watch.grace_ms);
            return Self { state: State::Orphaned { ends_ms }, ..hosts };
        }
        hosts
    }

    /// As if the last of the hosts that a predecessor saw had gone just now.
    pub(crate) fn of_hosted(watch: &SessionWatch, now_ms: u64) -> Self {
        let ends_ms = now_ms.saturating_add(watch.grace_ms);
        Self { state: State::Orphaned { ends_ms }, was_hosted: true, ..Self::new(watch) }
    }

    /// Looks who lives; returns whether the session is over.
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
                    // Whatever the clocks of others say: for a task with the same grace it is over now.
                    let grace = i64::try_from(self.grace_ms.saturating_mul(1000)).unwrap_or(i64::MAX);
                    self.note_vacancy(clock::wall().as_micros().saturating_sub(grace));
                }
                is_over
            }
            State::Unhosted => false,
        }
    }

    /// Looks for another in the place of a holder that has gone.
    fn replace_holder(&mut self, now_ms: u64) {
        self.state = match self.find_living() {
            Some(host) => State::Hosted(host),
            None => {
                self.note_vacancy(clock::wall().as_micros());
                State::Orphaned { ends_ms: now_ms.saturating_add(self.grace_ms) }
            }
        };
    }

    /// Looks for a host where none is known; returns whether there is one.
    pub(crate) fn search(&mut self) -> bool {
        if let Some(host) = self.find_living() {
            self.state = State::Hosted(host);
        }
        matches!(self.state, State::Hosted(_))
    }

    /// Looks for a host, since one has come or gone; returns whether it is the first there ever was.
    pub(crate) fn search_first(&mut self, now_ms: u64) -> bool {
        match &self.state {
            // Its process may live on.
            State::Hosted(host) if !is_locked(&host.hold) => self.replace_holder(now_ms),
            State::Hosted(_) => {}
            State::Unhosted => _ = self.search(),
            State::Orphaned { .. } => {
                if !self.search() && !self.directory.join(self.vacancy_file()).exists() {
                    self.note_vacancy(clock::wall().as_micros());
                }
            }
        }
        matches!(self.state, State::Hosted(_)) && !std::mem::replace(&mut self.was_hosted, true)
    }

    const fn vacancy_file(&self) -> &'static str {
        if self.servers { NO_SERVER_FILE } else { NO_HOST_FILE }
    }

    /// Writes down since when nobody has held the session. Without room for that, its waiting tasks end later.
    fn note_vacancy(&self, since: i64) {
        // Nothing is written where a link leads.
        if !fs::symlink_metadata(&self.directory).is_ok_and(|found| found.is_dir()) {
            return;
        }
        let name = self.vacancy_file();
        let new = self.directory.join(format!("{name}.{}", std::process::id()));
        let _ = fs::remove_file(&new);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
        let written = file.and_then(|mut file| file.write_all(format!("{since}\n").as_bytes()));
        let _ = written.and_then(|()| fs::rename(&new, self.directory.join(name)));
    }

    /// Finds a holder: a locked file that says which process it is.
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
            // The hold on the process first: while the file is locked, the process behind that is the one.
            is_locked(&hold).then_some(Holder { process, hold })
        })
    }

    /// When to look again by itself.
    pub(crate) const fn due_ms(&self) -> Option<u64> {
        match &self.state {
            State::Orphaned { ends_ms } => Some(*ends_ms),
            State::Unhosted | State::Hosted(_) => None,
        }
    }

    /// What tells of a host's end.
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
mod tests;
