//! Waiting for children.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use mw_model::Exit;

use super::process::last_errno;

/// The state of the children.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WaitResult {
    /// This child has ended and is not reaped yet.
    Ended(u32, Exit),
    /// There are children, none has ended.
    NoneYet,
    /// There are no children.
    NoChildren,
}

/// Checks for an ended child, or one particular child, without reaping it.
pub(crate) fn look_at_exit(pid: Option<u32>) -> WaitResult {
    let (kind, id) = pid.map_or((libc::P_ALL, 0), |pid| (libc::P_PID, pid));
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: info is zeroed and large enough; waitid fills it in.
        let failed = unsafe { libc::waitid(kind, id, info.as_mut_ptr(), flags) } < 0;
        if failed {
            match last_errno() {
                libc::EINTR => continue,
                _ => return WaitResult::NoChildren,
            }
        }
        // SAFETY: waitid succeeded, so info is initialised (zeroed when nothing has ended).
        let (pid, status, code) = unsafe {
            let info = info.assume_init();
            (info.si_pid(), info.si_status(), info.si_code)
        };
        if pid == 0 {
            return WaitResult::NoneYet;
        }
        let exit = match code {
            libc::CLD_EXITED => Exit::Code(status),
            code => Exit::Signal { number: status, core: code == libc::CLD_DUMPED },
        };
        return WaitResult::Ended(pid as u32, exit);
    }
}

/// Reaps a child, and waits for its end if necessary; returns the CPU time, in microseconds, of the child and of all
/// descendants that it has waited for.
pub(crate) fn reap(pid: u32) -> io::Result<u64> {
    loop {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: a null status pointer is allowed; the usage is zeroed, which is valid for it, and large enough.
        let (reaped, usage) = unsafe {
            let reaped = libc::wait4(pid as i32, ptr::null_mut(), 0, usage.as_mut_ptr());
            (reaped, usage.assume_init())
        };
        if reaped >= 0 {
            let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
            return Ok(us(usage.ru_utime) + us(usage.ru_stime));
        }
        match last_errno() {
            libc::EINTR => {}
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
    }
}
