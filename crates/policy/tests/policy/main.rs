//! Decisions about commands.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod attacks;
mod everyday;
mod grants;
mod grounds;
mod properties;
mod rules;
mod shells;
mod table;
mod world;
