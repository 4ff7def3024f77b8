//! A command of the user that runs on an event, with a time limit.

use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mw_model::DEFAULT_SHELL;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::disk::platform;
use crate::variables::HOOK_RUN_VARIABLE;

/// How much of standard error is read.
const SAID: u64 = 4096;

/// A command of the user.
pub(crate) struct UserCommand<'a> {
    /// A script for the shell.
    pub(crate) script: &'a str,
    pub(crate) variables: &'a [(&'a str, &'a str)],
    /// What it gets on standard input.
    pub(crate) input: String,
    pub(crate) timeout: Duration,
}

impl UserCommand<'_> {
    /// Runs it without its output.
    pub(crate) fn run(&self) -> io::Result<ExitStatus> {
        self.run_with(Stdio::null())
    }

    /// Runs it, and returns the beginning of what it has written to standard error.
    pub(crate) fn run_and_listen(&self) -> io::Result<(ExitStatus, String)> {
        // Not a pipe: a process that it leaves behind would keep that open.
        let mut said = platform::anonymous_file()?;
        let status = self.run_with(said.try_clone()?.into())?;
        let mut text = Vec::new();
        said.rewind()?;
        said.take(SAID).read_to_end(&mut text)?;
        Ok((status, String::from_utf8_lossy(&text).into_owned()))
    }

    fn run_with(&self, stderr: Stdio) -> io::Result<ExitStatus> {
        let number = u64::from_le_bytes(platform::random_bytes()?);
        let mark = format!("{number:016x}");
        let mut child = Command::new(DEFAULT_SHELL)
            .args(["-c", self.script])
            .envs(self.variables.iter().copied())
            .env(HOOK_RUN_VARIABLE, &mark)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let input = self.input.clone();
            // A command that does not read its input is not a failure, and must not block this process.
            thread::spawn(move || stdin.write_all(input.as_bytes()));
        }
        wait_at_most(child, &mark, self.timeout)
    }
}

/// Waits for a command. On timeout, kills it and all processes it started, whatever their process group.
fn wait_at_most(mut child: Child, mark: &str, longest: Duration) -> io::Result<ExitStatus> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (sender, ended) = mpsc::channel();
    let waiting = thread::spawn(move || sender.send(child.wait()));
    let outcome = ended.recv_timeout(longest).unwrap_or_else(|_| {
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        platform::kill_marked(&format!("{HOOK_RUN_VARIABLE}={mark}"));
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("it took longer than {longest:?}")))
    });
    // The command is dead by now.
    let _ = waiting.join();
    outcome
}
