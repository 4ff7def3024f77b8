//! Waiting for descriptors.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Waits until a descriptor has something to read, for at most this long. Returns whether one has.
pub(crate) fn poll_within(descriptors: &mut [PollFd<'_>], longest: Duration) -> bool {
    let timeout = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
    poll(descriptors, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// The same for one descriptor.
pub(crate) fn is_readable_within(descriptor: &impl AsFd, longest: Duration) -> bool {
    poll_within(&mut [PollFd::new(descriptor, PollFlags::IN)], longest)
}
