//! Processes held by a descriptor, and the exit of a process that is not a child.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use mw_model::{Exit, Process};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::kernel::become_subreaper;
use crate::boot::descriptors::{is_shortage, with_enough};

/// Optional features of the system.
pub(crate) struct KernelFeatures {
    /// Processes can be held by a descriptor.
    pub(crate) pidfd: bool,
    /// Orphans of a task become children of its supervisor.
    pub(crate) subreaper: bool,
    /// The exit code of a process that is not our child can be read.
    pub(crate) exit_of_others: bool,
}

/// A process held by a descriptor, which keeps its meaning when the pid is reused.
pub(crate) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    pub(crate) fn open(pid: u32) -> Option<Self> {
        Self::find(pid).ok().flatten()
    }

    /// Opens a process; nothing if it is gone, and an error if that cannot be checked now.
    pub(crate) fn find(pid: u32) -> io::Result<Option<Self>> {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        match with_enough(|| Ok(pidfd_open(pid, PidfdFlags::empty())?)) {
            Ok(held) => Ok(Some(Self(held))),
            Err(error) if is_shortage(&error) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Sends a signal; returns whether the process existed.
    pub(crate) fn signal(&self, number: i32) -> bool {
        Signal::from_named_raw(number).is_some_and(|signal| pidfd_send_signal(&self.0, signal).is_ok())
    }
}

impl AsFd for ProcessHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Checks what the system offers.
pub(crate) fn capabilities() -> KernelFeatures {
    become_subreaper();
    let subreaper = rustix::process::child_subreaper().is_ok_and(|pid| pid.is_some());
    let mut found = KernelFeatures { pidfd: false, subreaper, exit_of_others: false };
    match super::fork() {
        Ok(super::Fork::Child) => super::exit_at_once(0),
        Ok(super::Fork::Parent(child)) => {
            let pid = Pid::from_raw(child as i32);
            let pidfd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            let _ = super::reap(child);
            found.pidfd = pidfd.is_some();
            let process = Process { pid: child, start_ticks: 0, boot_id: String::new() };
            found.exit_of_others =
                pidfd.is_some_and(|pidfd| exit_of_foreign(pidfd.as_fd(), &process).is_some());
        }
        Err(_) => {}
    }
    found
}

/// Returns how a process that is not our child has ended; needs Linux 6.15. Its pidfd has the exit code after its
/// parent has reaped it; until then the process table has it.
pub(crate) fn exit_of_foreign(pidfd: BorrowedFd<'_>, process: &Process) -> Option<Exit> {
    const PIDFD_INFO_EXIT: u64 = 1 << 3;

    #[repr(C)]
    #[derive(Default)]
    struct PidfdInfo {
        mask: u64,
        cgroup_id: u64,
        ids: [u32; 11],
        exit_code: i32,
    }
    // _IOWR(0xFF, 11, struct pidfd_info): direction 3, size in bits 16 to 29.
    const PIDFD_GET_INFO: u64 = (3 << 30) | ((size_of::<PidfdInfo>() as u64) << 16) | (0xFF << 8) | 11;

    let mut info = PidfdInfo { mask: PIDFD_INFO_EXIT, ..PidfdInfo::default() };
    // SAFETY: the request encodes the size of the struct it points to, which outlives the call.
    let failed = unsafe { libc::ioctl(pidfd.as_raw_fd(), PIDFD_GET_INFO as libc::Ioctl, &raw mut info) } < 0;
    if failed {
        return None;
    }
    let is_told = info.mask & PIDFD_INFO_EXIT != 0;
    let status = if is_told { info.exit_code } else { super::status_of_zombie(process)? };
    Some(if libc::WIFEXITED(status) {
        Exit::Code(libc::WEXITSTATUS(status))
    } else {
        Exit::Signal { number: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) }
    })
}
