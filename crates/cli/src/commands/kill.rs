//! `mw kill`: kills tasks and their process trees, or sends them a signal.

use std::ffi::OsString;

use clap::Args;
use meanwhile::TaskFilter;
use meanwhile::engine::model::{Status, parse_duration_ms, signal_name, signal_number};
use meanwhile::engine::{Directories, KillFailure, KillReport, KillRequest};
use meanwhile::model::signal::SIGTERM;
use mw_tools::task_calls::TaskCall;
use serde_json::json;

use crate::arguments::quick::{CommonForm, QuickArguments, Words};
use crate::context::{Context, USER};
use crate::error::{CommandError, CommandResult};
use crate::{direct, exit_code, render};

#[derive(Args)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Arguments {
    /// The tasks
    #[arg(required_unless_present_any = ["batch", "all"])]
    ids: Vec<String>,
    /// First signal; TERM, INT and KILL stop the task, any other signal is only delivered, unless --grace is given
    #[arg(long, short, value_name = "NAME", default_value = "TERM", value_parser = parse_signal)]
    signal: i32,
    /// Grace period before SIGKILL
    #[arg(long, short = 't', value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    grace: Option<u64>,
    /// Follow any signal with SIGKILL after the grace period of the settings
    #[arg(long, conflicts_with = "grace")]
    then_kill: bool,
    /// Kill all live tasks of this batch, and survivors of its ended tasks
    #[arg(long)]
    batch: Option<String>,
    /// Kill all live tasks, and survivors of ended tasks
    #[arg(long, conflicts_with_all = ["ids", "batch"])]
    all: bool,
}

pub(super) fn parse_signal(text: &str) -> Result<i32, String> {
    signal_number(text)
        .ok_or_else(|| format!("{text:?} is not a signal: write TERM, INT, HUP, KILL or a number"))
}

const COMMON: CommonForm = CommonForm { flags: &[], values: &[], lists: &[], words: Words::Tasks };

impl Arguments {
    pub(crate) fn quick(words: &[OsString]) -> Option<(bool, Self)> {
        let arguments = QuickArguments::parse(words, &COMMON)?;
        let ids = arguments.texts()?;
        Some((
            arguments.json(),
            Self { ids, signal: SIGTERM, grace: None, then_kill: false, batch: None, all: false },
        ))
    }

    /// Ends one task without the engine; `None` if its supervisor did not do it.
    pub(crate) fn run_direct(&self, json: bool) -> Option<CommandResult> {
        let [handle] = &self.ids[..] else { return None };
        let directories = direct::open()?;
        let id = directories.find(handle)?;
        let request = KillRequest { by: USER.to_owned(), signal: self.signal, grace_ms: self.grace };
        let receipt = directories.kill(&id, &request)?;
        let kills = KillReport { receipts: vec![receipt], failures: Vec::new() };
        Some(show(json, &directories, kills, true))
    }

    /// Returns the same as a call of a tool; `None` if an option has no counterpart there.
    pub(crate) fn as_call(&self) -> Option<TaskCall> {
        let Self { ids, signal, grace: None, then_kill: false, batch, all: false } = self else {
            return None;
        };
        let signal = signal_name(*signal);
        Some(TaskCall::new("task_stop", json!({"task_ids": ids, "batch_id": batch, "signal": signal})))
    }

    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        // Every handle is resolved before anything is killed.
        let mut ids: Vec<_> = self
            .ids
            .iter()
            .map(|handle| runtime.lookup().resolve_to_act(handle, &context.scope()))
            .collect::<Result<_, _>>()?;
        if self.all || self.batch.is_some() {
            let live = Status::ALL.into_iter().filter(|status| !status.is_terminal()).collect();
            let filter = TaskFilter {
                statuses: live,
                batch: self.batch.clone(),
                limit: u32::MAX,
                ..TaskFilter::new(context.scope())
            };
            // Queued tasks first, so that none starts in a freed slot.
            let (pending, running): (Vec<_>, Vec<_>) = runtime
                .tasks()
                .list(&filter)?
                .tasks
                .into_iter()
                .partition(|task| task.status == Status::Pending);
            let found = ids.len();
            ids.extend(pending.into_iter().chain(running).map(|task| task.id));
            ids.extend(runtime.live().left_behind(&context.scope(), self.batch.as_deref())?);
            if let (true, Some(batch)) = (ids.len() == found, &self.batch) {
                // Ended tasks are no error.
                context.batch(&runtime, batch)?;
            }
        }
        let named: Vec<_> = ids.iter().map(ToString::to_string).collect();
        let own_grace = self.then_kill.then_some(context.config.settings.limits.kill_grace_ms);
        let request =
            KillRequest { by: context.requester(), signal: self.signal, grace_ms: self.grace.or(own_grace) };
        let action = match request.ends() {
            true => format!("end {}", named.join(", ")),
            false => format!("send {} to {}", signal_name(self.signal), named.join(", ")),
        };
        context.pass_action(&runtime, "kill", &action)?;
        let kills = runtime.live().kill_all(&ids, &request);
        let code = show(context.json, runtime.directories(), kills, self.ids.len() == 1)?;
        // The end of the process closes the database faster than we could.
        std::mem::forget(runtime);
        Ok(code)
    }
}

/// Returns an error with the name of the task that could not be killed.
fn about(directories: &Directories, failure: KillFailure) -> (String, CommandError) {
    let id = failure.id.to_string();
    let name = directories.shown_name(&failure.id);
    let error = CommandError::about(failure.error, name.as_deref().unwrap_or(&id));
    (id, error)
}

/// Prints receipts and errors; for a single task only one of them. Returns the exit code.
pub(super) fn show(json: bool, directories: &Directories, kills: KillReport, single: bool) -> CommandResult {
    let KillReport { receipts, mut failures } = kills;
    if let (true, [], 1) = (single, &receipts[..], failures.len())
        && let Some(failure) = failures.pop()
    {
        return Err(about(directories, failure).1);
    }
    let errors: Vec<_> = failures.into_iter().map(|failure| about(directories, failure)).collect();
    if json {
        let value = match &receipts[..] {
            [receipt] if single => json!(receipt),
            _ if errors.is_empty() => json!({"receipts": receipts}),
            _ => {
                let each = |(id, error): &(String, CommandError)| json!({"id": id, "code": error.code, "message": error.message, "hint": error.hint});
                json!({"receipts": receipts, "errors": errors.iter().map(each).collect::<Vec<_>>()})
            }
        };
        render::json(&value)?;
    } else {
        for receipt in &receipts {
            let name = directories.shown_name(&receipt.id);
            render::out(&render::receipt(receipt, name.as_deref()))?;
        }
        for (_, error) in &errors {
            error.show(false);
        }
    }
    let stuck = receipts.iter().any(|receipt| !receipt.survivors.is_empty());
    Ok(match errors.first() {
        Some((_, error)) => error.exit,
        None if stuck => exit_code::FAILURE,
        None => 0,
    })
}
