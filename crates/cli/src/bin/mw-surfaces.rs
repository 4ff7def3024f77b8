//! The large commands of `mw`. If one of them is called, `mw` replaces itself with this program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mw_cli::surfaces()
}
