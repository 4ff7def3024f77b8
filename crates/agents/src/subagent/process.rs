//! The agent's process: started in a group of its own, ended in three steps.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::error::AcpError;

/// How long it may take to end by itself once nobody talks to it any more.
const GOODBYE: Duration = Duration::from_millis(1000);
/// How long it may take after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// A running agent.
pub(super) struct AgentProcess {
    child: Child,
}

/// What is told of how it is started.
pub(super) struct Start<'a> {
    pub(super) command: &'a [String],
    pub(super) env: &'a [(String, String)],
    pub(super) cwd: &'a Path,
    /// Whether what it says on standard error is kept.
    pub(super) stderr: Stdio,
}

impl AgentProcess {
    /// Starts it; returns its input and output beside it.
    pub(super) fn start(start: Start<'_>) -> Result<(Self, ChildStdin, ChildStdout), AcpError> {
        let [program, arguments @ ..] = start.command else {
            return Err(AcpError::NotStarted { command: String::new(), why: "it has no command".to_owned() });
        };
        let failed = |why: String| AcpError::NotStarted { command: program.clone(), why };
        let mut child = Command::new(program)
            .args(arguments)
            .envs(start.env.iter().map(|(name, value)| (name, value)))
            .current_dir(start.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(start.stderr)
            .process_group(0)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok((Self { child }, stdin, stdout)),
            _ => Err(failed("it has no streams".to_owned())),
        }
    }

    /// Tells how it ended, if it has.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(in_words)
    }

    /// Tells how it ended, if it does so within this time.
    pub(super) fn ended_within(&mut self, patience: Duration) -> Option<String> {
        self.is_gone_within(patience);
        self.ended()
    }

    /// Ends it and its group: its input is closed already, then SIGTERM, then SIGKILL.
    pub(super) fn end(mut self, patience: Duration) {
        if !self.is_gone_within(patience.min(GOODBYE)) {
            self.signal(Signal::TERM);
            self.is_gone_within(GRACE);
        }
        // Also when it is gone itself: others may be left of its group.
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }

    fn is_gone_within(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

fn in_words(status: ExitStatus) -> String {
    status.to_string()
}
