//! Tests of the dialects by their source documents, on a real home with real processes.
//!
//! Tasks run under the executables of `mw-cli`; a build of the whole workspace puts them next to the tests.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers run in tests only, where a broken assumption ends the test"
)]

mod background_task;
mod bounds;
mod canonical;
mod co_cli;
mod co_cli_files;
mod endings;
mod exact;
mod example;
mod foreground;
mod gate;
mod mycode;
mod mycode_screens;
mod opta;
mod opta_output;
mod tokens;
mod tolerance;
mod toolset;
mod world;
mod zidane;
