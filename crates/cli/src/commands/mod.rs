//! One file per command: its arguments and what it does.

mod approvals;
mod approve;
mod attach;
mod clear;
mod completions;
mod config;
mod deny;
mod doctor;
mod fail_points;
mod follow;
mod hook;
mod input;
mod kill;
mod limits;
mod list;
mod mcp;
mod notices;
mod output;
mod policy;
mod reference;
mod restart;
mod run;
mod session;
mod settle;
mod setup;
mod start;
mod status;
mod tools;
mod traces;
mod wait;
mod watch;

use clap::{ArgMatches, Args, FromArgMatches, Subcommand};

use crate::context::Context;
use crate::error::CommandResult;

/// Lists the commands once: the variant, the word, the arguments, the line of help.
///
/// What `#[derive(Subcommand)]` writes, but for one thing: the options of a command are put together only when
/// it is the one that was called, or when help for it is wanted. With all of them every call would take a tenth
/// longer.
macro_rules! commands {
    ($($variant:ident $word:literal $arguments:ty, $about:literal $(, $with:ident($value:expr))*;)+) => {
        pub(crate) enum Command {
            $($variant($arguments),)+
        }

        impl Subcommand for Command {
            fn augment_subcommands(root: clap::Command) -> clap::Command {
                root$(.subcommand(described::<$arguments>($word, $about)$(.$with($value))*))+
            }

            fn augment_subcommands_for_update(root: clap::Command) -> clap::Command {
                Self::augment_subcommands(root)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($word),+].contains(&name)
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($word, matches)) => {
                        <$arguments>::from_arg_matches(matches).map(Self::$variant)
                    })+
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Command {
            pub(crate) fn run(self, context: &Context) -> CommandResult {
                match self {
                    $(Self::$variant(arguments) => arguments.run(context),)+
                }
            }
        }
    };
}

fn described<A: Args>(word: &'static str, about: &'static str) -> clap::Command {
    clap::Command::new(word).about(about).defer(A::augment_args)
}

commands! {
    Start "start" start::Arguments, "Run something in the background and return at once";
    Run "run" run::Arguments, "Run something attached: stream its output, exit with its code";
    List "list" list::Arguments, "List tasks, live ones first", alias("ls");
    Status "status" status::Arguments, "Show one task and its last lines";
    Output "output" output::Arguments, "Read a task's output";
    Wait "wait" wait::Arguments, "Wait for tasks: for their end, a line, a port, silence";
    Kill "kill" kill::Arguments, "End tasks and everything they started";
    Input "input" input::Arguments, "Type into a task";
    Attach "attach" attach::Arguments, "Join the terminal to a task";
    Restart "restart" restart::Arguments, "Run a task once more";
    Clear "clear" clear::Arguments, "Remove finished tasks and their files";
    Watch "watch" watch::Arguments, "Print what happens as JSON lines";
    Session "session" session::Arguments, "Run a host, list sessions, end or delete one";
    Notices "notices" notices::Arguments, "Print what a session's owner has not been told yet, once";
    Approvals "approvals" approvals::Arguments, "List what waits for a person's approval, or what became of it";
    Approve "approve" approve::Arguments, "Approve what an agent wants to do";
    Deny "deny" deny::Arguments, "Forbid what an agent wants to do";
    Policy "policy" policy::Arguments, "Explain what would be decided about a command, without running it";
    Mcp "mcp" mcp::Arguments, "Serve the tools to an agent over MCP";
    Tools "tools" tools::Arguments, "Print the tools that models are offered";
    Traces "traces" traces::Arguments, "Show the spans of tasks as trees, and whether they were delivered";
    Setup "setup" setup::Arguments, "Tell a host of meanwhile: show the change to its files, make it, take it back";
    Hook "hook" hook::Arguments, "Answer a host's hook with what its agent has not been told yet";
    Doctor "doctor" doctor::Arguments, "Check everything mw needs, and measure how fast it is here";
    Config "config" config::Arguments, "Show all settings, their values and where they came from";
    Completions "completions" completions::Arguments, "Print a completion script for a shell";
    Settle "settle" settle::Arguments, "Record an ending and start the next task (called by supervisors)", hide(true);
    Reference "reference" reference::Arguments, "Print the reference of all commands and settings", hide(true);
    FailPoints "fail-points" fail_points::Arguments, "List the steps at which a debug build can be made to die", hide(true);
}
