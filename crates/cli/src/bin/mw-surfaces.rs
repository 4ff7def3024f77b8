//! The large commands of `mw`, which executes this in its own stead when one of them is called.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mw_cli::surfaces()
}
