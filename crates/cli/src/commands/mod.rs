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

/// Lists the commands once: the variant, the word, the arguments, the executable that runs it, the line of help.
///
/// What `#[derive(Subcommand)]` writes, but for one thing: a command and its options are put together only when it is the
/// one that was called, or when help for it is wanted. With all of them every call would take longer by a tenth.
macro_rules! commands {
    ($($variant:ident $word:literal $arguments:ty, $place:ident, $about:literal $(, $with:ident($value:expr))*;)+) => {
        pub(crate) enum Command {
            $($variant($arguments),)+
        }

        /// Adds every command to the root.
        pub(crate) fn all(root: clap::Command) -> clap::Command {
            root$(.subcommand(described::<$arguments>($word, $about)$(.$with($value))*))+
        }

        /// Adds the command of that name to the root, and no other; all that people are shown where there is none.
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
            /// Takes from what was read what belongs to the command that was called.
            pub(crate) fn read(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($word, matches)) => {
                        <$arguments>::from_arg_matches(matches).map(Self::$variant)
                    })+
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            /// Tells whether every setting must be right for it. Whatever only shows or ends what is there does what
            /// it can.
            pub(crate) const fn needs(&self) -> Needs {
                match self {
                    Self::List(_)
                        | Self::Status(_)
                        | Self::Output(_)
                        | Self::Wait(_)
                        | Self::Kill(_)
                        | Self::Clear(_)
                        | Self::Watch(_)
                        | Self::Approvals(_)
                        | Self::Traces(_)
                        | Self::Tools(_)
                        | Self::Doctor(_)
                        | Self::Config(_)
                        | Self::Completions(_)
                        | Self::Reference(_) => Needs::Nothing,
                    _ => Needs::Settings,
                }
            }

            /// Runs a command of `mw`, and has the other executable run one of its own.
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
        // They were right; the other executable reads them again.
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

/// The two forms of what is started.
fn usage(word: &str) -> String {
    format!("mw {word} [OPTIONS] 'SCRIPT'\n       mw {word} [OPTIONS] [--] PROGRAM [ARGUMENT]...")
}

fn described<A: Args>(word: &'static str, about: &'static str) -> clap::Command {
    clap::Command::new(word).about(about).defer(A::augment_args)
}

commands! {
    Start "start" start::Arguments, mw, "Run a command in the background and return at once", override_usage(usage("start"));
    Run "run" run::Arguments, mw, "Run a command attached: stream its output and exit with its exit code", override_usage(usage("run"));
    List "list" list::Arguments, mw, "List tasks, live tasks first", alias("ls");
    Status "status" status::Arguments, mw, "Show one task and its last lines of output";
    Output "output" output::Arguments, mw, "Read a task's output";
    Wait "wait" wait::Arguments, mw, "Wait until tasks end, print a line, open a port or are silent";
    Kill "kill" kill::Arguments, mw, "Kill tasks and all processes they started";
    Input "input" input::Arguments, mw, "Send input to a task";
    Attach "attach" attach::Arguments, mw, "Connect the terminal to a task";
    Restart "restart" restart::Arguments, mw, "Run a task again";
    Clear "clear" clear::Arguments, mw, "Remove finished tasks and their files";
    Chat "chat" chat::Arguments, surfaces, "Chat with an agent while its tasks run in the background";
    Top "top" top::Arguments, surfaces, "Manage tasks on a full screen: live list, logs, kill, restart";
    Agent "agent" agent::Arguments, surfaces, "Run another agent in the background, or list the available agents";
    Resume "resume" resume::Arguments, mw, "Send a follow-up message to an agent that has answered";
    Watch "watch" watch::Arguments, mw, "Print events as JSON lines";
    Session "session" session::Arguments, mw, "List, run, end or delete sessions, or move tasks between them";
    Notices "notices" notices::Arguments, mw, "Print the undelivered notifications of a session, once";
    Approvals "approvals" approvals::Arguments, mw, "List open approval requests, or earlier ones";
    Approve "approve" approve::Arguments, mw, "Approve a request of an agent";
    Deny "deny" deny::Arguments, mw, "Deny a request of an agent";
    Policy "policy" policy::Arguments, mw, "Explain whether a command would be allowed, without running it";
    Mcp "mcp" mcp::Arguments, surfaces, "Serve the tools to an agent over MCP";
    Acp "acp" acp::Arguments, surfaces, "Run the built-in agent for a client of the Agent Client Protocol";
    Tools "tools" tools::Arguments, surfaces, "Print the tools that are offered to models";
    Traces "traces" traces::Arguments, surfaces, "Show the spans of tasks as trees, and the state of their export";
    Setup "setup" setup::Arguments, surfaces, "Add meanwhile to the settings of a host, or remove it";
    Hook "hook" hook::Arguments, surfaces, "Answer a host's hook with undelivered notifications";
    Doctor "doctor" doctor::Arguments, surfaces, "Check the installation and measure the latency of mw";
    Config "config" config::Arguments, mw, "Show all settings, their values and their sources";
    Completions "completions" completions::Arguments, mw, "Print a completion script for a shell";
    AgentDriver "agent-driver" agent_driver::Arguments, surfaces, "Drive the agent of a task (called by supervisors)", hide(true);
    AgentKeeper "agent-keeper" agent_keeper::Arguments, surfaces, "Keep an agent running for a follow-up (called by mw agent-driver)", hide(true);
    Settle "settle" settle::Arguments, mw, "Record the end of a task and start the next one (called by supervisors)", hide(true);
    Reference "reference" reference::Arguments, mw, "Print the reference of all commands and settings", hide(true);
    FailPoints "fail-points" fail_points::Arguments, mw, "List the steps at which a debug build can be made to crash", hide(true);
}
