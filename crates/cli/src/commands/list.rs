//! `mw list`: tasks, live ones first.

use clap::Args;
use meanwhile::model::Status;
use meanwhile::{Filter, PortHolder, Runtime, Scope, Task};
use serde::Serialize;

use super::start::{KindChoice, parse_port};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only in these states, separated by commas
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = parse_status)]
    status: Vec<Status>,
    /// Only of this kind
    #[arg(long, value_enum)]
    kind: Option<KindChoice>,
    /// Only of this session
    #[arg(long)]
    session: Option<String>,
    /// Only of this batch
    #[arg(long)]
    batch: Option<String>,
    /// Only with this name
    #[arg(long)]
    name: Option<String>,
    /// Who listens on this port: tasks, or other processes
    #[arg(long, value_name = "N", value_parser = parse_port, conflicts_with_all = ["status", "kind", "batch", "name", "all", "limit"])]
    port: Option<u16>,
    /// All that fit
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Most tasks to show
    #[arg(long, value_name = "N", default_value_t = 50, allow_hyphen_values = true)]
    limit: u32,
    /// Show secrets, too
    #[arg(long)]
    raw: bool,
}

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
}

pub(crate) fn parse_status(word: &str) -> Result<Status, String> {
    let known = || Status::ALL.map(Status::word).join(", ");
    Status::from_word(word).ok_or_else(|| format!("{word:?} is none of {}", known()))
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = if self.raw { context.open_runtime()? } else { context.runtime()? };
        let scope = match (context.scope(), self.session) {
            (Scope::All, Some(session)) => Scope::Session(session),
            (scope, _) => scope,
        };
        if let Some(port) = self.port {
            return show_port(context, &runtime, port, &scope);
        }
        let filter = Filter {
            statuses: self.status,
            kind: self.kind.map(KindChoice::kind),
            batch: self.batch,
            name: self.name,
            limit: if self.all { u32::MAX } else { self.limit },
            ..Filter::new(scope)
        };
        let page = runtime.list(&filter)?;
        if context.json {
            render::json(&ListReply { tasks: &page.tasks, total: page.total })?;
        } else {
            render::out(&render::list(&page, context.colour()))?;
        }
        warn_of_damaged(&runtime)?;
        Ok(0)
    }
}

fn warn_of_damaged(runtime: &Runtime) -> Result<(), CommandError> {
    let damaged = runtime.damaged()?;
    let Some(first) = damaged.first() else { return Ok(()) };
    render::note(&format!("left out of the list: {}", first.reason));
    if damaged.len() > 1 {
        render::note(&format!("and so are {} more", damaged.len() - 1));
    }
    let directory = runtime.home().task(&first.id);
    render::note(&format!("repair {}, or remove it: {}", directory.display(), first.hint));
    Ok(())
}

fn show_port(context: &Context, runtime: &Runtime, port: u16, scope: &Scope) -> CommandResult {
    let found = runtime.port_holders(port, scope)?;
    if context.json {
        let total = found.tasks.len() as u64;
        render::json(&PortReply { tasks: &found.tasks, total, others: &found.others })?;
    } else {
        render::out(&render::port(port, &found, context.colour()))?;
    }
    Ok(0)
}
