//! `mw`: the engine's commands. The others it leaves to `mw-surfaces`, so that it stays small and starts fast.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mw_cli::mw()
}
