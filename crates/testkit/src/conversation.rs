//! An interactive command with lines on its standard streams.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process_group, pidfd_send_signal};

use crate::capture::Capture;
use crate::running::{ended_within, hold};

/// A command with an open standard input, in a separate process group. It is killed when this value is dropped.
pub struct Conversation {
    child: Child,
    process: OwnedFd,
    label: String,
    stdin: Option<ChildStdin>,
    unread: Option<ChildStdout>,
    lines: Option<Receiver<String>>,
    stderr: Capture,
}

impl Conversation {
    pub(crate) fn begin(mut command: Command, label: String) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot run {label}: {error}"),
        };
        let stderr = Capture::of(child.stderr.take().expect("stderr is a pipe"));
        Self {
            process: hold(&child),
            stdin: child.stdin.take(),
            unread: child.stdout.take(),
            lines: None,
            child,
            label,
            stderr,
        }
    }

    /// Returns its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its standard error so far.
    #[must_use]
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr.so_far()).into_owned()
    }

    /// Writes to its standard input.
    ///
    /// # Errors
    /// When the command has ended.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        stdin.write_all(bytes)?;
        stdin.flush()
    }

    /// Returns its standard input, for a thread that may block on it.
    ///
    /// # Panics
    /// When it was taken or closed before.
    #[must_use]
    pub fn take_input(&mut self) -> ChildStdin {
        self.stdin.take().expect("standard input is still here")
    }

    /// Closes its standard input.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for one line; nothing if none comes in time or the output has ended. Nothing is read before the first
    /// call.
    pub fn read_line(&mut self, limit: Duration) -> Option<String> {
        let lines = self.lines.get_or_insert_with(|| {
            let (line, lines) = channel();
            let stdout = BufReader::new(self.unread.take().expect("stdout is a pipe"));
            thread::spawn(move || {
                let all = stdout.lines().map_while(Result::ok);
                all.map(|text| line.send(text)).take_while(Result::is_ok).for_each(drop);
            });
            lines
        });
        lines.recv_timeout(limit).ok()
    }

    /// Returns how many bytes of its output are unread.
    #[must_use]
    pub fn unread_bytes(&self) -> u64 {
        self.unread.as_ref().and_then(|stdout| ioctl_fionread(stdout).ok()).unwrap_or(0)
    }

    /// Returns how many bytes of its input are unread.
    #[must_use]
    pub fn untaken_bytes(&self) -> u64 {
        self.stdin.as_ref().and_then(|stdin| ioctl_fionread(stdin).ok()).unwrap_or(0)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.process, signal).ok();
    }

    /// Sends a signal to its whole process group.
    pub fn signal_group(&self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.child), signal).ok();
    }

    /// Returns whether it still runs.
    #[must_use]
    pub fn runs(&self) -> bool {
        !ended_within(&self.process, Duration::ZERO)
    }

    /// Waits for its end; returns the exit code, if it has one.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn wait(&mut self, limit: Duration) -> Option<i32> {
        assert!(
            ended_within(&self.process, limit),
            "still runs after {limit:?}: {}\n── stderr\n{}",
            self.label,
            self.stderr_text()
        );
        self.child.wait().expect("a child can be waited for").code()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().ok();
    }
}
