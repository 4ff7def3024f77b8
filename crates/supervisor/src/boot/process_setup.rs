//! What a program does first.

use std::mem;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};

use crate::sys;

/// Makes writing safe: a broken pipe is an error to be handled, and what is opened later is never taken for a
/// standard stream.
pub fn set_up_process() {
    sys::ignore_broken_pipes();
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    let mut asked = streams.each_ref().map(|stream| PollFd::new(stream, PollFlags::empty()));
    if poll(&mut asked, Some(&Timespec::default())).is_ok_and(|closed| closed > 0) {
        for _ in asked.iter().filter(|stream| stream.revents().contains(PollFlags::NVAL)) {
            // It gets the lowest number that is free.
            if let Ok(nothing) = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()) {
                mem::forget(nothing);
            }
        }
    }
}
