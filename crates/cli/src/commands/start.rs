//! `mw start`: runs a command in the background.

use std::ffi::OsString;
use std::sync::Arc;

use clap::Args;
use meanwhile::engine::model::DEFAULT_SESSION;
use meanwhile::engine::{Clock, DirectStart, Directories, Started, SystemClock, TaskRequest};
use mw_tools::task_calls::TaskCall;

use crate::arguments::quick::{CommonForm, QuickArguments, Words};
use crate::arguments::schedule::ScheduleArguments;
use crate::arguments::task::{COMMON_LISTS, COMMON_VALUES, TaskArguments};
use crate::config::Config;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render::start_reply::StartReply;
use crate::{direct, programs, render};

#[derive(Args)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Arguments {
    /// Print only the id
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    schedule: ScheduleArguments,
    #[command(flatten)]
    task: TaskArguments,
}

const COMMON: CommonForm =
    CommonForm { flags: &["quiet"], values: &COMMON_VALUES, lists: &COMMON_LISTS, words: Words::Command };

impl Arguments {
    pub(crate) fn quick(words: &[OsString]) -> Option<(bool, Self)> {
        let arguments = QuickArguments::parse(words, &COMMON)?;
        let (json, quiet) = (arguments.json(), arguments.flag("quiet"));
        // clap refuses both.
        (!json || !quiet).then_some((
            json,
            Self { quiet, schedule: ScheduleArguments::default(), task: TaskArguments::quick(&arguments)? },
        ))
    }

    /// Starts the task without the engine; `None` if that is not possible, in which case nothing was changed.
    pub(crate) fn run_direct(self, json: bool) -> Option<CommandResult> {
        if !direct::acts_for_user() {
            return None;
        }
        // It gets ready on another core meanwhile. If no task follows, it exits.
        let supervisor = mw_supervisor::fork_guardian().ok()?;
        let config = Config::load_quietly()?;
        let request = self.task.request(&config, DEFAULT_SESSION, Vec::new()).ok()?;
        let directories = Directories::open(config.settings, Arc::new(SystemClock)).ok()?;
        match directories.start(&request, supervisor) {
            DirectStart::Started(task) => {
                Some(show(&Started { task: *task, existed: false }, json, self.quiet))
            }
            DirectStart::Unanswered(id) => Some(Err(programs::become_engine_for(&["started", id.as_str()]))),
            DirectStart::Undone => None,
        }
    }

    /// Returns whether only the id is printed.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns the same as a call of a tool; `None` if an option has no counterpart there.
    pub(crate) fn as_call(&self) -> Option<TaskCall> {
        if self.schedule == ScheduleArguments::default() { self.task.as_call() } else { None }
    }

    /// Refuses what could not be started now.
    pub(crate) fn check(self, context: &Context) -> Result<(), CommandError> {
        Ok(context.runtime()?.starts().check(&self.request(context)?)?)
    }

    /// Returns the request that it stands for. Names of other tasks are looked up when the task starts.
    pub(crate) fn request(self, context: &Context) -> Result<TaskRequest, CommandError> {
        let schedule = self.schedule.schedule(SystemClock.now())?;
        let request = self.task.request(&context.config, &context.owner(), Vec::new())?;
        Ok(TaskRequest { schedule, ..request })
    }

    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.passing_runtime()?;
        let schedule = self.schedule.schedule(SystemClock.now())?;
        let started = self.task.start(context, &runtime, "start", schedule)?;
        let shown = show(&started, context.json, self.quiet);
        // The end of the process closes the database faster than we could.
        std::mem::forget(runtime);
        shown
    }
}

fn show(started: &Started, json: bool, quiet: bool) -> CommandResult {
    let shown = if quiet && !started.task.never_ran() {
        render::out(&format!("{}\n", started.task.id)).map(|()| 0).map_err(CommandError::from)
    } else {
        StartReply::show(started, json)
    };
    shown.map_err(|error| error.with_task(&started.task.id))
}
