//! Runs a command in the background or in the foreground. Both start it in the same way.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use meanwhile::engine::{KillRequest, TaskRequest};
use meanwhile::{Task, TaskConfinement};
use mw_model::{CommandSpec, EnvVar, Io, Status, first_chars, one_line};

use super::excerpt::Excerpt;
use super::wait::await_end;
use crate::call::{Background, CallContext, CallRefusal, Reply, WaitDecision};

/// A request to run a command.
#[derive(Clone, Debug)]
pub struct ShellCall {
    /// The command.
    pub command: CommandSpec,
    /// The working directory, relative to that of the session.
    pub cwd: Option<PathBuf>,
    /// Variables that are added to the environment.
    pub env: Vec<(String, String)>,
    /// A description for people.
    pub title: Option<String>,
    /// The timeout in milliseconds. 0 means none; if absent, the configured one is used.
    pub run_timeout_ms: Option<u64>,
    /// The connections of the task's standard streams.
    pub io: Io,
    /// The expected duration or size, for the person who is asked for approval.
    pub expected: Option<String>,
}

impl ShellCall {
    /// Creates a request to run a script in the session's shell.
    #[must_use]
    pub fn script(script: &str, cx: &CallContext<'_>) -> Self {
        Self::of(CommandSpec::Shell { program: cx.call_settings.shell.clone(), script: script.into() })
    }

    /// Creates a request to run a command with default options.
    #[must_use]
    pub const fn of(command: CommandSpec) -> Self {
        Self {
            command,
            cwd: None,
            env: Vec::new(),
            title: None,
            run_timeout_ms: None,
            io: Io::Pipes,
            expected: None,
        }
    }

    fn request(&self, cx: &CallContext<'_>) -> TaskRequest {
        let mut request = cx.request(self.command.clone(), self.cwd.as_deref());
        self.env.iter().for_each(|(name, value)| EnvVar::set(&mut request.env, name, value));
        let timeout = self.run_timeout_ms.or(request.limits.run_timeout_ms);
        request.limits.run_timeout_ms = timeout.filter(|limit| *limit > 0);
        TaskRequest {
            description: self.title.clone(),
            io: self.io,
            expected: self.expected.as_deref().and_then(short_line),
            ..request
        }
    }
}

/// Converts a text to one short line. It is shown next to the command of an approval request and must not look like a
/// part of the command.
fn short_line(text: &str) -> Option<String> {
    const MAX: usize = 80;
    Some(first_chars(&one_line(text), MAX).to_owned()).filter(|line| !line.is_empty())
}

/// Starts a command in the background.
///
/// # Errors
/// Fails if the command cannot be started.
pub fn start(call: &ShellCall, cx: &CallContext<'_>) -> Result<Task, CallRefusal> {
    let mut request = call.request(cx);
    cx.place(&mut request.env);
    request.approval = cx.pass_start(&mut request, &call.env, cx.tool)?;
    let task = cx.runtime.starts().start(&request)?.task;
    cx.note_started(&task);
    Ok(task)
}

/// The result of a foreground command.
#[derive(Clone, Debug)]
pub struct ForegroundRun {
    /// The task. If the call could not wait longer, it is still live and continues in the background.
    pub task: Task,
    /// The reason why the call returned.
    pub returned: ReturnReason,
    /// The elapsed time.
    pub took: Duration,
    /// The output.
    pub output: Excerpt,
}

/// The reason why a foreground call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnReason {
    /// The command has ended.
    Over,
    /// The time limit of a call was reached. Background tasks are disabled, so the command was killed.
    CutOff(Duration),
    /// The time limit of a call was reached. The command continues in the background.
    Late,
    /// A person moved the command to the background.
    Moved,
    /// The caller no longer waits. The command continues if it has not ended.
    Left,
}

impl ForegroundRun {
    /// Creates the result of a command that has ended.
    #[must_use]
    pub const fn over(task: Task, output: Excerpt) -> Self {
        Self { task, returned: ReturnReason::Over, took: Duration::ZERO, output }
    }

    /// Adds the output so far to the reply about a command that continues.
    #[must_use]
    pub fn with_output_so_far(&self, mut reply: Reply) -> Reply {
        let output = self.output.text.trim_end_matches('\n');
        if !output.is_empty() {
            reply = reply.append(&format!("\n\nOutput so far:\n{output}"));
        }
        reply.data["output"] = self.output.text.as_str().into();
        reply
    }

    /// Returns whether the reply contains the whole result: the command has ended, none of its processes are alive, and
    /// no output was left out.
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        let is_complete = self.output.left_out == 0 && self.task.dropped_bytes == 0;
        self.task.status.is_terminal() && self.task.survivors == 0 && is_complete
    }

    /// Marks the end of the task as reported by a reply, if the task has ended.
    #[must_use]
    pub fn told_by(&self, mut reply: Reply) -> Reply {
        if self.task.status.is_terminal() {
            reply.reported.push(self.task.id.clone());
            reply.ended = Some(self.task.status);
        }
        if self.is_spent() {
            reply.removable.push(self.task.id.clone());
        }
        reply
    }
}

/// Runs a command and waits for its end, up to the time limit of a call. It does not wait for a slot. The command is
/// killed when the caller cancels, or at the time limit if background tasks are disabled. If a person moves it to the
/// background, the call returns and the command continues.
///
/// # Errors
/// Fails if the command cannot be started, or its log no longer exists.
pub fn run(call: &ShellCall, cx: &CallContext<'_>) -> Result<ForegroundRun, CallRefusal> {
    let mut request =
        TaskRequest { uncounted: true, foreground: true, reporter: cx.holder.cloned(), ..call.request(cx) };
    request.approval = cx.pass_start(&mut request, &call.env, cx.tool.awaited())?;
    let begun = Instant::now();
    let task = cx.runtime.starts().start(&request)?.task;
    let id = task.id.clone();
    let mut is_moved = false;
    let (mut task, decision) = await_end(task, cx, || {
        is_moved = cx.runtime.live().is_moved_to_background(&id);
        is_moved
    })?;
    let returned = match decision {
        _ if task.status.is_terminal() => ReturnReason::Over,
        WaitDecision::Cancel | WaitDecision::Detach => ReturnReason::Left,
        WaitDecision::Continue if is_moved => ReturnReason::Moved,
        WaitDecision::Continue if cx.background == Background::Off => {
            ReturnReason::CutOff(cx.call_settings.longest_call)
        }
        WaitDecision::Continue => ReturnReason::Late,
    };
    if decision == WaitDecision::Cancel || matches!(returned, ReturnReason::CutOff(_)) {
        let kill = KillRequest::term(cx.requester());
        cx.runtime
            .notifications()
            .kill_as_owner(&[task.id.as_str()], &cx.call_settings.session, &kill)?
            .all_done()?;
        task = cx.task(task.id.as_str())?;
    }
    if !task.status.is_terminal() {
        task = cx.runtime.live().continue_in_background(&task.id)?;
        if let Some(holder) = cx.holder {
            cx.runtime.notifications().release_reservation(&task.id, holder)?;
        }
    }
    let mut output = Excerpt::of(&task, cx)?;
    if task.status == Status::Failed && request.grant.is_some() {
        // Only a look at a single task finds out whether its confinement has stopped it.
        task.confined = cx.task(task.id.as_str())?.confined;
    }
    if let Some(advice) = task.confined.as_ref().and_then(TaskConfinement::advice) {
        output.text.push_str(&format!("\n[{advice}]\n"));
    }
    Ok(ForegroundRun { task, returned, took: begun.elapsed(), output })
}
