//! One file per command: its arguments and what it does.

mod attach;
mod clear;
mod completions;
mod config;
mod fail_points;
mod follow;
mod input;
mod kill;
mod list;
mod output;
mod reference;
mod restart;
mod run;
mod settle;
mod start;
mod status;
mod wait;
mod watch;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CommandResult;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run something in the background and return at once
    Start(start::Arguments),
    /// Run something attached: stream its output, exit with its code
    Run(run::Arguments),
    /// List tasks, live ones first
    #[command(alias = "ls")]
    List(list::Arguments),
    /// Show one task and its last lines
    Status(status::Arguments),
    /// Read a task's output
    Output(output::Arguments),
    /// Wait for tasks: for their end, a line, a port, silence
    Wait(wait::Arguments),
    /// End tasks and everything they started
    Kill(kill::Arguments),
    /// Type into a task
    Input(input::Arguments),
    /// Join the terminal to a task
    Attach(attach::Arguments),
    /// Run a task once more
    Restart(restart::Arguments),
    /// Remove finished tasks and their files
    Clear(clear::Arguments),
    /// Print what happens as JSON lines
    Watch(watch::Arguments),
    /// Show all settings, their values and where they came from
    Config(config::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Record an ending and start the next task (called by supervisors)
    #[command(hide = true)]
    Settle(settle::Arguments),
    /// Print the reference of all commands and settings
    #[command(hide = true)]
    Reference(reference::Arguments),
    /// List the steps at which a debug build can be made to die
    #[command(hide = true)]
    FailPoints(fail_points::Arguments),
}

impl Command {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        match self {
            Self::Start(arguments) => arguments.run(context),
            Self::Run(arguments) => arguments.run(context),
            Self::List(arguments) => arguments.run(context),
            Self::Status(arguments) => arguments.run(context),
            Self::Output(arguments) => arguments.run(context),
            Self::Wait(arguments) => arguments.run(context),
            Self::Kill(arguments) => arguments.run(context),
            Self::Input(arguments) => arguments.run(context),
            Self::Attach(arguments) => arguments.run(context),
            Self::Restart(arguments) => arguments.run(context),
            Self::Clear(arguments) => arguments.run(context),
            Self::Watch(arguments) => arguments.run(context),
            Self::Config(arguments) => arguments.run(context),
            Self::Completions(arguments) => arguments.run(),
            Self::Settle(arguments) => arguments.run(context),
            Self::Reference(arguments) => arguments.run(),
            Self::FailPoints(arguments) => arguments.run(),
        }
    }
}
