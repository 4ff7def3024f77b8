//! Waiting for descriptors.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Waits until a descriptor has something to read, for at most this long. Returns whether one has.
pub(crate) fn poll_within(descriptors: &mut [PollFd<'_>], longest: Duration) -> bool {
    let timeout = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
    poll(descriptors, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// The same for one descriptor.
pub(crate) fn is_readable_within(descriptor: &impl AsFd, longest: Duration) -> bool {
    poll_within(&mut [PollFd::new(descriptor, PollFlags::IN)], longest)
}

/// Sleeps until a connection has something to read, or a process has ended. A process that cannot be watched is ignored.
pub(crate) fn sleep_until_end(connection: &impl AsFd, pid: u32) {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let mut either = vec![PollFd::new(connection, PollFlags::IN)];
    either.extend(process.iter().map(|process| PollFd::new(process, PollFlags::IN)));
    let _ = poll(&mut either, None);
}

/// Waits awake until a connection has something to read: to sleep and to wake up again would take longer. Returns if it takes
/// unusually long.
pub(crate) fn stay_awake_for(connection: &impl AsFd) {
    const USUAL: Duration = Duration::from_millis(1);
    let until = Instant::now() + USUAL;
    while !is_readable_within(connection, Duration::ZERO) && Instant::now() < until {
        // The process that answers may need this CPU.
        rustix::thread::sched_yield();
    }
}
