//! A file per command: its arguments and its code.

mod acp;
mod agent;
mod agent_driver;
mod agent_keeper;
mod approvals;
mod approve;
mod attach;
mod chat;
mod clear;
mod completions;
mod config;
mod deny;
mod doctor;
mod fail_points;
mod hook;
mod input;
mod kill;
mod list;
mod mcp;
mod notices;
mod output;
mod policy;
mod reference;
mod restart;
mod resume;
mod run;
mod session;
mod settle;
mod setup;
mod start;
mod status;
mod tools;
mod top;
mod traces;
mod wait;
mod watch;

use std::ffi::OsStr;

use clap::{ArgMatches, Args, FromArgMatches};

use crate::context::{Context, Needs};
use crate::error::{CommandError, CommandResult};
use crate::programs;

/// Lists the commands once: the variant, the word, the arguments, the executable that runs it, whether it needs valid
/// settings, and the line of help.
///
/// Like `#[derive(Subcommand)]`, except that only the called command is built. Building all of them would make every call a
/// tenth slower.
macro_rules! commands {
    ($($variant:ident $word:literal $arguments:ty, $place:ident, $needs:ident, $about:literal $(, $with:ident($value:expr))*;)+) => {
        pub(crate) enum Command {
            $($variant($arguments),)+
        }

        /// Adds every command to the root.
        pub(crate) fn all(root: clap::Command) -> clap::Command {
            root$(.subcommand(described::<$arguments>($word, $about)$(.$with($value))*))+
        }

        /// Adds only the command of that name to the root, or all visible commands if there is none.
        pub(crate) fn only(root: clap::Command, name: &OsStr) -> clap::Command {
            match name.to_str() {
                $(Some($word) => root.subcommand(described::<$arguments>($word, $about)$(.$with($value))*),)+
                _ => {
                    let all = all(clap::Command::new("all"));
                    root.subcommands(all.get_subcommands().filter(|command| !command.is_hide_set()).cloned())
                }
            }
        }

        impl Command {
            /// Returns the arguments of the called command.
            pub(crate) fn read(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($word, matches)) => {
                        <$arguments>::from_arg_matches(matches).map(Self::$variant)
                    })+
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            /// Returns whether invalid settings are an error. Commands that only show or end tasks ignore them.
            pub(crate) const fn needs(&self) -> Needs {
                match self {
                    $(Self::$variant(_) => Needs::$needs,)+
                }
            }

            /// Runs a command of `mw`, or executes the other executable.
            pub(crate) fn run(self, context: impl FnOnce() -> Result<Context, CommandError>) -> CommandResult {
                match self {
                    $(Self::$variant(arguments) => in_mw!($place, arguments, context),)+
                }
            }

            /// Runs a command of `mw-surfaces`.
            pub(crate) fn run_surface(self, context: &Context) -> CommandResult {
                match self {
                    $(Self::$variant(arguments) => in_surfaces!($place, arguments, context),)+
                }
            }
        }
    };
}

macro_rules! in_mw {
    (mw, $arguments:ident, $context:ident) => {
        $arguments.run(&$context()?)
    };
    (surfaces, $arguments:ident, $context:ident) => {{
        // The other executable parses the arguments again.
        let _ = $arguments;
        Err(programs::become_surfaces())
    }};
}

macro_rules! in_surfaces {
    (mw, $arguments:ident, $context:ident) => {{
        let _ = $arguments;
        Err(programs::not_here())
    }};
    (surfaces, $arguments:ident, $context:ident) => {
        $arguments.run($context)
    };
}

/// Returns the usage: a script, or a program with arguments.
fn usage(word: &str) -> String {
    format!("mw {word} [OPTIONS] 'SCRIPT'\n       mw {word} [OPTIONS] [--] PROGRAM [ARGUMENT]...")
}

fn described<A: Args>(word: &'static str, about: &'static str) -> clap::Command {
    clap::Command::new(word).about(about).defer(A::augment_args)
}

