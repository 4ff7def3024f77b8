//! The supervisor as an executable of its own, installed beside `mw`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mw_supervisor::run()
}
