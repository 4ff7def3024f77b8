//! Runs the fuzz targets for longer than the check does.
//!
//! The targets are the tests in `crates/cli/tests/fuzz`: a loop that changes inputs of a corpus. It needs no other compiler.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::command::finish;
use crate::error::Failure;
use crate::tools::NEXTEST;

const USAGE: &str = "usage: cargo xtask fuzz [--seconds N] [--target NAME]

  --seconds N    how long each target runs; 60 by default. The check runs each for a second
  --target NAME  only this one: control, http, log, mcp, shell or wire";

/// Runs the targets.
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<(), Failure> {
    let (mut seconds, mut target) = (60, "");
    for option in options.chunks(2) {
        match option {
            ["--seconds", number] => seconds = number.parse().map_err(|_| Failure::Usage(USAGE))?,
            ["--target", name] => target = name,
            _ => return Err(Failure::Usage(USAGE)),
        }
    }
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let words = ["run", "--package", "mw-cli", "--test", "fuzz", "--locked", "--no-capture", target];
    let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
    let mut command = NEXTEST.command(root, &words)?;
    command.env("MW_FUZZ_SECONDS", seconds.to_string()).env("MW_FUZZ_SEED", seed.to_string());
    finish(command, &format!("cargo nextest run with MW_FUZZ_SEED={seed}"))
}
