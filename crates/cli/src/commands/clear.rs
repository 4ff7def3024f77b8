//! `mw clear`: removes finished tasks and their files.

use std::collections::HashSet;

use clap::Args;
use meanwhile::engine::model::{TaskId, parse_duration_ms};
use meanwhile::engine::{ClearReport, KillRequest, Runtime};
use meanwhile::{Scope, TaskFilter};

use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::{exit_code, hints, render};

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
    #[arg(long, short = 'f')]
    kill: bool,
    /// Kill and remove all tasks of all sessions, and remove the home itself; before meanwhile is uninstalled
    #[arg(long, conflicts_with_all = ["ids", "finished", "older_than", "batch", "expired", "kill"])]
    everything: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        if self.everything {
            return everything(context);
        }
        let runtime = context.runtime()?;
        if self.expired {
            if context.scope() != Scope::All {
                let hint = "run it in a terminal without MEANWHILE_SESSION, outside of every task";
                return Err(CommandError::usage("a session cannot remove the tasks of others", hint));
            }
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
            let filter = TaskFilter { batch: self.batch.clone(), ..TaskFilter::new(context.scope()) };
            let whole_batch = self.batch.is_some() && self.kill && self.older_than.is_none();
            let tasks = if whole_batch {
                runtime.tasks().list(&TaskFilter { limit: u32::MAX, ..filter })?.tasks
            } else {
                runtime.retention().finished(&filter, self.older_than)?
            };
            ids.extend(tasks.into_iter().map(|task| task.id));
        }
        if !self.kill && !self.ids.is_empty() {
            refuse_live(&runtime, &ids)?;
        }
        if !ids.is_empty() {
            let named = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            if self.kill {
                context.pass_action(&runtime, "kill", &format!("end {named}"))?;
            }
            context.pass_action(&runtime, "clear", &format!("remove {named}"))?;
        }
        let kill = KillRequest::term(context.requester());
        let report = runtime.retention().clear(&ids, self.kill.then_some(&kill))?;
        show(context, &hints::with_commands(report))
    }
}

/// Removes all tasks and the home. Only the user may do that, outside of every session.
fn everything(context: &Context) -> CommandResult {
    if context.scope() != Scope::All {
        let hint = "run it in a terminal without MEANWHILE_SESSION, outside of every task";
        return Err(CommandError::usage("a session cannot remove the tasks of others", hint));
    }
    let home = context.config.settings.home.clone();
    if !home.is_dir() {
        return context.show(&json!({"cleared": [], "kept": [], "left": []}), || {
            format!("{} does not exist\n", home.display())
        });
    }
    let report = context.runtime()?.retention().clear_everything(&KillRequest::term(context.requester()))?;
    let tasks = hints::with_commands(report.tasks);
    let value = json!({"cleared": tasks.cleared, "kept": tasks.kept, "left": report.left});
    context.show(&value, || {
        let cleared = mw_desk::text::count(tasks.cleared.len(), "task", "tasks");
        let rest = if report.left.is_empty() { " and the home" } else { "" };
        format!("cleared {cleared}{rest}\n")
    })?;
    if !context.json {
        note_kept(&tasks);
        for path in report.left.iter().filter(|_| tasks.kept.is_empty()) {
            render::note(&format!("kept {}: meanwhile did not make it", path.display()));
        }
    }
    Ok(if report.left.is_empty() { 0 } else { exit_code::FAILURE })
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
    if !context.json {
        note_kept(report);
    }
    Ok(0)
}

fn note_kept(report: &ClearReport) {
    for kept in &report.kept {
        render::note(&format!("kept {}: {}; {}", kept.id, kept.reason, kept.hint));
    }
}
