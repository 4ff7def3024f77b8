//! `mw queue`: what waits, in order, and why; moves, starts and changes it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::os::unix::ffi::OsStrExt;

use clap::{ArgGroup, Args, Subcommand};
use meanwhile::engine::model::{CommandSpec, RawText, one_line};
use meanwhile::engine::{Clock, MoveTo, QueueReason, Runtime, SystemClock};
use meanwhile::model::Status;
use meanwhile::{Task, TaskFilter};
use mw_desk::text::{ago, at_time, columns, count, shortened};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::foreground::terminal;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// List the queued tasks in the order in which they start, and why each waits
    List,
    /// Move a queued task to another place in the queue of its session
    #[command(group = ArgGroup::new("to").required(true))]
    Move {
        /// The task
        id: String,
        /// Before all others
        #[arg(long, group = "to")]
        first: bool,
        /// Behind all others
        #[arg(long, group = "to")]
        last: bool,
        /// Directly before this task
        #[arg(long, group = "to", value_name = "ID")]
        before: Option<String>,
        /// Directly behind this task
        #[arg(long, group = "to", value_name = "ID")]
        behind: Option<String>,
    },
    /// Start queued tasks at once, whatever they wait for
    Start {
        /// The tasks
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Change the priority of a queued task; higher starts earlier
    Priority {
        /// The task
        id: String,
        /// The priority
        #[arg(allow_negative_numbers = true)]
        priority: i32,
    },
    /// Replace the command of a queued task
    Edit {
        /// The task
        id: String,
        /// One quoted script for the shell, or a program with its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        words: Vec<OsString>,
    },
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        let named = |handle: &str| runtime.lookup().resolve_to_act(handle, &context.scope());
        let tasks = match self.what.unwrap_or(What::List) {
            What::List => return list(context, &runtime),
            What::Move { id, before, behind, first, last: _ } => {
                let to = match (before, behind) {
                    (Some(other), _) => MoveTo::Before(named(&other)?),
                    (None, Some(other)) => MoveTo::Behind(named(&other)?),
                    (None, None) if first => MoveTo::First,
                    (None, None) => MoveTo::Last,
                };
                let id = named(&id)?;
                context.pass_action(&runtime, "queue", &format!("move {id} in the queue"))?;
                vec![runtime.starts().move_queued(&id, &to)?]
            }
            What::Start { ids } => {
                let mut ids = ids.iter().map(|id| named(id)).collect::<Result<Vec<_>, _>>()?;
                let mut seen = HashSet::new();
                ids.retain(|id| seen.insert(id.clone()));
                if context.gated_session().is_some() {
                    let hint = "wait, or ask the user to run mw queue start";
                    return Err(CommandError::usage("a session cannot exceed the limits of the queue", hint));
                }
                ids.iter().map(|id| runtime.starts().start_now(id)).collect::<Result<_, _>>()?
            }
            What::Priority { id, priority } => {
                let id = named(&id)?;
                context.pass_action(&runtime, "queue", &format!("give {id} the priority {priority}"))?;
                vec![runtime.starts().set_priority(&id, priority)?]
            }
            What::Edit { id, words } => {
                if context.gated_session().is_some() {
                    let hint = "kill the task and start another, which is checked";
                    return Err(CommandError::usage("a session cannot change the command of a task", hint));
                }
                vec![runtime.starts().set_command(&named(&id)?, command(context, &words))?]
            }
        };
        context.show(&json!({ "tasks": tasks }), || tasks.iter().map(changed).collect())
    }
}

/// Returns the command that words mean, as for `mw start`.
fn command(context: &Context, words: &[OsString]) -> CommandSpec {
    let raw = |text: &OsString| RawText::from(text.as_bytes());
    match words {
        [script] => CommandSpec::Shell { program: context.config.shell.as_str().into(), script: raw(script) },
        words => CommandSpec::Argv(words.iter().map(raw).collect()),
    }
}

fn changed(task: &Task) -> String {
    let state = match (task.status, task.queue_position) {
        (Status::Pending, Some(position)) => {
            format!("queued, position {position}, priority {}", task.priority)
        }
        (status, _) => status.word().to_owned(),
    };
    one_line(&format!("{}  {state}  {}", render::named(task), task.command)) + "\n"
}

