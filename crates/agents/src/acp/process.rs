//! The agent's process: started in a separate process group, ended in three steps.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid};

use super::error::AcpError;

/// How long it may take to exit by itself after its input was closed.
pub(crate) const GOODBYE: Duration = Duration::from_secs(1);
/// How long to wait for the exit status of an agent that has closed its output.
const EXIT_STATUS_TIMEOUT: Duration = Duration::from_millis(500);
/// How long it may take after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// A running agent.
pub(crate) struct AgentProcess {
    child: Child,
}

/// How it is started.
pub(crate) struct Start<'a> {
    pub(crate) command: &'a [String],
    pub(crate) env: &'a [(String, String)],
    pub(crate) cwd: &'a Path,
    /// Where its standard error goes.
    pub(crate) stderr: Stdio,
}

impl AgentProcess {
    /// Starts an agent. Returns its standard input and output, too.
    pub(crate) fn start(start: Start<'_>) -> Result<(Self, ChildStdin, ChildStdout), AcpError> {
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

    /// Returns how it ended, if it has.
    fn ended(&self) -> Option<String> {
        let status = self.look().ok().flatten()?;
        let raw = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code << 8,
            (None, signal) => signal?,
        };
        Some(ExitStatus::from_raw(raw).to_string())
    }

    /// Returns how it ended, after it has closed its output.
    pub(crate) fn how_it_ended(&self) -> String {
        self.is_gone_within(EXIT_STATUS_TIMEOUT);
        self.ended().unwrap_or_else(|| "it closed its output".to_owned())
    }

    /// Ends it and its process group. Its input is already closed; SIGTERM follows, then SIGKILL.
    pub(crate) fn end(mut self, timeout: Duration) {
        if !self.is_gone_within(timeout) {
            self.signal(Signal::TERM);
            self.is_gone_within(GRACE);
        }
        // Also if it has exited: other processes of its group may be left.
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Checks whether it has ended, without reaping it. Until it is reaped, its pid is not reused, and a signal to its
    /// group cannot reach another one.
    fn look(&self) -> Result<Option<WaitIdStatus>, Errno> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), options)
    }

    fn is_gone_within(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        loop {
            match self.look() {
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use mw_testkit::{SOON, wait_until};

    use super::*;

    #[test]
    fn an_exited_agent_keeps_its_pid_until_its_process_group_is_killed() {
        let command = ["sh", "-c", "sleep 600 & echo $!; exit 3"].map(str::to_owned);
        let start = Start { command: &command, env: &[], cwd: Path::new("/"), stderr: Stdio::null() };
        let (process, _stdin, stdout) = AgentProcess::start(start).unwrap();
        let mut child = String::new();
        BufReader::new(stdout).read_line(&mut child).unwrap();
        assert!(process.is_gone_within(SOON));
        assert_eq!(process.how_it_ended(), "exit status: 3");
        assert_eq!(process.ended().as_deref(), Some("exit status: 3"), "the status can be read again");
        let proc_dir = |pid: &str| Path::new("/proc").join(pid);
        let leader = process.child.id().to_string();
        assert!(proc_dir(&leader).exists(), "another process must not get its pid yet");
        process.end(Duration::ZERO);
        assert!(!proc_dir(&leader).exists());
        let is_dead = || {
            let stat = std::fs::read_to_string(proc_dir(child.trim()).join("stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        };
        wait_until(SOON, "the child of the agent is dead", || is_dead().then_some(()));
    }
}
