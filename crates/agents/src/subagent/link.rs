//! The connection to an agent: to its process, or to the keeper that holds it.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use meanwhile::Scope;
use meanwhile::engine::{
    Approval, Condition, KillRequest, Runtime, TaskRequest, WaitRequest, child_session, keeper_session,
};
use mw_model::signal::SIGTERM;
use mw_model::{CommandSpec, Lifetime, RawText, TaskId};

use super::driver::DriverOptions;
use super::keeper::KEEP;
use crate::acp::converse::Streams;
use crate::acp::error::AcpError;
use crate::acp::process::{AgentProcess, GOODBYE, Start};

/// How long a keeper may take to start.
const KEEPER_START_TIMEOUT: Duration = Duration::from_secs(20);
/// How often it is tried whether a keeper has started.
const KEEPER_INTERVAL: Duration = Duration::from_millis(10);

/// A connection to an agent.
pub(super) enum AgentLink {
    /// The agent's process is a child of this process.
    Own(AgentProcess),
    /// A keeper holds the agent.
    Kept {
        /// The connection to the keeper.
        stream: UnixStream,
        /// The keeper's task.
        task: Option<String>,
    },
}

impl AgentLink {
    /// Starts the agent as a child process.
    pub(super) fn own(command: &[String], options: &DriverOptions) -> Result<(Self, Streams), AcpError> {
        let env = [("MEANWHILE_SESSION".to_owned(), child_session(&options.task))];
        let cwd = &options.permissions.cwd;
        let start = Start { command, env: &env, cwd, stderr: Stdio::inherit() };
        let (process, stdin, stdout) = AgentProcess::start(start)?;
        Ok((Self::Own(process), (Box::new(stdin), Box::new(stdout))))
    }

    /// Starts a keeper, as a separate task, which starts the agent.
    pub(super) fn kept(runtime: &Runtime, options: &DriverOptions) -> Result<(Self, Streams), AcpError> {
        let failed = |why: String| AcpError::NotStarted { command: "mw agent-keeper".to_owned(), why };
        let words =
            [options.mw.to_string_lossy().as_ref(), "agent-keeper", options.task.as_str()].map(RawText::from);
        let request = TaskRequest {
            uncounted: true,
            lifetime: Lifetime::Detached,
            description: Some(format!("keeps the agent of {}", options.task)),
            approval: Approval::Auto,
            ..TaskRequest::new(
                &keeper_session(&options.task),
                CommandSpec::Argv(words.to_vec()),
                options.permissions.cwd.clone(),
                options.child_env(),
            )
        };
        let keeper = runtime.starts().start(&request).map_err(|error| failed(error.to_string()))?.task.id;
        let connect = || runtime.agents().lingering_agent(&options.task);
        let mut connected = connect();
        let wait = WaitRequest {
            timeout: Some(KEEPER_START_TIMEOUT),
            poll_interval: Some(KEEPER_INTERVAL),
            ..exit_of(keeper.clone())
        };
        let until_connected = |_: &[_]| {
            connected = connect();
            connected.is_err()
        };
        let waited = runtime.reader().wait_with(&wait, until_connected);
        let waited = waited.map_err(|error| failed(error.to_string()))?;
        match (connected, waited.tasks.first().filter(|_| !waited.timed_out)) {
            (Ok(stream), _) => Self::over(stream, Some(keeper.to_string())),
            (Err(_), Some(ended)) => {
                Err(failed(format!("its task {keeper} has ended ({})", ended.status.word())))
            }
            (Err(error), None) => Err(failed(error.to_string())),
        }
    }

    /// Connects to an agent that was kept.
    pub(super) fn again(
        runtime: &Runtime,
        id: &TaskId,
        task: Option<String>,
    ) -> Result<(Self, Streams), AcpError> {
        let stream = runtime
            .agents()
            .lingering_agent(id)
            .map_err(|error| AcpError::Expired { why: error.to_string() })?;
        Self::over(stream, task)
    }

    fn over(stream: UnixStream, task: Option<String>) -> Result<(Self, Streams), AcpError> {
        let failed = |error: std::io::Error| AcpError::Expired { why: error.to_string() };
        let (input, output) = (stream.try_clone().map_err(failed)?, stream.try_clone().map_err(failed)?);
        Ok((Self::Kept { stream, task }, (Box::new(input), Box::new(output))))
    }

    /// Returns the keeper's task, if there is one.
    pub(super) fn keeper(&self) -> Option<String> {
        match self {
            Self::Own(_) => None,
            Self::Kept { task, .. } => task.clone(),
        }
    }

    /// Returns how the agent's process ended, as far as that is known.
    pub(super) fn how_it_ended(&self) -> String {
        match self {
            Self::Own(process) => process.how_it_ended(),
            Self::Kept { .. } => "it closed its output".to_owned(),
        }
    }

    /// Releases the agent. An agent of a keeper stays, unless its end was requested.
    pub(super) fn close(self, runtime: &Runtime, outcome: &Result<String, AcpError>) {
        let cancelled = matches!(outcome, Err(AcpError::Cancelled));
        match self {
            Self::Own(process) => {
                process.end(if cancelled { Duration::ZERO } else { GOODBYE });
            }
            Self::Kept { mut stream, task } => {
                if !cancelled {
                    // If this fails, the keeper has ended, and the agent with it.
                    let _ = stream.write_all(KEEP.as_bytes());
                }
                let _ = stream.shutdown(Shutdown::Both);
                if let Some(task) = task.filter(|_| cancelled) {
                    end_keeper(runtime, &task);
                }
            }
        }
    }
}

/// Ends a keeper with all processes of its agent, and waits for their end.
fn end_keeper(runtime: &Runtime, task: &str) {
    let request =
        KillRequest { by: "the end of its agent".to_owned(), signal: SIGTERM, grace_ms: Some(1000) };
    if runtime.live().kill(task, &Scope::All, &request).is_err()
        && let Ok(id) = runtime.lookup().resolve(task, &Scope::All)
    {
        let _ = runtime.reader().wait(&WaitRequest { timeout: Some(GOODBYE), ..exit_of(id) });
    }
}

/// A wait for the end of a task.
fn exit_of(id: TaskId) -> WaitRequest {
    WaitRequest {
        tasks: vec![id],
        any: false,
        condition: Condition::Exit,
        timeout: None,
        poll_interval: None,
    }
}