fn list(context: &Context, runtime: &Runtime) -> CommandResult {
    let filter =
        TaskFilter { statuses: vec![Status::Pending], limit: u32::MAX, ..TaskFilter::new(context.scope()) };
    let mut tasks = runtime.tasks().list(&filter)?.tasks;
    tasks.sort_by(|one, other| {
        one.session.cmp(&other.session).then(one.queue_position.cmp(&other.queue_position))
    });
    let mut reasons = Vec::with_capacity(tasks.len());
    for task in &tasks {
        let mut task = task.clone();
        runtime.queue().add_waiting(&mut task)?;
        reasons.push(runtime.queue().reason(&task)?);
    }
    let listed: Result<Vec<_>, serde_json::Error> = tasks.iter().zip(&reasons).map(in_json).collect();
    let reply = json!({"tasks": listed.map_err(std::io::Error::from)?, "total": tasks.len()});
    let width = stdout().is_terminal().then(terminal::width);
    context.show(&reply, || table(&tasks, &reasons, width, context.colour()))
}

/// Adds the reason to a task.
fn in_json((task, reason): (&Task, &QueueReason)) -> Result<serde_json::Value, serde_json::Error> {
    let mut value = serde_json::to_value(task)?;
    value["priority"] = json!(task.priority);
    value["reason"] = json!(in_words(reason));
    Ok(value)
}

fn in_words(reason: &QueueReason) -> String {
    match reason {
        QueueReason::Tasks(names) => format!("after {names}"),
        QueueReason::NotBefore(at) => format!("its time, {}", at_time(*at, SystemClock.now())),
        QueueReason::LastRun => "processes of its last run".to_owned(),
        QueueReason::NoHolder => "its session has no host".to_owned(),
        QueueReason::SessionLimit(most) => {
            format!("limit of its session: {}", count(*most as usize, "task", "tasks"))
        }
        QueueReason::TotalLimit(most) => {
            format!("limit of all sessions: {}", count(*most as usize, "task", "tasks"))
        }
        QueueReason::GroupLimit(group) => {
            format!("limit of the group {}: {}", group.name, count(group.max as usize, "task", "tasks"))
        }
        QueueReason::Nothing => "starts now".to_owned(),
    }
}

/// Draws the queue. Sessions are named if there are several.
fn table(tasks: &[Task], reasons: &[QueueReason], width: Option<usize>, colour: bool) -> String {
    if tasks.is_empty() {
        return "Nothing is queued.\n".to_owned();
    }
    let now = SystemClock.now();
    let several = tasks.iter().any(|task| task.session != tasks[0].session);
    let row = |(task, reason): (&Task, &QueueReason)| {
        [
            task.queue_position.map(|position| position.to_string()).unwrap_or_default(),
            one_line(&task.short_name()),
            task.priority.to_string(),
            in_words(reason),
            ago(now.ms_since(task.created_at)),
            one_line(&task.command),
        ]
    };
    let heading = ["#", "TASK", "PRIORITY", "WAITS FOR", "QUEUED", "COMMAND"].map(str::to_owned);
    let rows: Vec<_> = tasks.iter().zip(reasons).map(row).collect();
    let column = |at: usize| rows.iter().chain([&heading]).map(|row| columns(&row[at])).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(column);
    let line = |row: &[String; 6]| {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell}{}  ", " ".repeat(width.saturating_sub(columns(cell)))));
        let line = format!("{}{}", cells.collect::<String>(), row[5]);
        width.map_or_else(|| line.clone(), |width| shortened(&line, width))
    };
    let mut text = render::paint(&line(&heading), "1", colour) + "\n";
    let mut session = None;
    for (task, row) in tasks.iter().zip(&rows) {
        if several && session != Some(&task.session) {
            text.push_str(&render::paint(&format!("session {}", one_line(&task.session)), "2", colour));
            text.push('\n');
            session = Some(&task.session);
        }
        text.push_str(&line(row));
        text.push('\n');
    }
    text
}
