//! The entry points of the two executables: from arguments to an exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, FromArgMatches};
use meanwhile::engine::Supervisor;

use crate::arguments::command_line::{command_last, command_words};
use crate::commands::{self, Command};
use crate::context::{Context, Needs};
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::{exit_code, panics, programs};

// Options of every command. No doc comment: it would become the help.
#[derive(Args)]
struct Options {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

fn root() -> clap::Command {
    let root = clap::Command::new("mw")
        .about("Run the long work of coding agents in the background")
        .version(mw_supervisor::BUILD)
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true);
    Options::augment_args(root)
}

/// Returns the whole command line, for completions and the reference.
pub(crate) fn whole_command() -> clap::Command {
    commands::all(root())
}

/// Parses the arguments with the command that the first word names, or with all commands.
fn read(words: &[OsString]) -> Result<(bool, Command), clap::Error> {
    let first = words.get(1).map(OsString::as_os_str).unwrap_or_default();
    let mut command = commands::only(root(), first);
    let read = command.try_get_matches_from_mut(words)?;
    let read = match read.subcommand().and_then(|(_, read)| command_last(words, read)) {
        None => read,
        Some(again) => {
            let read = command.try_get_matches_from_mut(&again)?;
            let command_words = read.subcommand().map(|(_, read)| command_words(read));
            if command_words != Some(1) {
                let text = "a script must be a single quoted argument, but more words follow it";
                return Err(command.error(ErrorKind::TooManyValues, text));
            }
            read
        }
    };
    let parts =
        Options::from_arg_matches(&read).and_then(|options| Ok((options.json, Command::read(&read)?)));
    parts.map_err(|error| error.format(&mut command))
}

/// Runs `mw`.
pub fn mw() -> i32 {
    panics::end_the_process();
    let words: Vec<_> = mw_supervisor::arguments().collect();
    let early = start_supervisor_early(&words);
    let code = match read(&words) {
        Ok((json, command)) => conclude(
            json,
            match command {
                Command::Config(config) if config.wants_default() => config.print_default(json),
                Command::Doctor(_) => without_surfaces(json),
                command => {
                    let needs = command.needs();
                    command.run(|| Context::load(json, early, needs))
                }
            },
        ),
        Err(error) => refuse(&with_synonym(error)),
    };
    // `exit` flushes standard output.
    std::process::exit(code.into())
}

/// Executes `mw-surfaces`; if that fails, reports what is missing.
fn without_surfaces(json: bool) -> CommandResult {
    let error = programs::become_surfaces();
    if !json {
        render::out(&programs::report()?)?;
    }
    Err(error)
}

/// Runs `mw-surfaces`, which `mw` executes for its large commands.
#[must_use]
pub fn surfaces() -> ExitCode {
    ExitCode::from(surface())
}

fn surface() -> u8 {
    panics::end_the_process();
    let words = match programs::words_of_mw() {
        Ok(words) => words,
        Err(error) => return conclude(asks_for_json(), Err(error)),
    };
    let (json, command) = match read(&words) {
        Ok(read) => read,
        Err(error) => return refuse(&error),
    };
    conclude(
        json,
        match command {
            // An error must not disturb the host.
            Command::Hook(hook) => hook.run_without_failing(json),
            // `mw` has done the rest.
            Command::Settle(settle) => {
                Context::load(json, None, Needs::Settings).and_then(|context| settle.deliver_spans(&context))
            }
            command => {
                let needs = command.needs();
                Context::load(json, None, needs).and_then(|context| command.run_surface(&context))
            }
        },
    )
}

fn conclude(json: bool, done: CommandResult) -> u8 {
    match done {
        Ok(code) => code,
        Err(error) => {
            if !error.is_unread() {
                error.show(json);
            }
            if error.code == "store" {
                replace_damaged_database();
            }
            error.exit
        }
    }
}

/// Replaces a damaged database, so that the next command works. Most commands do that earlier.
fn replace_damaged_database() {
    let context = Context::load(false, None, Needs::Nothing);
    if let Ok(runtime) = context.and_then(|context| context.runtime()) {
        runtime.set_aside_if_damaged();
    }
}

/// Returns whether errors must be JSON, if the arguments cannot be parsed.
fn asks_for_json() -> bool {
    mw_supervisor::arguments().take_while(|word| word != "--").any(|word| word == "--json")
}

/// Starts the supervisor of `mw start` before the arguments are parsed, because it can get ready on another core. If no
/// task follows, it exits.
fn start_supervisor_early(words: &[OsString]) -> Option<Supervisor> {
    let mut words = words.iter().skip(1);
    let starts = words.next().is_some_and(|word| word == "start")
        && words.all(|word| word != "--help" && word != "-h");
    // A failure here is repeated later, where it can be reported.
    starts.then(programs::early).flatten().and_then(|programs| Supervisor::start(&programs).ok())
}

/// Names of commands in other programs.
const SYNONYMS: [(&str, &str); 12] = [
    ("add", "start"),
    ("exec", "run"),
    ("follow", "output --follow"),
    ("log", "output"),
    ("logs", "output"),
    ("ps", "list"),
    ("remove", "clear"),
    ("rm", "clear"),
    ("show", "status"),
    ("stop", "kill"),
    ("tail", "output --follow"),
    ("terminate", "kill"),
];

/// Suggests our command for a name from another program.
fn with_synonym(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some((_, ours)) = SYNONYMS.iter().find(|(theirs, _)| theirs == word)
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![(*ours).to_owned()]));
    }
    error
}

/// Reports bad arguments like every other error. Help and version are no errors.
fn refuse(error: &clap::Error) -> u8 {
    // For a host, exit code 2 of a hook blocks the user's prompt.
    let of_hook = mw_supervisor::arguments().nth(1).is_some_and(|word| word == "hook");
    let bad_arguments = if of_hook { exit_code::FAILURE } else { exit_code::USAGE };
    if !error.use_stderr() || !asks_for_json() {
        let printed = error.print().map_err(|error| render::unwritten("standard output", &error));
        return match (error.use_stderr(), printed) {
            (true, _) => bad_arguments,
            (false, printed) => conclude(false, printed.map(|()| 0).map_err(CommandError::from)),
        };
    }
    CommandError::usage(one_line(&error.render().to_string()), "see mw --help, or mw help COMMAND")
        .show(true);
    bad_arguments
}

/// Returns the error of the arguments in one line, without the usage.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<_> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    said.join(" ").trim_start_matches("error: ").to_owned()
}
