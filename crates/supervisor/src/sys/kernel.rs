//! Calls of the Linux kernel: signalfd, clone, splice.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use rustix::process::Pid;

use crate::boot::descriptors::{is_file_shortage, with_enough};
use crate::small_file;

/// Signals that a supervisor blocks; [`ChildEvents`] reports the first two.
pub(super) const BLOCKED: [libc::c_int; 8] = [
    libc::SIGCHLD,
    libc::SIGUSR1,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGQUIT,
    libc::SIGXFSZ,
    libc::SIGXCPU,
];

/// Closes every descriptor above stderr that the starter left open.
pub(crate) fn close_inherited() {
    // SAFETY: nothing in this process owns such a descriptor yet.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

/// Returns unused stack, heap and code to the kernel, for a process that will sleep for hours.
pub fn give_back_memory() {
    give_back_code();
    // `black_box` prevents inlining: inside its caller it would work on the caller's stack frame.
    let give_back_stack: fn() = std::hint::black_box(give_back_stack);
    give_back_stack();
    #[cfg(target_env = "gnu")]
    // SAFETY: no preconditions.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Unmaps the code. What is executed again is read from the page cache: only a small part of it until the task ends.
fn give_back_code() {
    advise_on_code(libc::MADV_DONTNEED);
}

/// Maps the code again, for a process that must react fast: each page that is missing then takes about a microsecond.
pub(crate) fn take_back_code() {
    advise_on_code(libc::MADV_POPULATE_READ);
}

fn advise_on_code(advice: libc::c_int) {
    const PAGE: usize = 4 << 10;
    unsafe extern "C" {
        static __executable_start: u8;
        static etext: u8;
    }
    let (from, to) = ((&raw const __executable_start) as usize, (&raw const etext) as usize);
    let (from, to) = (from.next_multiple_of(PAGE), to & !(PAGE - 1));
    if from < to {
        // SAFETY: the linker defines both symbols. Between them there is only code and what the linker wrote, which nothing
        // has changed in memory, so it can be read from the file again.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, advice) };
    }
}

/// Returns the stack below the frame of this function.
fn give_back_stack() {
    const PAGE: usize = 4 << 10;
    /// More than our calls use, and less than the system reserves below us.
    const DEPTH: usize = 64 << 10;
    let here = 0_u8;
    let kept = (&raw const here as usize & !(PAGE - 1)) - PAGE;
    // SAFETY: a page is kept for this function and the call it makes; the stack below holds nothing that is read before
    // it is written again.
    unsafe { libc::madvise((kept - DEPTH) as *mut libc::c_void, DEPTH, libc::MADV_DONTNEED) };
}

/// Closes every descriptor above stderr except these, for a process that uses nothing else.
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) {
    let mut kept: Vec<_> = kept.iter().map(|fd| fd.as_raw_fd() as libc::c_uint).collect();
    kept.sort_unstable();
    let mut from = 3;
    for fd in kept.into_iter().filter(|fd| *fd >= 3).chain([libc::c_uint::MAX]) {
        if from < fd {
            // SAFETY: the caller uses none of these, and never runs what would close them again.
            unsafe { libc::syscall(libc::SYS_close_range, from, fd - 1, 0) };
        }
        from = fd.saturating_add(1);
    }
}

/// Reports ended children and wake-ups of the guardian, as a descriptor to poll.
///
/// Other signals that a terminal or a host may send are blocked, because they are meant for the host. So are the
/// signals of limits on files and CPU time, so that a refused write is an error.
pub(crate) struct ChildEvents(OwnedFd);

impl ChildEvents {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the set is initialised by sigemptyset before use; signalfd's result is checked
        // before it becomes an owned descriptor.
        unsafe {
            // Undoes an inherited SIG_IGN.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
            libc::sigemptyset(set.as_mut_ptr());
            for signal in BLOCKED {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            if libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), ptr::null_mut()) < 0 {
                return Err(io::Error::last_os_error());
            }
            let fd = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// Discards the signals that are pending.
    pub(crate) fn clear(&self) {
        let mut buffer = [0; 128 * 8];
        while rustix::io::read(&self.0, &mut buffer).is_ok_and(|read| read == buffer.len()) {}
    }
}

impl AsFd for ChildEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Runs a function in a new process and waits until that has executed a program or ended.
///
/// Without a control group both processes share memory meanwhile, so that the kernel copies no tables. With one, the
/// child starts in the group, which needs an ordinary fork.
pub(super) fn run_until_exec(act: &mut dyn FnMut(), cgroup: Option<BorrowedFd<'_>>) -> libc::pid_t {
    if let Some(cgroup) = cgroup {
        match fork_into(cgroup, libc::CLONE_VFORK) {
            0 => {
                act();
                super::process::exit_at_once(127)
            }
            -1 => {}
            pid => return pid,
        }
    }
    let mut act = act;
    // Not zeroed: untouched pages cost nothing.
    let mut stack = [MaybeUninit::<u128>::uninit(); STACK_WORDS];
    // SAFETY: the end of the array is the top of a stack that only the child uses. The parent is held, so
    // everything the child borrows stays as it is until the child has other memory or is gone.
    unsafe {
        libc::clone(
            run_borrowed,
            stack.as_mut_ptr().add(STACK_WORDS).cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            ptr::from_mut(&mut act).cast(),
        )
    }
}

/// 16 KiB, because the child only makes a few system calls.
const STACK_WORDS: usize = 1024;

/// The start function of a child that shares our memory.
extern "C" fn run_borrowed(act: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `run_until_exec` passes a pointer to this, and waits.
    let act = unsafe { &mut *act.cast::<&mut dyn FnMut()>() };
    act();
    super::process::exit_at_once(127)
}

/// Forks into a control group. With `CLONE_VFORK` among the flags, waits until the child has executed a program or ended.
pub(super) fn fork_into(cgroup: BorrowedFd<'_>, flags: libc::c_int) -> libc::pid_t {
    const CLONE_INTO_CGROUP: u64 = 1 << 33;
    let mut arguments = [0_u64; 11];
    arguments[0] = flags as u64 | CLONE_INTO_CGROUP;
    arguments[4] = libc::SIGCHLD as u64;
    arguments[10] = cgroup.as_raw_fd() as u64;
    // SAFETY: eleven words as in the kernel's clone_args: flags first, the exit signal at 4, the group's
    // descriptor at 10; without CLONE_VM and without a stack this is a fork.
    unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) as libc::pid_t }
}

