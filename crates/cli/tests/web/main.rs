//! Tests of `mw serve`: the guard, the API, the streams, and the page in a real browser.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod api;
mod approvals;
mod browser;
mod doors;
mod fuzz;
mod load;
mod open;
mod serve;
mod streams;

use mw_testkit::Home;

/// Returns a sealed home for the `mw` under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_mw"))
}
