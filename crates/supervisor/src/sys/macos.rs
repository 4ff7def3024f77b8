//! macOS: written so that the crate compiles there; the tree is the process group, and adoption is
//! not possible.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

use mw_model::Exit;
use rustix::io::Errno;

use super::{Capabilities, Found};

/// Closes every descriptor above stderr.
pub(crate) fn close_inherited() {
    for fd in 3..256 {
        // SAFETY: nothing in this process owns such a descriptor yet.
        unsafe { libc::close(fd) };
    }
}

/// Nothing is known to help here.
pub(crate) fn give_back_memory() {}

/// Closes every descriptor above stderr but these. For a process that uses nothing else until it ends.
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) {
    // SAFETY: asks for a number.
    for fd in 3..unsafe { libc::getdtablesize() } {
        if !kept.iter().any(|kept| kept.as_raw_fd() == fd) {
            // SAFETY: the caller uses none of these, and never runs what would close them again.
            unsafe { libc::close(fd) };
        }
    }
}

/// Tells of ended children: a pipe that the signal handler writes to.
pub(crate) struct ChildEvents(OwnedFd);

static WRITE_END: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);

extern "C" fn on_signal(_: libc::c_int) {
    let byte = 0_u8;
    // SAFETY: write is async-signal-safe; the descriptor stays open for the life of the process.
    unsafe { libc::write(WRITE_END.load(std::sync::atomic::Ordering::Relaxed), (&raw const byte).cast(), 1) };
}

impl ChildEvents {
    pub(crate) fn new() -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe()?;
        for end in [&read, &write] {
            rustix::io::ioctl_fionbio(end, true)?;
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        WRITE_END.store(std::os::fd::IntoRawFd::into_raw_fd(write), std::sync::atomic::Ordering::Relaxed);
        // SAFETY: the handler only writes one byte to a pipe.
        unsafe {
            libc::signal(libc::SIGCHLD, on_signal as libc::sighandler_t);
            libc::signal(libc::SIGUSR1, on_signal as libc::sighandler_t);
            for signal in &super::BLOCKED[2..] {
                libc::signal(*signal, libc::SIG_IGN);
            }
        }
        Ok(Self(read))
    }

    pub(crate) fn clear(&self) {
        let mut buffer = [0; 256];
        while rustix::io::read(&self.0, &mut buffer).is_ok_and(|read| read == buffer.len()) {}
    }
}

impl AsFd for ChildEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Forks; there is nothing to hold the parent with, and there are no control groups.
pub(super) fn run_until_exec(act: &mut dyn FnMut(), _cgroup: Option<BorrowedFd<'_>>) -> libc::pid_t {
    // SAFETY: single-threaded; the child only calls async-signal-safe functions before exec.
    match unsafe { libc::fork() } {
        0 => {
            act();
            super::process::exit_at_once(127)
        }
        pid => pid,
    }
}

