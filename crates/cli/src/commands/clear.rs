//! `mw clear`: removes finished tasks and their files.

use std::collections::HashSet;

use clap::Args;
use meanwhile::Filter;
use meanwhile::engine::{ClearReport, KillRequest, Runtime};
use meanwhile::model::{TaskId, parse_duration_ms};

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::hints;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The tasks
    #[arg(conflicts_with_all = ["finished", "older_than", "batch"])]
    ids: Vec<String>,
    /// Remove all finished tasks
    #[arg(long)]
    finished: bool,
    /// Remove tasks that ended at least this long ago
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    older_than: Option<u64>,
    /// Remove tasks that the retention settings no longer keep
    #[arg(long, conflicts_with_all = ["ids", "finished", "older_than", "batch", "kill"])]
    expired: bool,
    /// Remove tasks of this batch
    #[arg(long)]
    batch: Option<String>,
    /// Kill live tasks first
    #[arg(long)]
    kill: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        if self.expired {
            return show(context, &hints::with_commands(runtime.retention().purge()?));
        }
        let mut ids = self
            .ids
            .iter()
            .map(|handle| runtime.lookup().resolve_to_act(handle, &context.scope()))
            .collect::<Result<Vec<_>, _>>()?;
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        let by_rule = self.finished || self.older_than.is_some() || self.batch.is_some();
        if ids.is_empty() && !by_rule {
            return Err(CommandError::usage(
                "no tasks given",
                "name tasks, or use --finished, --older-than, --batch or --expired",
            ));
        }
        if by_rule {
            let filter = Filter { batch: self.batch.clone(), ..Filter::new(context.scope()) };
            let whole_batch = self.batch.is_some() && self.kill && self.older_than.is_none();
            let tasks = if whole_batch {
                runtime.tasks().list(&Filter { limit: u32::MAX, ..filter })?.tasks
            } else {
                runtime.retention().finished(&filter, self.older_than)?
            };
            ids.extend(tasks.into_iter().map(|task| task.id));
        }
        if !self.kill && !self.ids.is_empty() {
            refuse_live(&runtime, &ids)?;
        }
        let kill = KillRequest::term(context.requester());
        let report = runtime.retention().clear(&ids, self.kill.then_some(&kill))?;
        show(context, &hints::with_commands(report))
    }
}

/// Refuses a live task before anything is removed.
fn refuse_live(runtime: &Runtime, named: &[TaskId]) -> Result<(), CommandError> {
    for id in named {
        if let Some(reason) = runtime.retention().reason_to_keep(id)? {
            let hint = format!("mw clear --kill {id} kills it first");
            return Err(CommandError::conflict(format!("{id} cannot be cleared: {reason}"), hint));
        }
    }
    Ok(())
}

/// Prints what was removed, and what to do about the rest.
fn show(context: &Context, report: &ClearReport) -> CommandResult {
    let cleared = mw_desk::text::count(report.cleared.len(), "task", "tasks");
    context.show(report, || format!("cleared {cleared}\n"))?;
    for kept in report.kept.iter().filter(|_| !context.json) {
        render::note(&format!("kept {}: {}; {}", kept.id, kept.reason, kept.hint));
    }
    Ok(0)
}
