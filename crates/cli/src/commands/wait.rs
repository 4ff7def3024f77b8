//! `mw wait`: waits for any or all of several tasks.

use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

use clap::Args;
use meanwhile::Task;
use meanwhile::engine::model::{Status, parse_duration_ms};
use meanwhile::engine::{Condition, WaitReply, WaitRequest};
use mw_desk::rows::state_words;
use mw_tools::task_calls::TaskCall;
use serde_json::json;

use crate::arguments::quick::{CommonForm, QuickArguments, Words};
use crate::context::{Context, Latest};
use crate::error::{CommandError, CommandResult, answer};
use crate::foreground::terminal::ProgressLine;
use crate::{desktop, direct, exit_code, render};

#[derive(Args)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Arguments {
    /// The tasks [default: the latest of this directory]
    ids: Vec<String>,
    /// Return when the first task meets the condition
    #[arg(long)]
    any: bool,
    /// Condition to wait for: exit, ready, match=RE, port=N or silence=DURATION
    #[arg(long, value_name = "CONDITION", default_value = "exit")]
    until: String,
    /// Maximum time to wait
    #[arg(long, short, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    timeout: Option<u64>,
    /// Wait for all tasks of this batch
    #[arg(long)]
    batch: Option<String>,
    /// Show a notification on the desktop, or through the terminal, when the wait is over
    #[arg(long)]
    notify: bool,
}

fn parse_condition(text: &str) -> Result<Condition, CommandError> {
    let bad = |why: String| CommandError::usage(why, "use exit, ready, match=RE, port=N or silence=DURATION");
    match text.split_once('=') {
        None if text == "exit" => Ok(Condition::Exit),
        None if text == "ready" => Ok(Condition::Ready),
        Some(("match", pattern)) => Ok(Condition::matching(pattern)?),
        Some(("port", port)) => {
            let number = port.parse().ok().filter(|port| *port > 0);
            number.map(Condition::Port).ok_or_else(|| bad(format!("{port:?} is not a port")))
        }
        Some(("silence", ms)) => {
            parse_duration_ms(ms).map(Condition::Silence).map_err(|error| bad(error.to_string()))
        }
        _ => Err(bad(format!("invalid condition {text:?}"))),
    }
}

const COMMON: CommonForm =
    CommonForm { flags: &["any"], values: &["until", "timeout"], lists: &[], words: Words::Tasks };

impl Arguments {
    pub(crate) fn quick(words: &[OsString]) -> Option<(bool, Self)> {
        let arguments = QuickArguments::parse(words, &COMMON)?;
        let until = arguments.text("until")?.unwrap_or_else(|| "exit".to_owned());
        let timeout = arguments.value("timeout", |text| parse_duration_ms(text).ok())?;
        let any = arguments.flag("any");
        Some((
            arguments.json(),
            Self { ids: arguments.texts()?, any, until, timeout, batch: None, notify: false },
        ))
    }

    /// Waits for the end of one running task without the engine; `None` if the engine must wait.
    pub(crate) fn run_direct(&self, json: bool) -> Option<CommandResult> {
        let [handle] = &self.ids[..] else { return None };
        if self.until != "exit" || self.timeout.is_some() || ProgressLine::new(json).is_shown() {
            return None;
        }
        let directories = direct::open()?;
        let end = directories.watch_end(&directories.find(handle)?)?;
        let reply_of =
            |task: Task| WaitReply { met: vec![task.id.clone()], tasks: vec![task], timed_out: false };
        let rehearse = |task| {
            let reply = reply_of(task);
            let _ = (shown(&reply, None, json, false), self.code(&reply, &Condition::Exit));
        };
        end.rehearse(rehearse);
        // The end of this process is part of what its caller waits for, and is faster without pages that are not used again.
        mw_supervisor::give_back_memory();
        Some(self.conclude(&reply_of(end.wait(rehearse)?), &Condition::Exit, json))
    }

    /// Returns the same as a call of a tool; `None` if an option has no counterpart there.
    pub(crate) fn as_call(&self) -> Option<TaskCall> {
        let (pattern, port) = match self.until.split_once('=') {
            None if self.until == "exit" => (None, None),
            Some(("match", pattern)) => (Some(pattern), None),
            Some(("port", port)) => (None, Some(port.parse::<u16>().ok()?)),
            _ => return None,
        };
        if (self.ids.is_empty() && self.batch.is_none()) || self.notify {
            return None;
        }
        Some(TaskCall::new(
            "task_wait",
            json!({"task_ids": self.ids, "batch_id": self.batch, "any": self.any, "pattern": pattern, "port": port,
                   "timeout": self.timeout}),
        ))
    }

    pub(crate) fn run(mut self, context: &Context) -> CommandResult {
        let condition = parse_condition(&self.until)?;
        let runtime = context.runtime()?;
        if self.ids.is_empty() && self.batch.is_none() {
            self.ids.push(context.given_or_latest(&runtime, None, Latest::Live)?);
        }
        let mut tasks = Vec::new();
        for handle in &self.ids {
            let id = runtime.lookup().resolve(handle, &context.scope())?;
            if !tasks.contains(&id) {
                tasks.push(id);
            }
        }
        if let Some(batch) = &self.batch {
            tasks.extend(context.batch(&runtime, batch)?.into_iter().map(|task| task.id));
        }
        let request = WaitRequest {
            tasks,
            any: self.any,
            condition,
            timeout: self.timeout.map(Duration::from_millis),
            poll_interval: None,
        };
        let mut progress = ProgressLine::new(context.json);
        let begun = Instant::now();
        let reply = if progress.is_shown() {
            progress.follow(&runtime, &request, begun)?
        } else {
            runtime.reader().wait(&request)?
        };
        progress.clear();
        // The end of the process closes the database faster than we could.
        std::mem::forget(runtime);
        let notify_after = Duration::from_millis(context.config.notify_after_ms);
        let was_long = !notify_after.is_zero() && begun.elapsed() >= notify_after && desktop::has_person();
        if self.notify || was_long {
            desktop::notify(&self.news(&reply, &request.condition));
        }
        self.conclude(&reply, &request.condition, context.json)
    }

