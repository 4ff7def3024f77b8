//! The process at the other end of a connection.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerPidfd;
use rustix::event::PollFlags;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use super::connection::is_ready;

/// A process of this user that has connected. What is read about its id while it is alive is about this process.
pub(super) struct Peer {
    process: OwnedFd,
    pid: u32,
}

impl Peer {
    /// Returns the process that has connected, unless it has ended or belongs to another user.
    pub(super) fn of(stream: &UnixStream) -> Option<Self> {
        let peer = socket_peercred(stream).ok().filter(|peer| peer.uid == geteuid())?;
        match getsockopt(stream, PeerPidfd) {
            Ok(process) => {
                let pid = pid_of(&process)?;
                Some(Self { process, pid })
            }
            // Before Linux 6.5 only the id is known. If the process has ended already, another one may have it now.
            Err(Errno::ENOPROTOOPT) => Self::with_id(peer.pid),
            Err(_) => None,
        }
    }

    fn with_id(pid: Pid) -> Option<Self> {
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        Some(Self { process, pid: u32::try_from(pid.as_raw_nonzero().get()).ok()? })
    }

    pub(super) const fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn is_alive(&self) -> bool {
        !is_ready(&self.process, PollFlags::IN)
    }
}

/// Returns the id of a process; `None` if it has ended, or has no id here.
fn pid_of(process: &OwnedFd) -> Option<u32> {
    let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", process.as_raw_fd())).ok()?;
    let pid: i64 = about.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
    u32::try_from(pid).ok().filter(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::process::{Child, Command};

    use mw_testkit::{Need, need_program, need_root, skip};

    use super::*;

    /// Connects to a socket and stays until it is ended.
    fn caller(socket: &Path) -> Child {
        let program = "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); time.sleep(600)";
        Command::new("python3").args(["-c", program]).arg(socket).spawn().unwrap()
    }

    fn end(mut process: Child) {
        process.kill().unwrap();
        process.wait().unwrap();
    }

    #[test]
    fn the_process_that_has_connected_is_found_until_it_ends() {
        need_program("python3");
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let process = caller(&socket);
        let (stream, _) = listener.accept().unwrap();
        let peer = Peer::of(&stream).unwrap();
        assert_eq!((peer.pid(), peer.is_alive()), (process.id(), true));
        let by_id = Peer::with_id(socket_peercred(&stream).unwrap().pid).unwrap();
        assert_eq!((by_id.pid(), by_id.is_alive()), (process.id(), true));
        end(process);
        assert!(!peer.is_alive() && !by_id.is_alive());
        assert!(Peer::of(&stream).is_none());
    }

    /// Whoever gets the id of a caller that has ended would otherwise lend it its task.
    #[test]
    fn another_process_with_the_id_of_an_ended_caller_is_not_taken_for_it() {
        const NEXT: &str = "/proc/sys/kernel/ns_last_pid";
        need_root();
        need_program("python3");
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        for _ in 0..100 {
            let process = caller(&socket);
            let (stream, _) = listener.accept().unwrap();
            let pid = process.id();
            end(process);
            if fs::write(NEXT, (pid - 1).to_string()).is_err() {
                skip(Need::Root, "the next process id cannot be chosen");
            }
            let other = Command::new("sleep").arg("600").spawn().unwrap();
            let has_its_id = other.id() == pid;
            let found = Peer::of(&stream).map(|peer| peer.pid());
            end(other);
            if has_its_id {
                assert_eq!(found, None);
                return;
            }
        }
        panic!("no process got the id of another one");
    }
}
