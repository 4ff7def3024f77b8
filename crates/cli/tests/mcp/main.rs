//! Tests of `mw mcp`: raw messages as real hosts send them, hosts that end it in their ways, kills at every step of
//! a reply, and third-party clients.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod calls;
mod clients;
mod confined;
mod elicitation;
mod ends;
mod errors;
mod http;
mod load;
mod malformed;
mod notices;
mod notices_kills;
mod one_name;
mod quick;
mod resources;
mod session_end;
mod sessions;
mod task_calls;
mod tasks;
mod tokens;
mod tolerance;
mod web;

use mw_testkit::Home;

/// Returns a sealed home for the `mw` under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_mw"))
}