    /// Prints the reply, and returns the exit code.
    fn conclude(&self, reply: &WaitReply, condition: &Condition, json: bool) -> CommandResult {
        let reason = self.reason(reply, condition);
        let words = reason.as_ref().map(|(message, _)| message.as_str());
        // Of a batch, what went well is only counted.
        let is_batch = self.batch.is_some() && self.ids.is_empty();
        let printed = shown(reply, words, json, is_batch).and_then(|text| render::out_bytes(&text));
        if let Some((message, hint)) = reason.filter(|_| !json) {
            render::failure(&message, hint);
        }
        answer(printed.map_err(CommandError::from), self.code(reply, condition))
    }

    /// Returns what a notification says.
    fn news(&self, reply: &WaitReply, condition: &Condition) -> String {
        if let Some((message, _)) = self.reason(reply, condition) {
            return message;
        }
        match (&reply.tasks[..], condition) {
            ([task], Condition::Exit) => format!("{}: {}", task.short_name(), state_words(task)),
            (tasks, Condition::Exit) => summary(tasks),
            (tasks, _) => {
                let met = tasks.iter().filter(|task| reply.met.contains(&task.id));
                let names: Vec<_> = met.map(Task::short_name).collect();
                format!("{}: {}", names.join(", "), self.until)
            }
        }
    }

    /// Returns whether the condition holds for enough tasks.
    fn is_met(&self, reply: &WaitReply) -> bool {
        if self.any { !reply.met.is_empty() } else { reply.met.len() == reply.tasks.len() }
    }

    /// Says why the wait was in vain, and what may help.
    fn reason(&self, reply: &WaitReply, condition: &Condition) -> Option<(String, &'static str)> {
        let what = awaited(condition);
        let prints = matches!(condition, Condition::Match(_));
        let buffers = if prints { BUFFERS } else { "" };
        let unmet: Vec<_> = reply.tasks.iter().filter(|task| !reply.met.contains(&task.id)).collect();
        let names =
            |tasks: &[&Task]| tasks.iter().map(|task| task.short_name()).collect::<Vec<_>>().join(", ");
        if reply.timed_out {
            let longest = mw_desk::text::duration(self.timeout.unwrap_or_default());
            return Some((format!("timed out after {longest}: {} did not {what}", names(&unmet)), buffers));
        }
        if matches!(condition, Condition::Exit) || self.is_met(reply) {
            return None;
        }
        let ended: Vec<_> = unmet.into_iter().filter(|task| task.status.is_terminal()).collect();
        Some((format!("{} ended but did not {what}", names(&ended)), buffers))
    }

    fn code(&self, reply: &WaitReply, condition: &Condition) -> u8 {
        if reply.timed_out {
            return exit_code::TIMED_OUT;
        }
        if !matches!(condition, Condition::Exit) {
            return if self.is_met(reply) { 0 } else { exit_code::UNMET };
        }
        let first = self.any.then(|| reply.met.first()).flatten();
        match first.and_then(|id| reply.tasks.iter().find(|task| task.id == *id)) {
            Some(task) => exit_code::of_task(task),
            None => reply.tasks.iter().map(exit_code::of_task).find(|code| *code != 0).unwrap_or(0),
        }
    }
}

/// Returns the reply as it is printed.
fn shown(reply: &WaitReply, reason: Option<&str>, json: bool, is_batch: bool) -> io::Result<Vec<u8>> {
    if json {
        let WaitReply { timed_out, tasks, met } = reply;
        return render::json_line(
            &json!({"timed_out": timed_out, "tasks": tasks, "met": met, "reason": reason}),
        );
    }
    let line = |task| render::line(task, render::is_coloured(json)) + "\n";
    let tasks = reply.tasks.iter().filter(|task| !is_batch || task.status != Status::Completed);
    let mut text = tasks.map(line).collect::<String>();
    if reply.tasks.len() > 1 {
        text.push_str(&summary(&reply.tasks));
    }
    Ok(text.into_bytes())
}

/// Counts tasks by state: `3 failed, 41 completed`.
fn summary(tasks: &[Task]) -> String {
    let counts = Status::ALL.into_iter().map(|status| {
        let number = tasks.iter().filter(|task| task.status == status).count();
        (number > 0).then(|| format!("{number} {}", status.word()))
    });
    format!("{} tasks: {}\n", tasks.len(), counts.flatten().collect::<Vec<_>>().join(", "))
}

/// Buffered output is the usual reason for a missing line.
const BUFFERS: &str =
    "programs may buffer output without a terminal: try PYTHONUNBUFFERED=1, stdbuf -oL or --pty";

/// Describes what a task did not do.
fn awaited(condition: &Condition) -> String {
    match condition {
        Condition::Exit => "end".to_owned(),
        Condition::Ready => "become ready".to_owned(),
        Condition::Match(pattern) => format!("print a line that matches {:?}", pattern.as_str()),
        Condition::Port(port) => format!("listen on port {port}"),
        Condition::Silence(ms) => format!("fall silent for {}", mw_desk::text::duration(*ms)),
    }
}
