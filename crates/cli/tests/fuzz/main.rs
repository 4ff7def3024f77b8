//! Every reader of foreign data gets changed inputs: nothing panics, hangs or stops serving.
//!
//! Each target changes the inputs of `corpus/TARGET` for a second, with a fixed seed; `cargo xtask fuzz --seconds 60` runs them for
//! longer, with another. An input that fails is named and kept. Add it to the corpus, so that it is tried first from then on.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod control;
mod engine;
mod http;
mod log;
mod mcp;
mod shell;
mod wire;

use mw_testkit::Home;

/// Returns a sealed home for the `mw` under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_mw"))
}
