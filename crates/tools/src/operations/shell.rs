//! Runs a command in the background or in the foreground. Both use the same start.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use meanwhile::Task;
use meanwhile::engine::{Condition, KillRequest, TaskRequest, WaitRequest};
use mw_model::{CommandSpec, EnvVar, Io, first_chars};

use super::excerpt::Excerpt;
use crate::call::{Background, CallContext, Patience, Refusal, Reply};

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
    /// Timeout in milliseconds; 0 = none, absent = as configured.
    pub run_timeout_ms: Option<u64>,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// How its streams are connected.
    pub io: Io,
    /// The expected duration or size, for the person who is asked for approval.
    pub expected: Option<String>,
}

impl ShellCall {
    /// A script for the session's shell.
    #[must_use]
    pub fn script(script: &str, cx: &CallContext<'_>) -> Self {
        Self::of(CommandSpec::Shell { program: cx.premises.shell.clone(), script: script.into() })
    }

    /// A command with default options.
    #[must_use]
    pub const fn of(command: CommandSpec) -> Self {
        Self {
            command,
            cwd: None,
            env: Vec::new(),
            title: None,
            run_timeout_ms: None,
            batch: None,
            io: Io::Pipes,
            expected: None,
        }
    }

    fn request(&self, cx: &CallContext<'_>) -> TaskRequest {
        let mut request = cx.request(self.command.clone(), self.cwd.as_deref());
        for (name, value) in &self.env {
            request.env.retain(|var| var.name.as_bytes() != name.as_bytes());
            request.env.push(EnvVar { name: name.as_str().into(), value: value.as_str().into() });
        }
        let timeout = self.run_timeout_ms.or(request.limits.run_timeout_ms);
        request.limits.run_timeout_ms = timeout.filter(|limit| *limit > 0);
        TaskRequest {
            description: self.title.clone(),
            batch: self.batch.clone(),
            io: self.io,
            expected: self.expected.as_deref().and_then(one_line),
            ..request
        }
    }
}

/// Returns a text as one short line. It is shown beside the command of an approval request and must not look like a
/// part of it.
fn one_line(text: &str) -> Option<String> {
    const MOST: usize = 80;
    let words: Vec<_> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    Some(first_chars(&line, MOST).to_owned()).filter(|line| !line.is_empty())
}

/// Starts a command in the background.
///
/// # Errors
/// When it cannot be started.
pub fn start(call: &ShellCall, cx: &CallContext<'_>) -> Result<Task, Refusal> {
    let mut request = call.request(cx);
    cx.place(&mut request.env);
    request.approval = cx.pass_start(&request, &call.env, cx.tool)?;
    let task = cx.runtime.starts().start(&request)?.task;
    cx.note_started(&task);
    Ok(task)
}

/// The result of a foreground command.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The task. If the call could not wait longer, it is still live and continues in the background.
    pub task: Task,
    /// Why the call returned.
    pub returned: Returned,
    /// How long it took.
    pub took: Duration,
    /// The output.
    pub output: Excerpt,
}

/// Why a foreground call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// The command has ended.
    Over,
    /// The time limit of a call was reached. Background tasks are disabled, so the command was ended.
    CutOff(Duration),
    /// The time limit of a call was reached. The command continues in the background.
    Late,
    /// A person moved the command to the background.
    Moved,
    /// Nobody waited any more. The command continues if it has not ended.
    Left,
}

impl Ran {
    /// A command that has ended.
    #[must_use]
    pub const fn over(task: Task, output: Excerpt) -> Self {
        Self { task, returned: Returned::Over, took: Duration::ZERO, output }
    }

    /// Adds the output so far to the reply about a command that continues.
    #[must_use]
    pub fn with_output_so_far(&self, mut reply: Reply) -> Reply {
        let output = self.output.text.trim_end_matches('\n');
        if !output.is_empty() {
            reply = reply.before(&format!("\n\nOutput so far:\n{output}"));
        }
        reply.data["output"] = self.output.text.as_str().into();
        reply
    }

    /// Returns whether its reply contains everything: it has ended, none of its processes are alive, and no output was
    /// omitted.
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        let whole = self.output.left_out == 0 && self.task.dropped_bytes == 0;
        self.task.status.is_terminal() && self.task.survivors == 0 && whole
    }

    /// Makes a reply report the end, if it has ended.
    #[must_use]
    pub fn told_by(&self, mut reply: Reply) -> Reply {
        if self.task.status.is_terminal() {
            reply.told.push(self.task.id.clone());
            reply.ended = Some(self.task.status);
        }
        if self.is_spent() {
            reply.spent.push(self.task.id.clone());
        }
        reply
    }
}

/// Runs a command and waits for its end, up to the time limit of a call. It does not wait for a slot. It is ended when
/// the caller cancels, or at the time limit if background tasks are disabled. If a person moves it to the background,
/// the call returns and the command continues.
///
/// # Errors
/// When it cannot be started, or its log is gone.
pub fn run(call: &ShellCall, cx: &CallContext<'_>) -> Result<Ran, Refusal> {
    let mut request =
        TaskRequest { uncounted: true, foreground: true, teller: cx.teller.cloned(), ..call.request(cx) };
    request.approval = cx.pass_start(&request, &call.env, cx.tool.awaited())?;
    let begun = Instant::now();
    let task = cx.runtime.starts().start(&request)?.task;
    let longest = cx.premises.longest_call;
    let request = WaitRequest {
        tasks: vec![task.id.clone()],
        any: false,
        condition: Condition::Exit,
        timeout: Some(longest),
        look_every: Some(cx.caller.look_every()),
    };
    let mut patience = Patience::GoOn;
    let mut is_moved = false;
    let waited = cx.runtime.reader().wait_with(&request, |tasks| {
        patience = cx.caller.meanwhile(tasks);
        is_moved = cx.runtime.notifications().is_moved_to_background(&task.id);
        patience == Patience::GoOn && !is_moved
    })?;
    let mut task = waited.tasks.into_iter().next().unwrap_or(task);
    let returned = match patience {
        _ if task.status.is_terminal() => Returned::Over,
        Patience::GiveUp | Patience::Leave => Returned::Left,
        Patience::GoOn if is_moved => Returned::Moved,
        Patience::GoOn if cx.background == Background::Off => Returned::CutOff(longest),
        Patience::GoOn => Returned::Late,
    };
    if patience == Patience::GiveUp || matches!(returned, Returned::CutOff(_)) {
        let kill = KillRequest::term(cx.requester());
        cx.runtime
            .notifications()
            .kill_as_owner(&[task.id.as_str()], &cx.premises.session, &kill)?
            .all_done()?;
        task = cx.task(task.id.as_str())?;
    }
    if !task.status.is_terminal() {
        task = cx.runtime.notifications().go_on_in_background(&task.id)?;
        if let Some(teller) = cx.teller {
            cx.runtime.notifications().leave_promise(&task.id, teller)?;
        }
    }
    let output = Excerpt::of(&task, cx)?;
    Ok(Ran { task, returned, took: begun.elapsed(), output })
}
