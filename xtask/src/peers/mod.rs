//! Compares `mw` with the bare limit and with the installed peers.
//!
//! Everything is measured in one run, in rounds in which every peer takes its turn. A change of the machine's load then
//! affects all of them. The bare limit (`benches/bare.c`) is one of the peers, and values are also given as multiples
//! of its values. `docs/benchmarks.md` explains the axes and their limits.
//!
//! ```text
//! run ─▶ tools (bare, mw) ─▶ axes/* ─▶ bench (rounds, samples) ─▶ report, json, plot
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
mod plot;
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
