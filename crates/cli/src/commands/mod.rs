//! A file per command: its arguments and its code.

mod acp;
mod agent;
mod agent_driver;
mod agent_keeper;
mod approvals;
mod approve;
mod attach;
mod backend_driver;
mod backends;
mod chat;
mod clear;
mod completions;
mod config;
mod deny;
mod doctor;
mod down;
mod fail_points;
mod hook;
mod input;
mod kill;
mod list;
mod mcp;
mod notices;
mod output;
mod output_of_several;
mod pause;
mod policy;
mod queue;
mod reference;
mod restart;
mod resume;
mod run;
mod serve;
mod session;
mod settle;
mod setup;
mod signal;
mod start;
mod started;
mod status;
mod tail;
mod template;
mod tools;
mod top;
mod traces;
mod up;
mod wait;
mod watch;

use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, Args, FromArgMatches};
use mw_tools::task_calls::TaskCall;

use crate::context::{Context, Needs};
use crate::error::{CommandError, CommandResult};
use crate::help;
use crate::programs;

pub(crate) use start::Arguments as StartArguments;

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
                    let page = help::page(&all);
                    let visible = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
                    root.subcommands(visible).override_help(page)
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

            /// Runs a command of `mw-engine`, or executes `mw-surfaces`.
            pub(crate) fn run(self, context: impl FnOnce() -> Result<Context, CommandError>) -> CommandResult {
                match self {
                    $(Self::$variant(arguments) => in_engine!($place, arguments, context),)+
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

macro_rules! in_engine {
    (engine, $arguments:ident, $context:ident) => {
        $arguments.run(&$context()?)
    };
    (surfaces, $arguments:ident, $context:ident) => {{
        // The other executable parses the arguments again.
        let _ = $arguments;
        Err(programs::become_surfaces())
    }};
}

macro_rules! in_surfaces {
    (engine, $arguments:ident, $context:ident) => {{
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

/// Returns the option `--json` for a command that has only a screen: it is refused with a hint, so the help leaves it out.
fn without_json() -> clap::Arg {
    clap::Arg::new("json").long("json").action(clap::ArgAction::SetTrue).hide(true)
}

fn described<A: Args>(word: &'static str, about: &'static str) -> clap::Command {
    clap::Command::new(word).about(about).after_help(help::examples(word)).defer(A::augment_args)
}

commands! {
    Start "start" start::Arguments, engine, Settings, "Run a command in the background and return at once", override_usage(usage("start"));
    Run "run" run::Arguments, engine, Settings, "Run a command attached: stream its output and exit with its exit code", override_usage(usage("run"));
    List "list" list::Arguments, engine, Nothing, "List tasks, live tasks first";
    Status "status" status::Arguments, engine, Nothing, "Show one task and its last lines of output";
    Output "output" output::Arguments, engine, Nothing, "Read a task's output";
    Tail "tail" tail::Arguments, engine, Nothing, "Follow the end of a task's output";
    Wait "wait" wait::Arguments, engine, Nothing, "Wait for tasks to end, match a line, open a port or go silent";
    Kill "kill" kill::Arguments, engine, Nothing, "Kill tasks and all processes they started";
    Signal "signal" signal::Arguments, engine, Nothing, "Send a signal to tasks, and nothing else";
    Pause "pause" pause::Arguments, engine, Nothing, "Stop all processes of tasks until mw resume";
    Input "input" input::Arguments, engine, Settings, "Send input to a task";
    Attach "attach" attach::Arguments, engine, Nothing, "Connect the terminal to a task";
    Restart "restart" restart::Arguments, engine, Settings, "Run a task again";
    Template "template" template::Arguments, engine, Settings, "Save starts under a name, and start them again";
    Up "up" up::Arguments, engine, Settings, "Start the services that the project declares, in the order of their dependencies";
    Down "down" down::Arguments, engine, Nothing, "End the services that the project declares, dependents first";
    Queue "queue" queue::Arguments, engine, Settings, "Show what waits, in order, and change the order";
    Clear "clear" clear::Arguments, engine, Nothing, "Remove finished tasks and their files";
    Chat "chat" chat::Arguments, surfaces, Settings, "Chat with an agent while its tasks run in the background", arg(without_json());
    Top "top" top::Arguments, surfaces, Nothing, "Manage tasks in a full-screen view: live list, logs, kill, restart", arg(without_json());
    Agent "agent" agent::Arguments, surfaces, Settings, "Run another agent in the background, or list the available agents";
    Resume "resume" resume::Arguments, engine, Settings, "Continue a paused task, or send a follow-up message to an agent";
    Watch "watch" watch::Arguments, engine, Nothing, "Print events as JSON lines";
    Session "session" session::Arguments, engine, Nothing, "List, run, end or delete sessions, or move tasks between them";
    Notices "notices" notices::Arguments, engine, Nothing, "Print the undelivered notifications of a session, once";
    Approvals "approvals" approvals::Arguments, engine, Nothing, "List open approval requests, or earlier ones";
    Approve "approve" approve::Arguments, engine, Settings, "Approve a request of an agent";
    Deny "deny" deny::Arguments, engine, Nothing, "Deny a request of an agent";
    Policy "policy" policy::Arguments, engine, Settings, "Explain whether a command would be allowed, without running it";
    Mcp "mcp" mcp::Arguments, surfaces, Settings, "Serve the tools to an agent over MCP";
    Serve "serve" serve::Arguments, surfaces, Settings, "Serve the web dashboard, the HTTP API and MCP on this machine";
    Acp "acp" acp::Arguments, surfaces, Settings, "Run the built-in agent for a client of the Agent Client Protocol";
    Tools "tools" tools::Arguments, surfaces, Nothing, "Print the tools that are offered to models";
    Traces "traces" traces::Arguments, surfaces, Nothing, "Show the spans of tasks as trees, and the state of their export";
    Setup "setup" setup::Arguments, surfaces, Settings, "Add meanwhile to the settings of a host, or remove it";
    Hook "hook" hook::Arguments, surfaces, Settings, "Answer a host's hook with undelivered notifications";
    Doctor "doctor" doctor::Arguments, surfaces, Nothing, "Check the installation and measure the latency of mw";
    Backends "backends" backends::Arguments, surfaces, Nothing, "List the back-ends for --on, what they support, and whether they are available";
    Config "config" config::Arguments, engine, Nothing, "Show all settings, their values and their sources";
    Completions "completions" completions::Arguments, engine, Nothing, "Print a completion script for a shell";
    AgentDriver "agent-driver" agent_driver::Arguments, surfaces, Settings, "Drive the agent of a task (called by supervisors)", hide(true);
    BackendDriver "backend-driver" backend_driver::Arguments, surfaces, Nothing, "Work for a task on a back-end (called by supervisors)", hide(true);
    AgentKeeper "agent-keeper" agent_keeper::Arguments, surfaces, Settings, "Keep an agent running for a follow-up (called by mw agent-driver)", hide(true);
    Started "started" started::Arguments, engine, Nothing, "Report a start whose supervisor did not answer (called by mw start)", hide(true);
    Settle "settle" settle::Arguments, engine, Settings, "Record the end of a task and start the next one (called by supervisors)", hide(true);
    Reference "reference" reference::Arguments, surfaces, Nothing, "Print the reference of all commands and settings, or write the manual pages", hide(true);
    FailPoints "fail-points" fail_points::Arguments, engine, Settings, "List the steps at which a debug build can be made to crash", hide(true);
}

/// Runs a command of a common form in `mw` itself; `None` if it must be left to the engine.
pub(crate) fn run_direct(words: &[OsString]) -> Option<CommandResult> {
    let (name, words) = words.get(1..)?.split_first()?;
    match name.to_str()? {
        "start" => start::Arguments::quick(words).and_then(|(json, start)| start.run_direct(json)),
        "wait" => wait::Arguments::quick(words).and_then(|(json, wait)| wait.run_direct(json)),
        "kill" => kill::Arguments::quick(words).and_then(|(json, kill)| kill.run_direct(json)),
        _ => None,
    }
}

impl Command {
    /// Parses the common forms of the most frequent commands, and whether JSON is wanted; `None` for what clap must parse.
    pub(crate) fn quick(words: &[OsString]) -> Option<(bool, Self)> {
        let (name, words) = words.get(1..)?.split_first()?;
        match name.to_str()? {
            "start" => start::Arguments::quick(words).map(|(json, start)| (json, Self::Start(start))),
            "wait" => wait::Arguments::quick(words).map(|(json, wait)| (json, Self::Wait(wait))),
            "kill" => kill::Arguments::quick(words).map(|(json, kill)| (json, Self::Kill(kill))),
            "list" => list::Arguments::quick(words).map(|(json, list)| (json, Self::List(list))),
            "settle" => settle::Arguments::quick(words).map(|(json, settle)| (json, Self::Settle(settle))),
            _ => None,
        }
    }

    /// Returns the command as a call of a tool, if confined tasks can use it; the inner `None` if an option has no
    /// counterpart there.
    pub(crate) fn as_call(&self) -> Option<Option<TaskCall>> {
        match self {
            Self::Start(start) => Some(start.as_call()),
            Self::List(list) => Some(list.as_call()),
            Self::Status(status) => Some(status.as_call()),
            Self::Output(output) => Some(output.as_call()),
            Self::Wait(wait) => Some(wait.as_call()),
            Self::Kill(kill) => Some(kill.as_call()),
            _ => None,
        }
    }
}
