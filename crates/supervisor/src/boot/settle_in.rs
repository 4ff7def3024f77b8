//! What a program does first.

use std::ffi::OsString;
use std::mem;
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};

use crate::sys;

/// The arguments, where the entry point is our own. Not every C library tells the standard library about them then.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Returns the arguments of this process, its own name first.
#[must_use]
pub fn arguments() -> Vec<OsString> {
    ARGUMENTS.get().cloned().unwrap_or_else(|| std::env::args_os().collect())
}

/// Keeps the arguments, and makes writing safe: a broken pipe is an error to be handled, and what is opened later is
/// never taken for a standard stream.
pub fn settle_in(arguments: Vec<OsString>) {
    let _ = ARGUMENTS.set(arguments);
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
