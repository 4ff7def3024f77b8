//! The first steps of every executable.

use std::mem;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};

use crate::sys;

/// Turns a broken pipe into an error, and opens closed standard streams on `/dev/null`, so that no file opened later
/// becomes one of them.
pub fn set_up_process() {
    sys::ignore_broken_pipes();
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    let mut asked = streams.each_ref().map(|stream| PollFd::new(stream, PollFlags::empty()));
    if poll(&mut asked, Some(&Timespec::default())).is_ok_and(|closed| closed > 0) {
        for _ in asked.iter().filter(|stream| stream.revents().contains(PollFlags::NVAL)) {
            // A new descriptor gets the lowest free number.
            if let Ok(nothing) = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()) {
                mem::forget(nothing);
            }
        }
    }
}
