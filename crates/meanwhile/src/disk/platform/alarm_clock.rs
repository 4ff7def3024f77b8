//! Sleeping until a time of the system clock.

use std::io;
use std::os::fd::AsFd;

use mw_model::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// Sleeps until a time of the system clock, or until a descriptor has something to read. It also returns when the clock is
/// set. A suspended machine wakes up late, and this returns then.
pub(crate) fn sleep_until(until: Timestamp, descriptor: &impl AsFd) -> io::Result<()> {
    let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
    // A time of zero would switch the timer off.
    let micros = until.as_micros().max(1);
    let it_value = Timespec { tv_sec: micros / 1_000_000, tv_nsec: micros % 1_000_000 * 1000 };
    let never = Timespec { tv_sec: 0, tv_nsec: 0 };
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(&timer, flags, &Itimerspec { it_interval: never, it_value })?;
    let mut either = [PollFd::new(&timer, PollFlags::IN), PollFd::new(descriptor, PollFlags::IN)];
    poll(&mut either, None)?;
    Ok(())
}
