//! The large commands of `mw`. If one of them is called, `mw` executes this program in its place.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mw_cli::surfaces()
}
