//! What a shell offers while a command line is typed: names of commands and options from clap, and live names of tasks.

use std::env;
use std::ffi::OsString;
use std::io;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use meanwhile::engine::Runtime;
use meanwhile::model::Status;
use meanwhile::{Scope, Task, TaskFilter};
use mw_desk::rows::state_words;

use super::other_names;
use crate::config::Config;
use crate::services::Project;
use crate::templates::Templates;

/// The variable by which the script of a shell asks for candidates.
const ASKED_BY: &str = "COMPLETE";
/// How many tasks are offered.
const OFFERED: u32 = 100;

/// Commands that act on tasks that have not ended.
const OF_LIVE_TASKS: [&str; 6] = ["attach", "input", "kill", "pause", "signal", "wait"];

/// Answers the script of a shell. Returns whether it asked.
pub(crate) fn answer(words: &[OsString]) -> bool {
    // A task may inherit the variable; only the scripts put `--` before the words.
    if env::var_os(ASKED_BY).is_none() || words.get(1).is_none_or(|word| word != "--") {
        return false;
    }
    let current = env::current_dir().ok();
    let words = words.iter().cloned();
    CompleteEnv::with_factory(command).bin("mw").try_complete(words, current.as_deref()).unwrap_or(true)
}

/// Returns the script that makes a shell ask `mw`.
pub(crate) fn script(shell: &str) -> io::Result<String> {
    let shells = Shells::builtins();
    let found = shells.completer(shell).ok_or(io::ErrorKind::NotFound)?;
    let mut script = Vec::new();
    found.write_registration(ASKED_BY, "mw", "mw", "mw", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Returns the whole command line, with what is offered for its arguments.
fn command() -> Command {
    let mut root = crate::entry::whole_command();
    root.build();
    root.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let others: Vec<_> = other_names(&name).collect();
        let command = command.visible_aliases(others).mut_args(|arg| offering(&name, arg));
        if name != "template" {
            return command;
        }
        command.mut_subcommands(|command| {
            let is_new = command.get_name() == "save";
            command.mut_args(|arg| if is_new { arg } else { offering("template", arg) })
        })
    })
}

fn offering(command: &str, arg: Arg) -> Arg {
    let is_live = OF_LIVE_TASKS.contains(&command);
    match (command, arg.get_id().as_str()) {
        ("approve" | "deny", "id") => arg,
        (_, "id" | "ids" | "after" | "task") => arg.add(ArgValueCandidates::new(move || tasks(is_live))),
        (_, "batch") => arg.add(ArgValueCandidates::new(|| distinct(|task| task.batch_id.clone()))),
        (_, "session") => arg.add(ArgValueCandidates::new(|| distinct(|task| Some(task.session.clone())))),
        ("template", "template") => arg.add(ArgValueCandidates::new(templates)),
        ("up" | "down", "services") => arg.add(ArgValueCandidates::new(services)),
        ("list", "status") => arg.add(ArgValueCandidates::new(statuses)),
        _ => arg,
    }
}

/// Returns the newest tasks that may be seen here; none if that fails, because an error would disturb the prompt.
fn newest(is_live: bool) -> Vec<Task> {
    let Ok(config) = Config::load_tolerantly() else { return Vec::new() };
    if !config.settings.home.is_dir() {
        return Vec::new();
    }
    let Ok(runtime) = Runtime::open(config.settings) else { return Vec::new() };
    let session = env::var("MEANWHILE_SESSION").ok().filter(|session| !session.is_empty());
    let scope = session.map_or(Scope::All, Scope::Session);
    let statuses = Status::ALL.into_iter().filter(|status| is_live && !status.is_terminal()).collect();
    let filter = TaskFilter { statuses, limit: OFFERED, ..TaskFilter::new(scope) };
    runtime.tasks().list(&filter).map(|page| page.tasks).unwrap_or_default()
}

fn tasks(is_live: bool) -> Vec<CompletionCandidate> {
    let mut offered: Vec<String> = Vec::new();
    let mut candidates = Vec::new();
    for task in newest(is_live) {
        let name = task.short_name();
        if offered.contains(&name) {
            continue;
        }
        let about = format!("{}: {}", state_words(&task), mw_desk::text::shortened(&task.command, 60));
        candidates.push(CompletionCandidate::new(&name).help(Some(about.replace('\n', " ").into())));
        offered.push(name);
    }
    candidates
}

fn distinct(of: impl Fn(&Task) -> Option<String>) -> Vec<CompletionCandidate> {
    let mut values: Vec<_> = newest(false).iter().filter_map(of).collect();
    values.sort_unstable();
    values.dedup();
    values.into_iter().map(CompletionCandidate::new).collect()
}

fn templates() -> Vec<CompletionCandidate> {
    let names = Config::load_tolerantly().and_then(|config| Templates::of(&config)?.names());
    names.unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
}

fn services() -> Vec<CompletionCandidate> {
    let project = Project::find(None);
    project.map_or_else(|_| Vec::new(), |project| project.names().map(CompletionCandidate::new).collect())
}

fn statuses() -> Vec<CompletionCandidate> {
    Status::ALL.into_iter().map(|status| CompletionCandidate::new(status.word())).collect()
}
