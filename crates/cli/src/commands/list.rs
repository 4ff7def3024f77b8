//! `mw list`: lists tasks, live tasks first.

use std::ffi::OsString;

use clap::Args;
use meanwhile::engine::{Clock, PortHolder, PortHolders, Runtime, SystemClock};
use meanwhile::model::{Status, TaskId, TaskKind, Timestamp};
use meanwhile::{Scope, Task, TaskFilter, TaskPage};
use mw_desk::text::count;
use mw_tools::task_calls::TaskCall;
use serde::Serialize;
use serde_json::json;

use crate::arguments::quick::{CommonForm, QuickArguments, Words};
use crate::arguments::task::KINDS;
use crate::arguments::values::{one_of, parse_number, parse_port};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::foreground::terminal;
use crate::hints;
use crate::render;
use crate::render::table;

#[derive(Args)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Arguments {
    /// Only tasks in these states, separated by commas
    #[arg(long, short, value_name = "STATUS", value_delimiter = ',', value_parser = parse_status)]
    status: Vec<Status>,
    /// Only tasks of this kind
    #[arg(long, value_parser = one_of(&KINDS))]
    kind: Option<TaskKind>,
    /// Only tasks of this session
    #[arg(long)]
    session: Option<String>,
    /// Only tasks of this batch
    #[arg(long)]
    batch: Option<String>,
    /// Only tasks with this name
    #[arg(long)]
    name: Option<String>,
    /// Show which tasks and other processes listen on this port
    #[arg(long, value_name = "N", value_parser = parse_port, conflicts_with_all = ["status", "kind", "batch", "name", "all", "limit", "internal"])]
    port: Option<u16>,
    /// Show all matching tasks
    #[arg(long, short, conflicts_with = "limit")]
    all: bool,
    /// Maximum number of tasks to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = PAGE, value_parser = parse_number::<u32>, allow_hyphen_values = true)]
    limit: u32,
    /// Also show the tasks that keep agents running for a follow-up
    #[arg(long)]
    internal: bool,
    /// Do not redact secrets
    #[arg(long)]
    raw: bool,
    /// Print only the ids
    #[arg(long, short, conflicts_with_all = ["json", "port"])]
    quiet: bool,
    /// The form of the list: a table, JSON, or only the ids
    #[arg(long, short = 'o', value_name = "FORM", value_parser = ["table", "json", "id"], conflicts_with_all = ["json", "quiet", "port"])]
    output: Option<String>,
}

/// How many tasks are shown by default.
const PAGE: u32 = 50;

const COMMON: CommonForm = CommonForm { flags: &["all"], values: &[], lists: &[], words: Words::None };

#[derive(Serialize)]
struct ListReply<'a> {
    tasks: &'a [Task],
    total: u64,
}

#[derive(Serialize)]
struct PortReply<'a> {
    tasks: &'a [Task],
    total: u64,
    /// Processes that listen on the port and belong to no task.
    others: &'a [PortHolder],
    /// Tasks whose supervisors did not answer.
    #[serde(skip_serializing_if = "<[TaskId]>::is_empty")]
    silent: &'a [TaskId],
}

pub(crate) fn parse_status(word: &str) -> Result<Status, String> {
    let known = || Status::ALL.map(Status::word).join(", ");
    Status::from_word(word).ok_or_else(|| format!("{word:?} is not one of {}", known()))
}

impl Arguments {
    pub(crate) fn quick(words: &[OsString]) -> Option<(bool, Self)> {
        let arguments = QuickArguments::parse(words, &COMMON)?;
        let list = Self {
            status: Vec::new(),
            kind: None,
            session: None,
            batch: None,
            name: None,
            port: None,
            all: arguments.flag("all"),
            limit: PAGE,
            internal: false,
            raw: false,
            quiet: false,
            output: None,
        };
        Some((arguments.json(), list))
    }