commands! {
    Start "start" start::Arguments, mw, Settings, "Run a command in the background and return at once", override_usage(usage("start"));
    Run "run" run::Arguments, mw, Settings, "Run a command attached: stream its output and exit with its exit code", override_usage(usage("run"));
    List "list" list::Arguments, mw, Nothing, "List tasks, live tasks first", alias("ls");
    Status "status" status::Arguments, mw, Nothing, "Show one task and its last lines of output";
    Output "output" output::Arguments, mw, Nothing, "Read a task's output";
    Wait "wait" wait::Arguments, mw, Nothing, "Wait until tasks end, print a line, open a port or are silent";
    Kill "kill" kill::Arguments, mw, Nothing, "Kill tasks and all processes they started";
    Input "input" input::Arguments, mw, Settings, "Send input to a task";
    Attach "attach" attach::Arguments, mw, Settings, "Connect the terminal to a task";
    Restart "restart" restart::Arguments, mw, Settings, "Run a task again";
    Clear "clear" clear::Arguments, mw, Nothing, "Remove finished tasks and their files";
    Chat "chat" chat::Arguments, surfaces, Settings, "Chat with an agent while its tasks run in the background";
    Top "top" top::Arguments, surfaces, Settings, "Manage tasks on a full screen: live list, logs, kill, restart";
    Agent "agent" agent::Arguments, surfaces, Settings, "Run another agent in the background, or list the available agents";
    Resume "resume" resume::Arguments, mw, Settings, "Send a follow-up message to an agent that has answered";
    Watch "watch" watch::Arguments, mw, Nothing, "Print events as JSON lines";
    Session "session" session::Arguments, mw, Settings, "List, run, end or delete sessions, or move tasks between them";
    Notices "notices" notices::Arguments, mw, Settings, "Print the undelivered notifications of a session, once";
    Approvals "approvals" approvals::Arguments, mw, Nothing, "List open approval requests, or earlier ones";
    Approve "approve" approve::Arguments, mw, Settings, "Approve a request of an agent";
    Deny "deny" deny::Arguments, mw, Settings, "Deny a request of an agent";
    Policy "policy" policy::Arguments, mw, Settings, "Explain whether a command would be allowed, without running it";
    Mcp "mcp" mcp::Arguments, surfaces, Settings, "Serve the tools to an agent over MCP";
    Acp "acp" acp::Arguments, surfaces, Settings, "Run the built-in agent for a client of the Agent Client Protocol";
    Tools "tools" tools::Arguments, surfaces, Nothing, "Print the tools that are offered to models";
    Traces "traces" traces::Arguments, surfaces, Nothing, "Show the spans of tasks as trees, and the state of their export";
    Setup "setup" setup::Arguments, surfaces, Settings, "Add meanwhile to the settings of a host, or remove it";
    Hook "hook" hook::Arguments, surfaces, Settings, "Answer a host's hook with undelivered notifications";
    Doctor "doctor" doctor::Arguments, surfaces, Nothing, "Check the installation and measure the latency of mw";
    Config "config" config::Arguments, mw, Nothing, "Show all settings, their values and their sources";
    Completions "completions" completions::Arguments, mw, Nothing, "Print a completion script for a shell";
    AgentDriver "agent-driver" agent_driver::Arguments, surfaces, Settings, "Drive the agent of a task (called by supervisors)", hide(true);
    AgentKeeper "agent-keeper" agent_keeper::Arguments, surfaces, Settings, "Keep an agent running for a follow-up (called by mw agent-driver)", hide(true);
    Settle "settle" settle::Arguments, mw, Settings, "Record the end of a task and start the next one (called by supervisors)", hide(true);
    Reference "reference" reference::Arguments, mw, Nothing, "Print the reference of all commands and settings", hide(true);
    FailPoints "fail-points" fail_points::Arguments, mw, Settings, "List the steps at which a debug build can be made to crash", hide(true);
}
