//! Writes the references that are made from the program, and checks that they are current.
//!
//! `mw reference` prints the whole page; a program that does not know that subcommand yet has nothing to generate,
//! which is an error only once the page exists.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::command::{built_program, cargo};
use crate::error::Failure;

const REFERENCE: &str = "docs/reference.md";

/// The exit code with which `mw` answers a command line it does not understand.
const USAGE_ERROR: i32 = 2;

/// Rewrites the generated files.
pub(crate) fn write(root: &Path) -> Result<(), Failure> {
    if let Some(page) = reference(root)? {
        let path = root.join(REFERENCE);
        fs::write(&path, page).map_err(|source| Failure::File { path, source })?;
    }
    Ok(())
}

/// Fails when a generated file differs from what would be generated now.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    let Some(page) = reference(root)? else {
        return Ok(());
    };
    // A page that was never written is as stale as an old one.
    let current = fs::read_to_string(root.join(REFERENCE)).unwrap_or_default();
    if current == page { Ok(()) } else { Err(Failure::Stale(REFERENCE)) }
}

fn reference(root: &Path) -> Result<Option<String>, Failure> {
    cargo(root, &["build", "--locked", "--package", "mw-cli", "--bin", "mw"])?;
    let output = run_reference(root)?;
    if output.status.success() {
        return Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    if output.status.code() == Some(USAGE_ERROR) && !root.join(REFERENCE).exists() {
        eprintln!("`mw reference` does not exist yet; nothing to generate");
        return Ok(None);
    }
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Err(Failure::Exit { command: "mw reference".to_owned(), status: output.status })
}

/// Runs the program with no terminal, no settings and a fixed width, so that every machine gets the same page.
fn run_reference(root: &Path) -> Result<Output, Failure> {
    let mut command = Command::new(built_program(root, "debug", "mw"));
    command.arg("reference").current_dir(root).stdin(Stdio::null());
    command.env("COLUMNS", "100").env("NO_COLOR", "1");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEANWHILE_") {
            command.env_remove(name);
        }
    }
    command.output().map_err(|source| Failure::Spawn { command: "mw reference".to_owned(), source })
}
