//! Limits the size of programs that are executed often: one supervisor for every task, `mw` for every command, and the engine for
//! what `mw` does not do itself.

use std::fs;
use std::path::Path;

use crate::command::{built_program, cargo};
use crate::error::Failure;

/// The maximum size of a stripped release build in bytes, including the C library.
const LIMITS: [(&str, u64); 3] = [("mw-supervisor", 2 << 20), ("mw", 9 << 19), ("mw-engine", 10 << 20)];

/// Builds the programs in release mode and compares their sizes with the limits.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    for (program, limit) in LIMITS {
        cargo(root, &["build", "--release", "--locked", "--package", "mw-cli", "--bin", program])?;
        let path = built_program(root, "release", program);
        let bytes = fs::metadata(&path).map_err(|source| Failure::File { path, source })?.len();
        eprintln!("{program}: {} KiB of {} KiB", bytes.div_ceil(1024), limit / 1024);
        if bytes > limit {
            return Err(Failure::TooLarge { program, bytes, limit });
        }
    }
    Ok(())
}
