//! A command in the background.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;

use crate::capture::Capture;
use crate::outcome::{Outcome, json_lines};

/// How long the streams of an ended command may stay open. A process that the command left behind may hold them, and then
/// every reader hangs.
const DRAIN: Duration = Duration::from_secs(60);

/// A running command. It is killed when this value is dropped.
pub struct Running {
    child: Child,
    process: OwnedFd,
    label: String,
    limit: Duration,
    stdout: Capture,
    stderr: Capture,
}

impl Running {
    pub(crate) fn spawn(
        mut command: Command,
        label: String,
        limit: Duration,
        input: Option<Vec<u8>>,
    ) -> Self {
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot run {label}: {error}"),
        };
        if let (Some(bytes), Some(mut pipe)) = (input, child.stdin.take()) {
            // In a thread, because a command that does not read its input must not block the test.
            thread::spawn(move || pipe.write_all(&bytes).ok());
        }
        let stdout = Capture::of(child.stdout.take().expect("stdout is a pipe"));
        let stderr = Capture::of(child.stderr.take().expect("stderr is a pipe"));
        Self { process: hold(&child), child, label, limit, stdout, stderr }
    }

    /// Returns its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its standard output so far.
    #[must_use]
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.stdout.so_far()).into_owned()
    }

    /// Returns its standard error so far.
    #[must_use]
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr.so_far()).into_owned()
    }

    /// Returns the complete JSON lines it printed so far.
    ///
    /// # Panics
    /// When a line is not JSON.
    #[must_use]
    pub fn json_lines(&self) -> Vec<Value> {
        json_lines(&self.printed())
    }

    /// Returns whether it still runs.
    #[must_use]
    pub fn runs(&self) -> bool {
        !ended_within(&self.process, Duration::ZERO)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.process, signal).ok();
    }

    /// Kills it with SIGKILL and waits for its end.
    pub fn kill(self) -> Outcome {
        self.signal(Signal::KILL);
        self.wait()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end in time, or a process that it left behind holds its output open.
    pub fn wait(mut self) -> Outcome {
        if !ended_within(&self.process, self.limit) {
            panic!(
                "still runs after {:?}: {}\n── stdout\n{}\n── stderr\n{}",
                self.limit,
                self.label,
                self.printed(),
                self.stderr_text()
            );
        }
        let status = self.child.wait().expect("a child can be waited for");
        for (stream, capture) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let closed = capture.ends_within(DRAIN);
            assert!(closed, "{} has ended, but something holds its {stream}", self.label);
        }
        Outcome {
            command: self.label.clone(),
            code: status.code(),
            signal: std::os::unix::process::ExitStatusExt::signal(&status),
            stdout: self.stdout.so_far(),
            stderr: self.stderr.so_far(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().ok();
    }
}

/// Returns a descriptor for a child that was not reaped yet.
pub(crate) fn hold(child: &Child) -> OwnedFd {
    pidfd_open(Pid::from_child(child), PidfdFlags::empty()).expect("a child has a descriptor")
}

/// Waits for the end of a process without reaping it; returns whether it ended in time.
pub(crate) fn ended_within(process: &OwnedFd, limit: Duration) -> bool {
    let limit = Timespec::try_from(limit).expect("limits are short");
    let mut watched = [PollFd::new(process, PollFlags::IN)];
    loop {
        match poll(&mut watched, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            answer => return answer.is_ok_and(|ready| ready > 0),
        }
    }
}
