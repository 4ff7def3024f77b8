//! Runs a command in a process namespace of its own, so that the kernel ends all its processes with the first one.
//!
//! ```text
//! supervisor ─▶ stand-in ─▶ init ─▶ command
//!               outside     inside: 1, 2, …
//! ```
//!
//! The stand-in is the task's first process for everybody outside, and ends as the command ended. The init reaps orphans and
//! ends when the command has ended, and then the kernel kills what is left. If either is killed, so is everything inside.

use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::ptr;

use mw_model::wire::Enforcer;
use rustix::pipe::{PipeFlags, pipe_with};

use super::arguments::rename_process;
use super::board::{Board, SpawnStep};
use super::confine::enter_pids;
use super::kernel::fork_into;
use super::process::{Fork, exit_at_once, fork, last_errno};

/// What the stand-in and the init are called. They are processes of the task, and not supervisors.
const NAME: &str = "mw-sandbox";
/// Runs a function in a new process namespace, and waits until it has executed a program or ended. Returns the pid of the
/// stand-in, or -1.
pub(super) fn run_until_exec(
    act: &dyn Fn(),
    begin: &dyn Fn(),
    board: Board,
    cgroup: Option<BorrowedFd<'_>>,
) -> libc::pid_t {
    let Ok((read, write)) = pipe_with(PipeFlags::CLOEXEC) else { return -1 };
    let pid = match cgroup.map_or(-1, |cgroup| fork_into(cgroup, 0)) {
        -1 => match fork() {
            Ok(Fork::Child) => 0,
            Ok(Fork::Parent(pid)) => pid as libc::pid_t,
            Err(_) => -1,
        },
        pid => pid,
    };
    if pid == 0 {
        rename_process(NAME);
        begin();
        stand_in(act, board);
    }
    drop(write);
    if pid > 0 {
        // It ends when the last copy of the other end is closed: by the execution, or by the end of all three.
        while matches!(rustix::io::read(&read, &mut [0]), Err(rustix::io::Errno::INTR)) {}
    }
    pid
}

/// Waits for the init, and ends as the command has ended.
fn stand_in(act: &dyn Fn(), board: Board) -> ! {
    block_signals();
    if let Err(errno) = enter_pids() {
        fail(board, errno);
    }
    match fork() {
        Ok(Fork::Child) => init(act, board),
        Ok(Fork::Parent(init)) => {
            close_everything();
            let own = wait_for(init as libc::pid_t);
            end_as(board.wait_status().unwrap_or(own))
        }
        Err(_) => fail(board, last_errno()),
    }
}

/// The first process of the namespace. The kernel delivers no signal to it that it does not handle, except SIGKILL and SIGSTOP
/// from outside.
fn init(act: &dyn Fn(), board: Board) -> ! {
    // SAFETY: plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    match fork() {
        Ok(Fork::Child) => {
            act();
            exit_at_once(127)
        }
        Ok(Fork::Parent(command)) => {
            close_everything();
            board.set_wait_status(wait_for(command as libc::pid_t));
            exit_at_once(0)
        }
        Err(_) => fail(board, last_errno()),
    }
}

fn fail(board: Board, errno: i32) -> ! {
    board.set_spawn_failure(SpawnStep::Confine(Enforcer::Pids), errno);
    exit_at_once(127)
}

/// Reaps all children until this one has ended; returns its wait status.
fn wait_for(child: libc::pid_t) -> i32 {
    loop {
        let mut status = 0;
        // SAFETY: the status is valid for writing.
        match unsafe { libc::waitpid(-1, &raw mut status, 0) } {
            ended if ended == child => return status,
            -1 if last_errno() != libc::EINTR => return libc::SIGKILL,
            _ => {}
        }
    }
}

/// Ends this process with a wait status.
fn end_as(status: i32) -> ! {
    if libc::WIFEXITED(status) {
        exit_at_once(libc::WEXITSTATUS(status));
    }
    let signal = libc::WTERMSIG(status);
    // SAFETY: plain numbers, and a set that is initialised before it is used. The process is not dumped.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
        let mut only = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigemptyset(only.as_mut_ptr());
        libc::sigaddset(only.as_mut_ptr(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, only.as_ptr(), ptr::null_mut());
    }
    exit_at_once(128 + signal)
}

/// A signal for the whole tree is for the command.
fn block_signals() {
    // SAFETY: the set is initialised by sigfillset.
    unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), ptr::null_mut());
    }
}

/// Closes the command's streams and what the supervisor has open, whose ends others wait for.
fn close_everything() {
    // SAFETY: nothing that is left to do in this process uses a descriptor.
    unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) };
}
