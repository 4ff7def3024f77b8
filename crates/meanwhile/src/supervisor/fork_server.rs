//! The fork server, which creates supervisors for a process that starts many tasks.
//!
//! The first supervisor is executed. From the second on, `mw-supervisor fork-server` is executed once and forks a
//! supervisor for each request. The fork server is not a child of this process, but ends with it.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::process::send;

static FORK_SERVER: Mutex<ForkServer> = Mutex::new(ForkServer::Unused);

enum ForkServer {
    /// This process has started no task yet. Most programs start only one.
    Unused,
    /// The next start opens it.
    Due,
    /// It accepts requests.
    Open { program: PathBuf, requests: OwnedFd },
    /// It could not be opened. Supervisors are executed instead.
    Impossible,
}

/// Forks a supervisor and returns the connection to it; `None` if the supervisor has to be executed.
pub(crate) fn fork_supervisor(program: &Path, run: u32) -> Option<UnixStream> {
    let mut server = FORK_SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    match &*server {
        ForkServer::Unused => {
            *server = ForkServer::Due;
            None
        }
        ForkServer::Impossible => None,
        ForkServer::Open { program: open, requests } if open == program => {
            // A fork server that was killed is replaced.
            request(requests, run).or_else(|| open_and_request(&mut server, program, run))
        }
        ForkServer::Due | ForkServer::Open { .. } => open_and_request(&mut server, program, run),
    }
}

fn open_and_request(server: &mut ForkServer, program: &Path, run: u32) -> Option<UnixStream> {
    *server = match open(program) {
        Some(requests) => ForkServer::Open { program: program.to_owned(), requests },
        None => ForkServer::Impossible,
    };
    match server {
        ForkServer::Open { requests, .. } => request(requests, run),
        ForkServer::Unused | ForkServer::Due | ForkServer::Impossible => None,
    }
}

fn open(program: &Path) -> Option<OwnedFd> {
    // Packets keep requests apart: each message is one request.
    let (ours, its) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).ok()?;
    let mut command = Command::new(program);
    command.arg("fork-server").stdin(its).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().ok()?.success().then_some(ours)
}

fn request(requests: &OwnedFd, run: u32) -> Option<UnixStream> {
    let (line, its_end) = UnixStream::pair().ok()?;
    send(requests, &run.to_le_bytes(), &[its_end.as_fd()]).ok()?;
    Some(line)
}