/// Gives every signal its default action.
pub(super) fn default_all_signals() {
    for signal in 1..32 {
        // SAFETY: SIG_DFL is valid for all; KILL and STOP fail harmlessly.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// There are no subreapers here: what loses its parent is found by its group only.
pub(crate) fn become_subreaper() {}

/// Bytes cannot be moved past our memory here; callers copy instead.
pub(crate) fn move_bytes(_from: impl AsFd, _to: impl AsFd, _most: usize) -> Result<usize, Errno> {
    Err(Errno::INVAL)
}

/// The same.
pub(crate) fn await_and_move_bytes(_from: impl AsFd, _to: impl AsFd, _most: usize) -> Result<usize, Errno> {
    Err(Errno::INVAL)
}

/// Nobody tells how many bytes a pipe holds at most.
pub(crate) fn pipe_size(_pipe: impl AsFd) -> usize {
    0
}

/// Cannot put bytes of one pipe into another as well.
pub(crate) fn share_bytes(_from: impl AsFd, _with: impl AsFd, _most: usize) -> Result<usize, Errno> {
    Err(Errno::INVAL)
}

/// Makes a pipe.
pub(crate) fn new_pipe(_size: usize) -> io::Result<(OwnedFd, OwnedFd)> {
    let ends = rustix::pipe::pipe()?;
    for end in [&ends.0, &ends.1] {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(ends)
}

/// Makes a named pipe for its owner only.
pub(crate) fn make_fifo(name: &str) -> io::Result<()> {
    let name = std::ffi::CString::new(name).map_err(io::Error::other)?;
    // SAFETY: a valid, terminated string.
    match unsafe { libc::mkfifo(name.as_ptr(), 0o600) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The user at the other end of a socket.
pub(crate) fn peer_uid(stream: &UnixStream) -> Option<u32> {
    let (mut uid, mut gid) = (0, 0);
    // SAFETY: both pointers are valid for the call.
    let known = unsafe { libc::getpeereid(stream.as_raw_fd(), &raw mut uid, &raw mut gid) } == 0;
    known.then_some(uid)
}

/// A process by its pid; there is nothing better here.
pub(crate) struct ProcessHandle {
    pid: libc::pid_t,
    /// Never readable: the end of the process is found by looking.
    silent: (OwnedFd, OwnedFd),
}

impl ProcessHandle {
    pub(crate) fn open(pid: u32) -> Option<Self> {
        Self::find(pid).ok().flatten()
    }

    /// The same for those who tell a process that is gone from one that cannot be held now.
    pub(crate) fn find(pid: u32) -> io::Result<Option<Self>> {
        let Ok(pid) = libc::pid_t::try_from(pid) else { return Ok(None) };
        Ok(Some(Self { pid, silent: new_pipe(0)? }))
    }

    /// Sends a signal; tells whether the process was there to get it.
    pub(crate) fn signal(&self, number: i32) -> bool {
        // SAFETY: kill has no memory preconditions.
        unsafe { libc::kill(self.pid, number) == 0 }
    }
}

impl AsFd for ProcessHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.silent.0.as_fd()
    }
}

pub(super) fn ps(pid: Option<u32>, format: &str) -> String {
    let mut command = Command::new("/bin/ps");
    match pid {
        Some(pid) => command.args(["-o", format, "-p", &pid.to_string()]),
        None => command.args(["-A", "-o", format]),
    };
    command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Identity of this boot.
pub(crate) fn boot_id() -> io::Result<String> {
    Ok(ps(Some(1), "lstart=").trim().to_owned())
}

/// Tells whether a process was stopped by a signal; not known here.
pub(crate) const fn is_stopped(_pid: u32) -> bool {
    false
}

/// Start time of a living process; here a hash of what `ps` prints.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    let text = ps(Some(pid), "lstart=");
    let text = text.trim();
    (!text.is_empty())
        .then(|| text.bytes().fold(17, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(byte.into())))
}

/// The same: what `ps` cannot look at is not told from what is dead.
pub(crate) fn find_start_ticks(pid: u32) -> io::Result<Option<u64>> {
    Ok(start_ticks(pid))
}

/// Living descendants of a process.
pub(crate) fn descendants(root: u32) -> Found {
    let table = ps(None, "pid=,ppid=");
    let pairs: Vec<(u32, u32)> = table
        .lines()
        .filter_map(|line| {
            let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
            Some((numbers.next()?, numbers.next()?))
        })
        .collect();
    let mut found = BTreeMap::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for (pid, _) in pairs.iter().filter(|(_, ppid)| *ppid == parent) {
            if found.insert(*pid, start_ticks(*pid).unwrap_or(0)).is_none() {
                open.push(*pid);
            }
        }
    }
    Found { processes: found, is_whole: true }
}

/// Names are not looked at here.
pub(crate) const fn is_supervisor(_pid: u32) -> bool {
    false
}

/// Names are not looked at here.
pub(crate) const fn was_ours(_pid: u32) -> bool {
    false
}

/// The environment of others cannot be read here.
pub(crate) const fn tagged_processes(_entry: &str, _first: u64) -> Found {
    Found { processes: BTreeMap::new(), is_whole: true }
}

/// Pipes cannot be opened once more here, so the command gets a plain writing end; when both of its
/// watchers are killed, its next write fails.
pub(crate) fn reopen_read_write(_pipe: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Descriptors of others cannot be opened here.
pub(crate) fn find_pipe(
    _inode: u64,
    _holders: impl IntoIterator<Item = u32>,
) -> io::Result<Option<(OwnedFd, OwnedFd)>> {
    Ok(None)
}

/// A process's command line for people, shortened.
pub(crate) fn process_command(pid: u32) -> String {
    ps(Some(pid), "command=").trim().chars().take(80).collect()
}

/// Not possible here.
pub(crate) fn exit_of_foreign(_pidfd: BorrowedFd<'_>) -> Option<Exit> {
    None
}

/// Tries what a supervisor would like to rely on; none of it is here.
pub(crate) const fn capabilities() -> Capabilities {
    Capabilities { pidfd: false, subreaper: false, exit_of_others: false }
}

/// Tells whether every child of this thread is dead; never known here.
pub(crate) const fn are_children_dead() -> bool {
    false
}
