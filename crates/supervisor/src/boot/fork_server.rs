//! A process that does nothing but fork supervisors, for a host that starts many tasks.
//!
//! To execute `mw-supervisor` takes longer than all it does for a short task, and here that is done once. Each request
//! brings a line, on which a guardian is told what to do and answers, and the number of the run it is for. The nursery
//! ends with its host, whose end of the socket closes then; the supervisors live on.

use std::io;
use std::os::fd::OwnedFd;

use super::bootstrap;
use super::bootstrap::{Address, Refusal};
use crate::sys;
use crate::sys::Fork;

/// Forks a guardian for each request on standard input, to its end.
pub(crate) fn tend() {
    // In the way of nobody who wants to remove a directory.
    let _ = rustix::process::chdir("/");
    sys::ignore_children();
    while let Some((run, line)) = next_request() {
        match sys::fork() {
            Ok(Fork::Child) => bear(run, &line),
            Ok(Fork::Parent(_)) => {}
            Err(error) => refuse(&line, &error),
        }
    }
}

fn next_request() -> Option<(u32, OwnedFd)> {
    let mut run = [0; 4];
    let (length, mut lines) = bootstrap::receive_some(&mut run).ok()?;
    let line = lines.pop()?;
    (length == run.len()).then_some((u32::from_le_bytes(run), line))
}

/// The new process: its line takes the place of ours.
fn bear(run: u32, line: &OwnedFd) -> ! {
    if rustix::stdio::dup2_stdin(line).and_then(|()| rustix::stdio::dup2_stdout(line)).is_ok() {
        sys::close_inherited();
        let _ = rustix::process::setsid();
        bootstrap::guard(&Address::of_first_process(run));
    }
    sys::exit_at_once(0)
}

fn refuse(line: &OwnedFd, error: &io::Error) {
    let _ = rustix::stdio::dup2_stdout(line);
    Refusal::system("cannot fork", error).answer();
    let _ = rustix::stdio::dup2_stdout(rustix::stdio::stderr());
}
