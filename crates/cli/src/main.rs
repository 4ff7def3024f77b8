//! The `mw` command: arguments in, one call of the library, text or JSON out.
#![forbid(unsafe_code)]

mod commands;
mod config;
mod context;
mod doctor;
mod error;
mod exit_code;
mod gate;
mod host_state;
mod otel;
mod render;
mod terminal;
mod tree;

use std::process::ExitCode;

use clap::Parser;
use meanwhile::Supervisor;

use crate::commands::Command;
use crate::context::Context;
use crate::error::CommandError;

/// Runs the long work of coding agents in the background.
#[derive(Parser)]
#[command(
    name = "mw",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Arguments {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let early = summon_early();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let json = arguments.json;
    let done = match arguments.command {
        Command::Config(config) if config.wants_default() => config.print_default(json),
        // A hook must not hold its host up, whatever is wrong here.
        Command::Hook(hook) => hook.run_without_failing(json),
        command => Context::load(json, early).and_then(|context| command.run(&context)),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            if !error.message.is_empty() {
                error.show(json);
            }
            ExitCode::from(error.exit)
        }
    }
}

/// Starts the supervisor of `mw start` before the arguments are even read: it gets ready on another core
/// meanwhile. If nothing is started after all, it goes away by itself.
fn summon_early() -> Option<Supervisor> {
    let mut words = std::env::args_os().skip(1);
    let starts = words.next().is_some_and(|word| word == "start")
        && words.all(|word| word != "--help" && word != "-h");
    // What fails here fails again where it can be told.
    starts.then(config::early_programs).flatten().and_then(|programs| Supervisor::summon(&programs).ok())
}

/// Bad arguments, in the same shape as every other error; help and version are no errors.
fn refuse(error: &clap::Error) -> ExitCode {
    // To a host, 2 from a hook means that the user's prompt is not to be heard.
    let of_hook = std::env::args_os().nth(1).is_some_and(|word| word == "hook");
    let bad_arguments = if of_hook { exit_code::FAILURE } else { exit_code::USAGE };
    let asked_for_json = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
    if !error.use_stderr() || !asked_for_json {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { bad_arguments } else { 0 });
    }
    let text = error.render().to_string();
    let message = text.lines().next().unwrap_or("bad arguments").trim_start_matches("error: ").to_owned();
    CommandError::usage(message, "mw --help, or mw help COMMAND, shows what can be written").show(true);
    ExitCode::from(bad_arguments)
}
