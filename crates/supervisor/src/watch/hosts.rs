//! Whether anybody hosts the task's session. A task that belongs to a session ends with it, also when the
//! session's host was killed: then after a time of grace in which another may take its place.

use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::wire::{HOST_PREFIX, SessionWatch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;

use crate::sys::ProcessHandle;

/// What is known of the hosts.
pub(crate) struct Hosts {
    directory: PathBuf,
    grace_ms: u64,
    state: State,
    /// Whether anybody was ever seen to host it.
    was_hosted: bool,
}

enum State {
    /// Nobody has hosted the session so far: a person's own shell, perhaps. It ends when that person says so.
    Unhosted,
    /// This one lives.
    Hosted(ProcessHandle),
    /// The last one is gone; the task ends then.
    Orphaned { ends_ms: u64 },
}

impl Hosts {
    pub(crate) fn new(watch: &SessionWatch) -> Self {
        let directory = Path::new(std::ffi::OsStr::from_bytes(watch.directory.as_bytes())).to_owned();
        Self { directory, grace_ms: watch.grace_ms, state: State::Unhosted, was_hosted: false }
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
            State::Hosted(host) if !is_dead(host) => false,
            State::Hosted(_) => {
                self.state = match find_living(&self.directory) {
                    Some(host) => State::Hosted(host),
                    None => State::Orphaned { ends_ms: now_ms.saturating_add(self.grace_ms) },
                };
                false
            }
            State::Orphaned { ends_ms } if now_ms < *ends_ms => false,
            State::Orphaned { .. } => !self.search(),
            State::Unhosted => false,
        }
    }

    /// Looks for a host where none is known; returns whether there is one.
    pub(crate) fn search(&mut self) -> bool {
        if let Some(host) = find_living(&self.directory) {
            self.state = State::Hosted(host);
        }
        matches!(self.state, State::Hosted(_))
    }

    /// Looks for a host; returns whether it is the first there ever was.
    pub(crate) fn search_first(&mut self) -> bool {
        self.search() && !std::mem::replace(&mut self.was_hosted, true)
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
            State::Hosted(host) => Some(host.as_fd()),
            State::Unhosted | State::Orphaned { .. } => None,
        }
    }
}

fn is_dead(host: &ProcessHandle) -> bool {
    let mut fds = [PollFd::new(host, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// Finds a host: a locked file that says which process it is.
fn find_living(directory: &Path) -> Option<ProcessHandle> {
    let entries = fs::read_dir(directory).ok()?;
    let holds = entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(HOST_PREFIX.as_bytes()));
    holds.into_iter().find_map(|hold| {
        let pid = fs::read_to_string(hold.path()).ok()?.trim().parse().ok()?;
        let host = ProcessHandle::open(pid)?;
        // The hold on the process first: while the file is locked, the process behind that is the one.
        is_locked(&hold.path()).then_some(host)
    })
}

fn is_locked(path: &Path) -> bool {
    File::open(path)
        .is_ok_and(|file| rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mw_model::RawText;
    use std::io::Write;

    fn hosts(directory: &Path) -> Hosts {
        let directory = RawText::from(directory.as_os_str().as_bytes());
        Hosts::new(&SessionWatch { directory, grace_ms: 100, hosted: false })
    }

    /// A hold by a process that ends when it is killed; the lock is ours.
    fn hold(directory: &Path, name: &str) -> (std::process::Child, File) {
        let child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut file = File::create(directory.join(format!("{HOST_PREFIX}{name}"))).unwrap();
        file.lock().unwrap();
        file.write_all(format!("{}\n", child.id()).as_bytes()).unwrap();
        (child, file)
    }

    fn end((mut child, file): (std::process::Child, File)) {
        drop(file);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_session_that_nobody_hosts_is_not_over() {
        let dir = tempfile::tempdir().unwrap();
        let mut hosts = hosts(dir.path());
        assert!(!hosts.search());
        assert!(!hosts.look(1_000_000));
        assert_eq!(hosts.due_ms(), None);
    }

    #[test]
    fn it_is_over_when_the_last_host_is_gone_and_the_grace_has_passed() {
        let dir = tempfile::tempdir().unwrap();
        let mut hosts = hosts(dir.path());
        let (one, two) = (hold(dir.path(), "a"), hold(dir.path(), "b"));
        assert!(hosts.search());
        end(one);
        assert!(!hosts.look(1000));
        assert_eq!(hosts.due_ms(), None, "another host lives");
        end(two);
        while hosts.due_ms().is_none() {
            assert!(!hosts.look(1000));
        }
        assert_eq!(hosts.due_ms(), Some(1100));
        assert!(!hosts.look(1099));
        assert!(hosts.look(1100));
    }

    #[test]
    fn a_successor_of_who_saw_a_host_waits_for_another_no_longer_than_the_grace() {
        let dir = tempfile::tempdir().unwrap();
        let directory = RawText::from(dir.path().as_os_str().as_bytes());
        let watch = SessionWatch { directory, grace_ms: 100, hosted: false };
        let mut alone = Hosts::of_hosted(&watch, 1000);
        assert!(!alone.search_first());
        assert!(!alone.look(1099));
        assert!(alone.look(1100));
        let host = hold(dir.path(), "a");
        let mut hosted = Hosts::of_hosted(&watch, 1000);
        assert!(!hosted.search_first(), "it is not the first");
        assert!(!hosted.look(1100));
        assert!(hosts(dir.path()).search_first());
        end(host);
    }

    #[test]
    fn a_host_that_dies_before_anybody_looks_ends_its_session_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let directory = RawText::from(dir.path().as_os_str().as_bytes());
        let watch = SessionWatch { directory, grace_ms: 100, hosted: true };
        let mut hosts = Hosts::at_start(&watch, 1000);
        assert!(!hosts.search_first());
        assert_eq!(hosts.due_ms(), Some(1100));
        assert!(!hosts.look(1099));
        assert!(hosts.look(1100));
        let host = hold(dir.path(), "a");
        let mut hosts = Hosts::at_start(&watch, 1000);
        assert!(hosts.search_first(), "the first that was seen");
        assert!(!hosts.look(1100));
        end(host);
    }

    #[test]
    fn a_host_that_comes_in_time_saves_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let mut hosts = hosts(dir.path());
        let first = hold(dir.path(), "a");
        assert!(hosts.search());
        end(first);
        while hosts.due_ms().is_none() {
            assert!(!hosts.look(1000));
        }
        let next = hold(dir.path(), "b");
        assert!(!hosts.look(1100));
        assert!(hosts.descriptor().is_some());
        end(next);
    }
}
