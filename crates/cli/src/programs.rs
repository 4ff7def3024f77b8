//! The executables that belong together: `mw`, `mw-surfaces` for its large commands, `mw-supervisor` for tasks. They
//! are installed in one directory and find each other there.

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

const SURFACES: &str = "mw-surfaces";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How to install all of them.
pub(crate) const INSTALL: &str =
    "install mw, mw-surfaces and mw-supervisor in one directory (cargo xtask install)";

/// Returns the path of `mw`, also in the executable beside it.
pub(crate) fn mw() -> io::Result<PathBuf> {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(mw) = FOUND.get() {
        return Ok(mw.clone());
    }
    let me = env::current_exe()?;
    let is_surfaces = me.file_name().is_some_and(|name| name == SURFACES);
    let mw = if is_surfaces { me.with_file_name("mw") } else { me };
    Ok(FOUND.get_or_init(|| mw).clone())
}

/// Finds the supervisor, and `mw` itself for `mw settle`.
pub(crate) fn of_home(home: &Path) -> Result<Executables, CommandError> {
    let mw = mw()?;
    let supervisor = supervisor(&mw)?;
    let home = std::path::absolute(home).unwrap_or_default();
    Ok(Executables::of_home(&mw, supervisor, &home))
}

fn supervisor(mw: &Path) -> io::Result<PathBuf> {
    match env::var_os("MEANWHILE_SUPERVISOR") {
        Some(path) => std::path::absolute(path),
        None => Ok(mw.with_file_name("mw-supervisor")),
    }
}

/// Returns what is needed to start a supervisor before its task is known.
pub(crate) fn early() -> Option<Executables> {
    let supervisor = supervisor(&mw().ok()?).ok()?;
    Some(Executables { supervisor, settle: Vec::new(), starter_exits: true })
}

/// Executes `mw-surfaces` in place of this program, with the same words; returns only if it cannot.
///
/// The version is added, because both must be of one build.
pub(crate) fn become_surfaces() -> CommandError {
    let path = match mw() {
        Ok(mw) => mw.with_file_name(SURFACES),
        Err(error) => return error.into(),
    };
    let mut words = mw_supervisor::arguments();
    let mut command = Command::new(&path);
    command.arg0(words.next().unwrap_or_else(|| "mw".into())).args(words).arg(VERSION);
    let error = command.exec();
    let shown = path.display();
    failure(match error.kind() {
        ErrorKind::NotFound => format!("this command needs {shown}, which is missing"),
        _ => format!("this command needs {shown}, which cannot be run: {error}"),
    })
}

/// Lists the installed programs, for `mw doctor` without `mw-surfaces`.
pub(crate) fn report() -> Result<String, CommandError> {
    let mw = mw()?;
    let line = |name: &str, path: &Path| {
        let (sign, found) = if path.is_file() { ("✓", "") } else { ("✗", " is missing") };
        format!("{sign} {name:<15}{}{found}\n", path.display())
    };
    let surfaces = line(SURFACES, &mw.with_file_name(SURFACES));
    let supervisor = line("mw-supervisor", &supervisor(&mw)?);
    Ok(line("mw", &mw) + &surfaces + &supervisor)
}

/// Returns the words that `mw` was called with, in the executable that it became.
pub(crate) fn words_of_mw() -> Result<Vec<OsString>, CommandError> {
    let mut words: Vec<_> = mw_supervisor::arguments().collect();
    let version = words.pop().unwrap_or_default();
    if version == VERSION && !words.is_empty() {
        return Ok(words);
    }
    let version = version.to_string_lossy();
    // If the last word is not a version, a person has called it.
    if words.is_empty() || !version.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(not_here());
    }
    Err(failure(format!("mw is version {version}, {SURFACES} beside it is {VERSION}")))
}

/// Returns the error for a command of `mw` that reached `mw-surfaces`.
pub(crate) fn not_here() -> CommandError {
    CommandError::usage(format!("{SURFACES} is internal; run mw instead"), "write mw")
}

/// Returns an error about the installation. Its exit code is not that for bad usage, which blocks a host's prompt.
fn failure(message: String) -> CommandError {
    CommandError {
        code: "installation".to_owned(),
        message,
        hint: INSTALL.to_owned(),
        exit: exit_code::FAILURE,
    }
}
