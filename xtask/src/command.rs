//! Runs cargo and the programs that it has built.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Failure;

/// Runs `cargo` with `arguments` in `root`. Its output is passed through.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Result<(), Failure> {
    finish(cargo_command(root, arguments), &format!("cargo {}", arguments.join(" ")))
}

/// Runs `cargo` as [`cargo`] does, with one environment variable set.
pub(crate) fn cargo_with(root: &Path, variable: (&str, &str), arguments: &[&str]) -> Result<(), Failure> {
    let mut command = cargo_command(root, arguments);
    command.env(variable.0, variable.1);
    finish(command, &format!("cargo {}", arguments.join(" ")))
}

/// Returns the path of the program `name` that cargo has built in `profile` (a folder name: `debug`, `release`).
pub(crate) fn built_program(root: &Path, profile: &str, name: &str) -> PathBuf {
    target(root).join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns the target folder.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target")))
}

/// Prepares `cargo` with `arguments` in `root`.
pub(crate) fn cargo_command(root: &Path, arguments: &[&str]) -> Command {
    // Cargo sets this variable for its children, so a nested call uses the same toolchain.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    command
}

/// Runs a command to its end. `shown` is its name in an error.
pub(crate) fn finish(mut command: Command, shown: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Exit { command: shown.to_owned(), status }),
        Err(source) => Err(Failure::Spawn { command: shown.to_owned(), source }),
    }
}
