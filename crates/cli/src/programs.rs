//! The executables that belong together: `mw`, `mw-engine` for what it does not do itself, `mw-surfaces` for the large
//! commands, `mw-supervisor` for tasks. They are installed in one directory and find each other there.

use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use meanwhile::settings::Executables;

use crate::error::CommandError;
use crate::exit_code;

const ENGINE: &str = "mw-engine";
const SURFACES: &str = "mw-surfaces";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How to install all of them.
pub(crate) const INSTALL: &str =
    "install mw, mw-engine, mw-surfaces and mw-supervisor in one directory (cargo xtask install)";

/// Returns the path of `mw`, also in the executables next to it.
pub(crate) fn mw() -> io::Result<PathBuf> {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(mw) = FOUND.get() {
        return Ok(mw.clone());
    }
    let me = env::current_exe()?;
    let is_other = me.file_name().is_some_and(|name| name == ENGINE || name == SURFACES);
    let mw = if is_other { me.with_file_name("mw") } else { me };
    Ok(FOUND.get_or_init(|| mw).clone())
}

/// Finds the supervisor, and the engine for `mw settle`.
pub(crate) fn of_home(home: &Path) -> Result<Executables, CommandError> {
    let mw = mw()?;
    let supervisor = supervisor(&mw)?;
    let home = std::path::absolute(home).unwrap_or_default();
    Ok(Executables::of_home(&mw.with_file_name(ENGINE), supervisor, &home))
}

fn supervisor(mw: &Path) -> io::Result<PathBuf> {
    match env::var_os("MEANWHILE_SUPERVISOR") {
        Some(path) => std::path::absolute(path),
        None => Ok(mw.with_file_name("mw-supervisor")),
    }
}

/// Executes `mw-engine` in place of `mw`, with the same words; returns only if it cannot.
pub(crate) fn become_engine() -> CommandError {
    become_program(ENGINE, mw_supervisor::arguments())
}

/// Executes `mw-engine` in place of `mw`, with an internal command; returns only if it cannot.
pub(crate) fn become_engine_for(words: &[&str]) -> CommandError {
    become_program(ENGINE, ["mw"].iter().chain(words).map(OsString::from))
}

/// Executes `mw-surfaces` in place of `mw-engine`, with the same words; returns only if it cannot.
pub(crate) fn become_surfaces() -> CommandError {
    match words_of_mw() {
        Ok(words) => become_program(SURFACES, words.into_iter()),
        Err(error) => error,
    }
}

/// Executes another of the executables. The version is added, because all must be of one build.
fn become_program(name: &str, mut words: impl Iterator<Item = OsString>) -> CommandError {
    let path = match mw() {
        Ok(mw) => mw.with_file_name(name),
        Err(error) => return error.into(),
    };
    let mut command = Command::new(&path);
    command.arg0(words.next().unwrap_or_else(|| "mw".into())).args(words).arg(VERSION);
    mw_supervisor::restore_time_slice();
    let error = command.exec();
    let shown = path.display();
    failure(match error.kind() {
        ErrorKind::NotFound => format!("this command needs {shown}, which is missing"),
        _ => format!("this command needs {shown}, which cannot be run: {error}"),
    })
}

/// Lists the installed programs, for `mw doctor` without the program that runs it.
pub(crate) fn report() -> Result<String, CommandError> {
    let mw = mw()?;
    let line = |name: &str, path: &Path| {
        let (sign, found) = if path.is_file() { ("✓", "") } else { ("✗", " is missing") };
        format!("{sign} {name:<15}{}{found}\n", path.display())
    };
    let beside = |name: &str| line(name, &mw.with_file_name(name));
    let supervisor = line("mw-supervisor", &supervisor(&mw)?);
    Ok(line("mw", &mw) + &beside(ENGINE) + &beside(SURFACES) + &supervisor)
}

/// Returns the words that `mw` was called with, in the executable that it became. `mw settle` is executed by supervisors, which
/// may be of an earlier version.
pub(crate) fn words_of_mw() -> Result<Vec<OsString>, CommandError> {
    let mut words: Vec<_> = mw_supervisor::arguments().collect();
    let is_version = words.last().is_some_and(|word| word == VERSION);
    if words.get(1).is_some_and(|word| word == "settle") && !is_version {
        return Ok(words);
    }
    let version = words.pop().unwrap_or_default();
    if is_version && !words.is_empty() {
        return Ok(words);
    }
    let version = version.to_string_lossy();
    // If the last word is not a version, a person has called it.
    if words.is_empty() || !version.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(not_here());
    }
    Err(failure(format!("mw is version {version}, {} next to it is {VERSION}", own_name())))
}

/// Returns the error for a command that reached an executable which does not have it.
pub(crate) fn not_here() -> CommandError {
    CommandError::usage(format!("{} is internal", own_name()), "run mw instead")
}

fn own_name() -> String {
    let name =
        env::current_exe().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| ENGINE.to_owned())
}

/// Returns an error about the installation. Its exit code is not that for bad usage, which blocks a host's prompt.
fn failure(message: String) -> CommandError {
    CommandError {
        code: "installation".to_owned(),
        message,
        hint: INSTALL.to_owned(),
        exit: exit_code::FAILURE,
        library: None,
        unknown_task: None,
    }
}
