//! The entry points of `mw-engine` and `mw-surfaces`: from arguments to an exit code.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches};
use meanwhile::error::ErrorCode;

use crate::arguments::command_line::{NO_SHELL, command_last, command_words};
use crate::commands::{self, Command, StartArguments};
use crate::context::{Context, Needs};
use crate::error::{CommandError, CommandResult};
use crate::help::{Refused, alternatives, candidates, canonical};
use crate::render;
use crate::{inside, panics, programs};

// Options of every command. No doc comment: it would become the help.
#[derive(Args)]
struct Options {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

fn root() -> clap::Command {
    let root = clap::Command::new("mw")
        .about("Run long-running commands of coding agents in the background")
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

/// Parses the arguments.
fn read(words: &[OsString]) -> Result<(bool, Command), clap::Error> {
    Command::quick(words).map_or_else(|| read_with_clap(words), Ok)
}

/// Parses the arguments with the command that the first word names, or with all commands.
pub(crate) fn read_with_clap(words: &[OsString]) -> Result<(bool, Command), clap::Error> {
    let words = &canonical(words)[..];
    let first = words.get(1).map(OsString::as_os_str).unwrap_or_default();
    let mut command = commands::only(root(), first);
    let (read, _) = matched(&mut command, words)?;
    let parts =
        Options::from_arg_matches(&read).and_then(|options| Ok((options.json, Command::read(&read)?)));
    parts.map_err(|error| error.format(&mut command))
}

/// Parses the arguments. Returns also the words with those of a command to start at the end.
fn matched(
    command: &mut clap::Command,
    words: &[OsString],
) -> Result<(ArgMatches, Vec<OsString>), clap::Error> {
    let read = command.try_get_matches_from_mut(words)?;
    let Some(again) = read.subcommand().and_then(|(_, read)| command_last(words, read)) else {
        return Ok((read, words.to_vec()));
    };
    let read = command.try_get_matches_from_mut(&again)?;
    let command_words = read.subcommand().map(|(_, read)| command_words(read));
    if command_words != Some(1) {
        let text = "a script must be a single quoted argument, but more words follow it";
        return Err(command.error(ErrorKind::TooManyValues, text));
    }
    Ok((read, again))
}

/// The words of a start.
pub(crate) struct StartWords {
    pub(crate) json: bool,
    pub(crate) start: StartArguments,
    pub(crate) options: Vec<OsString>,
    /// The command, with the `--` before it, if there is one.
    pub(crate) command: Vec<OsString>,
}

/// Parses the words of a start. If an option that has one value is repeated, the last one counts.
pub(crate) fn read_start(words: &[OsString]) -> Result<StartWords, clap::Error> {
    let start = OsStr::new("start");
    let mut command = commands::only(root(), start).mut_subcommand("start", |it| it.args_override_self(true));
    let (read, words) = matched(&mut command, words)?;
    let count = read.subcommand().map_or(0, |(_, read)| command_words(read));
    let (options, end) = words.split_at(words.len().saturating_sub(count));
    let (options, dashes) = match options {
        [options @ .., last] if last == "--" => (options, Some(last)),
        options => (options, None),
    };
    let options = options.iter().skip(2).filter(|word| *word != NO_SHELL).cloned().collect();
    let parts = Options::from_arg_matches(&read).and_then(|read_options| {
        let Command::Start(start) = Command::read(&read)? else {
            return Err(clap::Error::new(ErrorKind::InvalidSubcommand));
        };
        let command = dashes.into_iter().chain(end).cloned().collect();
        Ok(StartWords { json: read_options.json, start, options, command })
    });
    parts.map_err(|error| error.format(&mut command))
}

/// Runs `mw-engine`, which `mw` executes for everything that it does not do itself.
pub fn engine() -> i32 {
    // `exit` flushes standard output.
    std::process::exit(run_in_engine().into())
}

fn run_in_engine() -> u8 {
    panics::end_the_process();
    mw_desk::text::use_time_zone();
    let words = match programs::words_of_mw() {
        Ok(words) => words,
        Err(error) => return conclude(asks_for_json(), Err(error)),
    };
    if candidates::answer(&words) {
        return 0;
    }
    match read(&words) {
        Ok((json, command)) => conclude(
            json,
            match command {
                Command::Config(config) if config.wants_default() => config.print_default(json),
                Command::Doctor(_) => without_surfaces(json),
                command => inside::answer(json, &command).unwrap_or_else(|| {
                    let needs = command.needs();
                    command.run(|| Context::load(json, needs))
                }),
            },
        ),
        Err(error) => refuse(&error, &words),
    }
}

/// Executes `mw-surfaces`; if that fails, reports what is missing.
fn without_surfaces(json: bool) -> CommandResult {
    let error = programs::become_surfaces();
    if !json {
        render::out(&programs::report()?)?;
    }
    Err(error)
}

/// Runs `mw-surfaces`, which `mw-engine` executes for the large commands.
#[must_use]
pub fn surfaces() -> ExitCode {
    ExitCode::from(surface())
}

fn surface() -> u8 {
    panics::end_the_process();
    mw_desk::text::use_time_zone();
    let words = match programs::words_of_mw() {
        Ok(words) => words,
        Err(error) => return conclude(asks_for_json(), Err(error)),
    };
    let (json, command) = match read(&words) {
        Ok(read) => read,
        Err(error) => return refuse(&error, &words),
    };
    conclude(
        json,
        match command {
            // An error must not disturb the host.
            Command::Hook(hook) => hook.run_without_failing(json),
            Command::BackendDriver(driver) => Ok(driver.drive()),
            // `mw` has done the rest.
            Command::Settle(settle) => {
                Context::load(json, Needs::Settings).and_then(|context| settle.deliver_spans(&context))
            }
            command => {
                let needs = command.needs();
                Context::load(json, needs).and_then(|context| command.run_surface(&context))
            }
        },
    )
}

fn conclude(json: bool, done: CommandResult) -> u8 {
    match done {
        Ok(code) => code,
        Err(error) => {
            let is_damage = error.library == Some(ErrorCode::Store);
            let code = with_similar_task(error).report(json);
            if is_damage {
                replace_damaged_database();
            }
            code
        }
    }
}

/// Adds the names of tasks that resemble an unknown one.
fn with_similar_task(mut error: CommandError) -> CommandError {
    let Some(unknown) = error.unknown_task.take() else { return error };
    let similar = Context::load(false, Needs::Nothing).and_then(|context| context.similar_names(&unknown));
    if let Some(similar) = similar.ok().filter(|names| !names.is_empty()) {
        error.hint = format!("did you mean {}? {}", alternatives(&similar), error.hint);
    }
    error
}

/// Replaces a damaged database, so that the next command works. Most commands do that earlier.
fn replace_damaged_database() {
    let context = Context::load(false, Needs::Nothing);
    if let Ok(runtime) = context.and_then(|context| context.runtime()) {
        runtime.set_aside_if_damaged();
    }
}

/// Returns whether errors must be JSON, if the arguments cannot be parsed.
pub(crate) fn asks_for_json() -> bool {
    mw_supervisor::arguments().take_while(|word| word != "--").any(|word| word == "--json")
}

/// Reports refused arguments like every other error. Help and version are no errors.
fn refuse(error: &clap::Error, words: &[OsString]) -> u8 {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let printed = error.print().map_err(|error| render::unwritten("standard output", &error));
        return match (error.use_stderr(), printed) {
            (true, _) => Refused::code(words),
            (false, printed) => conclude(false, printed.map(|()| 0).map_err(CommandError::from)),
        };
    }
    let refused = Refused::of(error, words);
    if asks_for_json() {
        CommandError::usage(refused.message, refused.hint).show(true);
    } else {
        refused.show();
    }
    Refused::code(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words that mean something to one of the parsers, and some that mean nothing.
    fn word() -> impl Strategy<Value = OsString> {
        let known = [
            "--",
            "--json",
            "--quiet",
            "-q",
            "--name",
            "--name=n",
            "--name=",
            "--cwd",
            "/tmp",
            "--env",
            "A=b",
            "--env=C=d",
            "--timeout",
            "--timeout=1m",
            "90s",
            "oops",
            "--batch",
            "b",
            "--shell",
            "bash",
            "--description",
            "echo hi",
            "make",
            "test",
            "",
            "-",
            "-x",
            "--pty",
            "--after",
            "--help",
            "-h",
            "--version",
            "--any",
            "--until",
            "ready",
            "--until=exit",
            "--all",
            "--signal",
            "INT",
            "-s",
            "--grace",
            "bash-k3f9x2ab",
            "help",
            "--no-shell",
            "-1",
            "--json=x",
            "--quiet=y",
            "--jso",
        ];
        proptest::sample::select(known.to_vec()).prop_map(OsString::from)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn a_common_form_means_what_clap_says(
            name in proptest::sample::select(vec!["start", "wait", "kill", "settle", "list"]),
            rest in proptest::collection::vec(word(), 0..6),
        ) {
            let words: Vec<_> = ["mw", name].map(OsString::from).into_iter().chain(rest).collect();
            if let Some((json, quick)) = Command::quick(&words) {
                let by_clap = read_with_clap(&words);
                let (json_by_clap, by_clap) = by_clap.map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(json, json_by_clap);
                match (quick, by_clap) {
                    (Command::Start(quick), Command::Start(by_clap)) => prop_assert_eq!(quick, by_clap),
                    (Command::Wait(quick), Command::Wait(by_clap)) => prop_assert_eq!(quick, by_clap),
                    (Command::Kill(quick), Command::Kill(by_clap)) => prop_assert_eq!(quick, by_clap),
                    (Command::List(quick), Command::List(by_clap)) => prop_assert_eq!(quick, by_clap),
                    (Command::Settle(quick), Command::Settle(by_clap)) => prop_assert_eq!(quick, by_clap),
                    _ => return Err(TestCaseError::fail("another command")),
                }
            }
        }
    }

    #[test]
    fn common_forms_need_no_clap() {
        for line in [
            "start make",
            "start --json --name n --cwd /tmp --env A=b --env=C=d --timeout 5m -- make -j 8",
            "start --quiet echo hi",
            "start -q echo hi",
            "wait bash-k3f9x2ab --timeout 60s --json",
            "wait --any --until=ready a b",
            "kill a b",
            "list --json",
            "list --all",
            "settle --home /tmp/home bash-k3f9x2ab",
        ] {
            let words: Vec<_> = format!("mw {line}").split(' ').map(OsString::from).collect();
            assert!(Command::quick(&words).is_some(), "{line}");
        }
        let script = ["mw", "start", "make -j 8"].map(OsString::from);
        assert!(Command::quick(&script).is_some());
    }
}
