//! `mw wait`: waits for any or all of several tasks.

use std::time::{Duration, Instant};

use clap::Args;
use meanwhile::Task;
use meanwhile::engine::{Condition, WaitReply, WaitRequest};
use meanwhile::model::parse_duration_ms;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, answer};
use crate::exit_code;
use crate::foreground::terminal::ProgressLine;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The tasks
    #[arg(required_unless_present = "batch")]
    ids: Vec<String>,
    /// Return when the first task meets the condition
    #[arg(long)]
    any: bool,
    /// Condition to wait for: exit, ready, match=RE, port=N or silence=DURATION
    #[arg(long, value_name = "CONDITION", default_value = "exit")]
    until: String,
    /// Maximum time to wait
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    timeout: Option<u64>,
    /// Wait for all tasks of this batch
    #[arg(long)]
    batch: Option<String>,
}

fn parse_condition(text: &str) -> Result<Condition, CommandError> {
    let bad =
        |why: String| CommandError::usage(why, "write exit, ready, match=RE, port=N or silence=DURATION");
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
        _ => Err(bad(format!("{text:?} is not a condition"))),
    }
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let condition = parse_condition(&self.until)?;
        let runtime = context.runtime()?;
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
        let reason = self.reason(&reply, &request.condition);
        let printed = if context.json {
            let words = reason.as_ref().map(|(message, _)| message);
            render::json(
                &json!({"timed_out": reply.timed_out, "tasks": reply.tasks, "met": reply.met, "reason": words}),
            )
        } else {
            let line = |task| render::line(task, context.colour()) + "\n";
            render::out(&reply.tasks.iter().map(line).collect::<String>())
        };
        if let Some((message, hint)) = reason.filter(|_| !context.json) {
            render::failure(&message, hint);
        }
        // The end of the process closes the database faster than we could.
        std::mem::forget(runtime);
        answer(printed.map_err(CommandError::from), self.code(&reply, &request.condition))
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