/// Restores the default action of every signal, including the two that the C library reserves.
pub(super) fn default_all_signals() {
    const LAST_SIGNAL: i32 = 64;
    let default_action = [0_u64; 4];
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: an all-zero kernel sigaction means the default; KILL and STOP fail harmlessly.
        unsafe {
            libc::syscall(libc::SYS_rt_sigaction, signal, default_action.as_ptr(), ptr::null::<u64>(), 8)
        };
    }
}

/// Makes this process the parent of every descendant whose parent ends.
pub(crate) fn become_subreaper() {
    // Any pid means this process.
    let _ = rustix::process::set_child_subreaper(Some(Pid::INIT));
}

/// Moves bytes from a pipe to a file or another pipe, without copying them through our memory.
pub(crate) fn move_bytes(from: impl AsFd, to: impl AsFd, most: usize) -> Result<usize, Errno> {
    splice(from, None, to, None, most, SpliceFlags::NONBLOCK | SpliceFlags::MOVE)
}

/// Creates a pipe of this size, if the kernel allows it.
pub(crate) fn new_pipe(size: usize) -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    // Best effort: the pipe memory of a user is limited.
    let _ = fcntl_setpipe_size(&read, size);
    Ok((read, write))
}

/// Creates a named pipe for its owner only.
pub(crate) fn make_fifo(name: &str) -> io::Result<()> {
    Ok(rustix::fs::mkfifoat(rustix::fs::CWD, name, Mode::RUSR | Mode::WUSR)?)
}

/// Returns the user at the other end of a socket.
pub(crate) fn peer_uid(stream: &UnixStream) -> Option<u32> {
    rustix::net::sockopt::socket_peercred(stream).ok().map(|peer| peer.uid.as_raw())
}

/// Returns the identity of this boot.
pub(crate) fn boot_id() -> io::Result<String> {
    Ok(small_file::read("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Opens a pipe again for both directions: its holder is also a reader, so a write never raises SIGPIPE.
pub(crate) fn reopen_read_write(pipe: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    Ok(rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Finds a pipe among the descriptors of other processes; returns a reading and a writing end.
pub(crate) fn find_pipe(
    inode: u64,
    holders: impl IntoIterator<Item = u32>,
) -> io::Result<Option<(OwnedFd, OwnedFd)>> {
    let wanted = format!("pipe:[{inode}]");
    for pid in holders {
        let descriptors = match with_enough(|| fs::read_dir(format!("/proc/{pid}/fd"))) {
            Ok(descriptors) => descriptors,
            Err(error) if is_file_shortage(&error) => return Err(error),
            // The process is gone or belongs to another user.
            Err(_) => continue,
        };
        for entry in descriptors.flatten() {
            let path = entry.path();
            if fs::read_link(&path).is_ok_and(|target| target.as_os_str() == wanted.as_str()) {
                let open = |flags| {
                    with_enough(|| Ok(rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty())?))
                };
                match (open(OFlags::RDONLY | OFlags::NONBLOCK), open(OFlags::WRONLY | OFlags::NONBLOCK)) {
                    (Ok(read), Ok(write)) => return Ok(Some((read, write))),
                    (Err(error), _) | (_, Err(error)) if is_file_shortage(&error) => return Err(error),
                    // The descriptor was closed in between.
                    (Err(_), _) | (_, Err(_)) => {}
                }
            }
        }
    }
    Ok(None)
}
