//! Keeps the supervisor small: one runs for every task.

use std::fs;
use std::path::Path;

use crate::command::{built_program, cargo};
use crate::error::Failure;

/// The most bytes that the stripped release build may have, C library included: 2 MiB.
const LIMIT: u64 = 2 * 1024 * 1024;

/// Builds the supervisor as it is released and compares its size with the limit.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    cargo(root, &["build", "--release", "--locked", "--package", "mw-cli", "--bin", "mw-supervisor"])?;
    let path = built_program(root, "release", "mw-supervisor");
    let bytes = fs::metadata(&path).map_err(|source| Failure::File { path, source })?.len();
    eprintln!("mw-supervisor: {} KiB of {} KiB", bytes.div_ceil(1024), LIMIT / 1024);
    if bytes > LIMIT { Err(Failure::TooLarge { bytes, limit: LIMIT }) } else { Ok(()) }
}