    /// Returns the same as a call of a tool; `None` if an option has no counterpart there.
    pub(crate) fn as_call(&self) -> Option<TaskCall> {
        let Self {
            status,
            kind: None,
            session: None,
            batch,
            name: None,
            port: None,
            all: _,
            limit: PAGE,
            internal: false,
            raw: false,
            quiet: false,
            output: None,
        } = self
        else {
            return None;
        };
        let status = match &status[..] {
            [] => None,
            [one] => Some(one.word()),
            _ => return None,
        };
        Some(TaskCall::new("task_list", json!({"status": status, "batch_id": batch})))
    }

    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = if self.raw { context.open_runtime()? } else { context.runtime()? };
        let scope = match (context.scope(), self.session) {
            (Scope::All, Some(session)) => Scope::Session(session),
            (scope, _) => scope,
        };
        if let Some(port) = self.port {
            return show_port(context, &runtime, port, &scope);
        }
        let is_filtered = !self.status.is_empty()
            || self.kind.is_some()
            || self.batch.is_some()
            || self.name.is_some()
            || scope != Scope::All;
        let now = SystemClock.now();
        let filter = TaskFilter {
            order: mw_desk::query::by_state(now),
            statuses: self.status,
            kind: self.kind,
            batch: self.batch,
            name: self.name,
            internal: self.internal,
            limit: if self.all { u32::MAX } else { self.limit },
            ..TaskFilter::new(scope)
        };
        let page = runtime.tasks().list(&filter)?;
        let form = self.output.as_deref().unwrap_or("table");
        if self.quiet || form == "id" {
            render::out(&page.tasks.iter().map(|task| format!("{}\n", task.id)).collect::<String>())?;
        } else if context.json || form == "json" {
            render::json(&ListReply { tasks: &page.tasks, total: page.total })?;
        } else {
            show(&page, now, is_filtered, context.colour())?;
        }
        warn_of_damaged(&runtime)?;
        // The end of the process closes the database faster than we could.
        std::mem::forget(runtime);
        Ok(0)
    }
}

/// Prints the table and the number of tasks that are not in it.
fn show(page: &TaskPage, now: Timestamp, is_filtered: bool, colour: bool) -> Result<(), CommandError> {
    let columns = terminal::size().map(|(columns, _)| columns.into());
    let hidden = page.total.saturating_sub(page.tasks.len() as u64);
    match (page.tasks.is_empty(), hidden) {
        (true, 0) if is_filtered => render::out("No matching tasks.\n")?,
        (true, 0) => render::out("No tasks.\n")?,
        (true, _) => {}
        (false, _) => render::out(&table::table(page, now, columns, colour))?,
    }
    if hidden == 0 {
        return Ok(());
    }
    let more = format!("{}; use --all or --limit N", count(hidden as usize, "more task", "more tasks"));
    // A pipe gets only the tasks.
    if columns.is_some() {
        render::out(&format!("{more}\n"))?;
    } else {
        render::note(&more);
    }
    Ok(())
}

fn warn_of_damaged(runtime: &Runtime) -> Result<(), CommandError> {
    let damaged = runtime.tasks().damaged()?;
    let Some(first) = damaged.first() else { return Ok(()) };
    render::note(&format!("not listed: {}", first.reason));
    if damaged.len() > 1 {
        render::note(&format!("and {} more", damaged.len() - 1));
    }
    let directory = runtime.home().task(&first.id);
    render::note(&format!("repair {}, or remove it: {}", directory.display(), hints::about_kept(first)));
    Ok(())
}

fn show_port(context: &Context, runtime: &Runtime, port: u16, scope: &Scope) -> CommandResult {
    let found = runtime.live().port_holders(port, scope)?;
    let PortHolders { tasks, others, silent } = &found;
    let reply = PortReply { tasks, total: tasks.len() as u64, others, silent };
    context.show(&reply, || render::port(port, &found, context.colour()))?;
    for id in &found.silent {
        render::note(&format!(
            "the supervisor of {id} does not answer, so it is unknown whether the task listens on this port"
        ));
    }
    Ok(0)
}
