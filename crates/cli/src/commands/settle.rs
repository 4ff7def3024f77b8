//! `mw settle`: records the end of a task and starts the next one. A supervisor executes it at its end, and with
//! `--ready` next to a task that is not ready yet. With `--alarm` it is the process that sleeps until the next task is due.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use clap::Args;
use meanwhile::engine::{Runtime, Urgency};
use meanwhile::model::TaskId;

use crate::arguments::quick::{CommonForm, QuickArguments, Words};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::otel::{self, Receiver};
use crate::programs;

#[derive(Args)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Arguments {
    /// The home of the task
    #[arg(long)]
    home: PathBuf,
    /// Check whether the task is ready instead, and tell its supervisor
    #[arg(long, requires = "id")]
    ready: bool,
    /// Start tasks when they are due, until none is due later
    #[arg(long, conflicts_with_all = ["ready", "id"])]
    alarm: bool,
    /// The task [default: all tasks]
    id: Option<String>,
}

const COMMON: CommonForm = CommonForm { flags: &[], values: &["home"], lists: &[], words: Words::Tasks };

impl Arguments {
    pub(crate) fn quick(words: &[OsString]) -> Option<(bool, Self)> {
        let arguments = QuickArguments::parse(words, &COMMON)?;
        let home = arguments.all("home").next().map(PathBuf::from)?;
        let [id] = <[String; 1]>::try_from(arguments.texts()?).ok()?;
        Some((arguments.json(), Self { home, ready: false, alarm: false, id: Some(id) }))
    }

    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let id = self.task()?;
        let runtime = self.runtime(context)?;
        if self.alarm {
            // A signal to the process group of the command that started this process does not end it.
            let _ = rustix::process::setsid();
            runtime.settler().keep_alarm()?;
            return Ok(0);
        }
        match id.as_ref().filter(|_| self.ready) {
            Some(id) => runtime.live().watch_readiness(id)?,
            None => {
                // A supervisor hands over the turn to settle as standard input.
                let turn = io::stdin().as_fd().try_clone_to_owned().ok().map(File::from);
                runtime.settler().settle_in_turn(id.as_ref(), turn)?;
                hand_spans_over(&runtime, id.as_ref())?;
            }
        }
        Ok(0)
    }

    /// Exports spans, in the executable that has an HTTP client.
    pub(crate) fn deliver_spans(self, context: &Context) -> CommandResult {
        let id = self.task()?;
        let runtime = self.runtime(context)?;
        if let Some(receiver) = receiver(&runtime, id.as_ref()) {
            otel::deliver(&runtime, &receiver, Urgency::WhenDue)?;
        }
        Ok(0)
    }

    fn task(&self) -> Result<Option<TaskId>, CommandError> {
        let usage = |error| CommandError::usage(format!("{error}"), "settle is called by supervisors");
        self.id.as_ref().map(|id| id.parse::<TaskId>().map_err(usage)).transpose()
    }

    fn runtime(&self, context: &Context) -> Result<Runtime, CommandError> {
        let mut settings = context.config.settings.clone();
        // Tasks that are started here are settled in the same home, whatever the environment says.
        // This process may start many tasks before it exits.
        settings.executables = programs::of_home(&self.home)?;
        settings.home.clone_from(&self.home);
        Ok(Runtime::open(settings)?)
    }
}

/// Exports spans, if any are due. Nobody waits for it.
fn hand_spans_over(runtime: &Runtime, id: Option<&TaskId>) -> Result<(), CommandError> {
    let Some(receiver) = receiver(runtime, id) else { return Ok(()) };
    let endpoint = receiver.endpoint();
    if runtime.traces().owes_delivery(&endpoint)? {
        let obstacle = programs::become_surfaces();
        // The spans keep waiting, and `mw traces` shows why.
        runtime.traces().deliver_spans(&endpoint, Urgency::WhenDue, |_| Err(obstacle.message.clone()))?;
    }
    Ok(())
}

/// Returns the receiver of spans: that of this process's environment, or else that of the task's.
fn receiver(runtime: &Runtime, id: Option<&TaskId>) -> Option<Receiver> {
    let of_task = || Receiver::among(&runtime.traces().variables_of(id?, "OTEL_").ok()?);
    Receiver::own().or_else(of_task)
}
