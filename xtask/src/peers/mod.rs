//! Measures `mw` side by side with the bare limit and with the peers that are installed.
//!
//! Everything is measured in one run, in rounds in which every peer takes its turn, so that a change in the machine's
//! mood meets all of them. The bare limit (`benches/bare.c`) is one of the peers; figures are also given as multiples
//! of its own. `docs/benchmarks.md` says what the axes mean and what they do not.
//!
//! ```text
//! run ─▶ tools (bare, mw) ─▶ axes/* ─▶ bench (rounds, samples) ─▶ report, json
//!                              │
//!                              ▼
//!                    systems/* : Peer ─▶ stand (a directory, an environment, timed commands)
//! ```

mod axes;
mod bench;
mod json;
mod metric;
mod options;
mod outcome;
mod peer;
mod probe;
mod process;
mod quiet;
mod report;
mod run;
mod samples;
mod stand;
mod systems;
mod tools;
mod watchdog;

pub(crate) use run::run;
