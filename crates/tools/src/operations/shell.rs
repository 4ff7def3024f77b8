//! Running a command: in the background, or in the foreground through the same engine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use meanwhile::{Condition, KillRequest, Task, TaskRequest, WaitRequest};
use mw_model::{CommandSpec, EnvVar, Io, Limits};

use super::excerpt::Excerpt;
use crate::call::Refusal;
use crate::call::Reply;
use crate::call::{Background, Desk, Patience};

/// A command to run.
#[derive(Clone, Debug)]
pub struct ShellCall {
    /// What.
    pub command: CommandSpec,
    /// Where; relative to where the session works.
    pub cwd: Option<PathBuf>,
    /// What is added to the environment.
    pub env: Vec<(String, String)>,
    /// A line for people.
    pub title: Option<String>,
    /// Longest run in milliseconds, 0 = none; absent = as configured.
    pub run_timeout_ms: Option<u64>,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// How its streams are connected.
    pub io: Io,
    /// How long or how much it will be, for whoever is asked.
    pub expected: Option<String>,
}

impl ShellCall {
    /// A script for the session's shell.
    #[must_use]
    pub fn script(script: &str, desk: &Desk<'_>) -> Self {
        Self::of(CommandSpec::Shell { program: desk.premises.shell.clone(), script: script.into() })
    }

    /// A command without any wishes.
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

    fn request(&self, desk: &Desk<'_>) -> TaskRequest {
        let premises = desk.premises;
        let cwd = self.cwd.as_deref().unwrap_or(Path::new(""));
        let mut env = premises.env.clone();
        for (name, value) in &self.env {
            env.retain(|var| var.name.as_bytes() != name.as_bytes());
            env.push(EnvVar { name: name.as_str().into(), value: value.as_str().into() });
        }
        let run_timeout_ms =
            self.run_timeout_ms.or(premises.limits.run_timeout_ms).filter(|limit| *limit > 0);
        TaskRequest {
            dialect: desk.dialect,
            context: desk.context().map(str::to_owned),
            umask: premises.umask,
            description: self.title.clone(),
            limits: Limits { run_timeout_ms, ..premises.limits.clone() },
            batch: self.batch.clone(),
            io: self.io,
            lifetime: desk.lifetime(),
            at_capacity: premises.at_capacity,
            expected: self.expected.as_deref().and_then(one_line),
            parent_message: desk.parent_message.map(str::to_owned),
            starter: desk.teller.cloned(),
            ..TaskRequest::new(&premises.session, self.command.clone(), premises.cwd.join(cwd), env)
        }
    }
}

/// Returns a text as a short line: it stands beside what a person approves and must not look like more of that.
fn one_line(text: &str) -> Option<String> {
    const MOST: usize = 80;
    let words: Vec<_> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    Some(line.chars().take(MOST).collect()).filter(|line: &String| !line.is_empty())
}

/// Starts a command in the background.
///
/// # Errors
/// When it cannot be started; nothing is left of it then.
pub fn start(call: &ShellCall, desk: &Desk<'_>) -> Result<Task, Refusal> {
    let mut request = call.request(desk);
    desk.place(&mut request.env);
    request.approval = desk.pass_start(&request, &call.env, desk.tool)?;
    let task = desk.runtime.start(&request)?.task;
    desk.note_started(&task);
    Ok(task)
}

/// How a command in the foreground came out.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The task it is; not over if the call could wait no longer. It goes on in the background then.
    pub task: Task,
    /// Why the call returned.
    pub returned: Returned,
    /// How long it took.
    pub took: Duration,
    /// What it printed.
    pub output: Excerpt,
}

/// Why a call that ran a command returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// The command is over.
    Over,
    /// A call may take no longer than this. Nothing may go on, so the command was ended.
    CutOff(Duration),
    /// A call may take no longer. The command goes on in the background.
    Late,
    /// A person moved the command to the background.
    Moved,
    /// Nobody waited for it any more. The command goes on if it is not over.
    Left,
}

impl Ran {
    /// A command that is over.
    #[must_use]
    pub const fn over(task: Task, output: Excerpt) -> Self {
        Self { task, returned: Returned::Over, took: Duration::ZERO, output }
    }

    /// Adds to the reply about a command that goes on what it has printed so far.
    #[must_use]
    pub fn with_output_so_far(&self, mut reply: Reply) -> Reply {
        let output = self.output.text.trim_end_matches('\n');
        if !output.is_empty() {
            reply = reply.before(&format!("\n\nOutput so far:\n{output}"));
        }
        reply.data["output"] = self.output.text.as_str().into();
        reply
    }

    /// Tells whether its reply holds all there is to it: it is over, nothing of it lives, and no byte of its output
    /// was left out.
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        let whole = self.output.left_out == 0 && self.task.dropped_bytes == 0;
        self.task.status.is_terminal() && self.task.survivors == 0 && whole
    }

    /// Makes a reply tell the end, if it is over.
    #[must_use]
    pub fn told_by(&self, mut reply: Reply) -> Reply {
        if self.task.status.is_terminal() {
            reply.told.push(self.task.id.clone());
        }
        if self.is_spent() {
            reply.spent.push(self.task.id.clone());
        }
        reply
    }
}

/// Runs a command and waits for its end, as long as a call may take. It waits for no slot. When nobody waits
/// for it any more, or when the time is up where background work is off, it is ended. A person may move it to the
/// background meanwhile: the call returns then, and it goes on.
///
/// # Errors
/// When it cannot be started, or its log is gone.
pub fn run(call: &ShellCall, desk: &Desk<'_>) -> Result<Ran, Refusal> {
    let mut request =
        TaskRequest { uncounted: true, foreground: true, teller: desk.teller.cloned(), ..call.request(desk) };
    request.approval = desk.pass_start(&request, &call.env, desk.tool.awaited())?;
    let begun = Instant::now();
    let task = desk.runtime.start(&request)?.task;
    let longest = desk.premises.longest_call;
    let request = WaitRequest {
        tasks: vec![task.id.clone()],
        any: false,
        condition: Condition::Exit,
        timeout: Some(longest),
        look_every: Some(desk.caller.look_every()),
    };
    let mut patience = Patience::GoOn;
    let mut is_moved = false;
    let waited = desk.runtime.wait_with(&request, |tasks| {
        patience = desk.caller.meanwhile(tasks);
        is_moved = desk.runtime.is_moved_to_background(&task.id);
        patience == Patience::GoOn && !is_moved
    })?;
    let mut task = waited.tasks.into_iter().next().unwrap_or(task);
    let returned = match patience {
        _ if task.status.is_terminal() => Returned::Over,
        Patience::GiveUp | Patience::Leave => Returned::Left,
        Patience::GoOn if is_moved => Returned::Moved,
        Patience::GoOn if desk.background == Background::Off => Returned::CutOff(longest),
        Patience::GoOn => Returned::Late,
    };
    if patience == Patience::GiveUp || matches!(returned, Returned::CutOff(_)) {
        let kill = KillRequest::term(desk.requester());
        desk.runtime.kill_as_owner(&[task.id.as_str()], &desk.premises.session, &kill)?.all_done()?;
        task = desk.task(task.id.as_str())?;
    }
    if !task.status.is_terminal() {
        task = desk.runtime.go_on_in_background(&task.id)?;
        if let Some(teller) = desk.teller {
            desk.runtime.leave_promise(&task.id, teller)?;
        }
    }
    let output = Excerpt::of(&task, desk)?;
    Ok(Ran { task, returned, took: begun.elapsed(), output })
}
