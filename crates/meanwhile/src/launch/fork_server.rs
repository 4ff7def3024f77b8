//! Where supervisors come from when one process starts many tasks.
//!
//! The first is executed; from the second on, a process that was executed once forks them (`mw-supervisor nursery`). It
//! is no child of ours, and ends when we do.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};

static NURSERY: Mutex<Nursery> = Mutex::new(Nursery::Unused);

enum Nursery {
    /// Nothing was started so far. Most programs start one task.
    Unused,
    /// The next start is worth one.
    Due,
    Open {
        program: PathBuf,
        requests: OwnedFd,
    },
    /// This system or this supervisor has none.
    Impossible,
}

/// Returns the line of a new supervisor; nothing when one has to be executed.
pub(crate) fn bear(program: &Path, run: u32) -> Option<UnixStream> {
    let mut nursery = NURSERY.lock().unwrap_or_else(PoisonError::into_inner);
    match &*nursery {
        Nursery::Unused => {
            *nursery = Nursery::Due;
            None
        }
        Nursery::Impossible => None,
        Nursery::Open { program: open, requests } if open == program => {
            // One that was killed is replaced.
            request(requests, run).or_else(|| open_and_request(&mut nursery, program, run))
        }
        Nursery::Due | Nursery::Open { .. } => open_and_request(&mut nursery, program, run),
    }
}

fn open_and_request(nursery: &mut Nursery, program: &Path, run: u32) -> Option<UnixStream> {
    *nursery = match open(program) {
        Some(requests) => Nursery::Open { program: program.to_owned(), requests },
        None => Nursery::Impossible,
    };
    match nursery {
        Nursery::Open { requests, .. } => request(requests, run),
        Nursery::Unused | Nursery::Due | Nursery::Impossible => None,
    }
}

fn open(program: &Path) -> Option<OwnedFd> {
    // A message is a request: none is read in part.
    let (ours, its) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).ok()?;
    let mut command = Command::new(program);
    command.arg("nursery").stdin(its).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().ok()?.success().then_some(ours)
}

fn request(requests: &OwnedFd, run: u32) -> Option<UnixStream> {
    let (line, its_end) = UnixStream::pair().ok()?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let passed = [its_end.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&passed));
    sendmsg(requests, &[IoSlice::new(&run.to_le_bytes())], &mut ancillary, SendFlags::NOSIGNAL).ok()?;
    Some(line)
}
