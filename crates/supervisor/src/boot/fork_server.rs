//! The fork server: a process that only forks guardians, for a host that starts many tasks.
//!
//! Executing `mw-supervisor` takes longer than everything else at the start of a short task, so the fork server is executed
//! once. A request carries the number of a run and a connection, on which the forked guardian receives its start message and
//! answers. The fork server ends when its host closes the socket; guardians and supervisors keep running.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use mw_model::wire::SUPERVISOR_NAME;

use super::bootstrap;
use super::bootstrap::{Address, StartRefusal};
use super::start_message;
use crate::sys;
use crate::sys::{Cpus, Fork};

/// Forks a guardian for each request on standard input, until the input ends.
pub(crate) fn serve() {
    // The current directory could not be removed while this process uses it.
    let _ = rustix::process::chdir("/");
    sys::ignore_children();
    while let Some((run, line)) = next_request() {
        match sys::fork() {
            Ok(Fork::Child) => become_guardian(run, &line, None),
            Ok(Fork::Parent(_)) => {}
            Err(error) => refuse(&line, &error),
        }
    }
}

fn next_request() -> Option<(u32, OwnedFd)> {
    let mut run = [0; 4];
    let (length, mut lines) = start_message::receive_some(&mut run).ok()?;
    let line = lines.pop()?;
    (length == run.len()).then_some((u32::from_le_bytes(run), line))
}

/// Makes the forked process the guardian of a run, with the request's connection as its standard input and output.
fn become_guardian(run: u32, line: &OwnedFd, cpus: Option<Cpus>) -> ! {
    if rustix::stdio::dup2_stdin(line).and_then(|()| rustix::stdio::dup2_stdout(line)).is_ok() {
        sys::close_inherited();
        let _ = rustix::process::setsid();
        bootstrap::guard(&Address::of_first_process(run), cpus);
    }
    sys::exit_at_once(0)
}

/// Forks a guardian for a first run, without a program to execute: a process that has just begun, and exits soon, is its
/// own fork server. Returns the connection to the guardian.
///
/// # Errors
/// When there can be no socket or no process.
pub fn fork_guardian() -> io::Result<UnixStream> {
    const FIRST_RUN: u32 = 1;
    let (ours, its_end) = UnixStream::pair()?;
    let cpus = Cpus::of_this_process();
    match sys::fork()? {
        Fork::Parent(pid) => {
            cpus.keep_off_this_one(pid);
            Ok(ours)
        }
        Fork::Child => {
            sys::rename_process(SUPERVISOR_NAME);
            let null = OpenOptions::new().write(true).open("/dev/null");
            if null.is_ok_and(|null| rustix::stdio::dup2_stderr(&null).is_ok()) {
                become_guardian(FIRST_RUN, &its_end.into(), Some(cpus));
            }
            sys::exit_at_once(0)
        }
    }
}

fn refuse(line: &OwnedFd, error: &io::Error) {
    let _ = rustix::stdio::dup2_stdout(line);
    StartRefusal::system("cannot fork", error).answer();
    let _ = rustix::stdio::dup2_stdout(rustix::stdio::stderr());
}
