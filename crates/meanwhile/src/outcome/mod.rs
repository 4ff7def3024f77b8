//! A one-line summary of how a task ended, read from the end of its output.
//!
//! ```text
//! tail ▸ lines (clean, bounded) ▸ each recogniser ▸ finding ─┐
//!                               ▸ last non-blank line ───────┴▸ summarize ▸ at most 200 characters
//! ```
//!
//! A recogniser knows one tool and nothing of the others. It does not get the exit code and never claims more than
//! the output does: a success that is followed by other lines does not count as the end of the whole task. Counts
//! include only the tail.

mod cargo_build;
mod cargo_test;
mod finding;
mod go_events;
mod go_test;
mod jest;
mod lines;
mod make;
mod nextest;
mod npm;
mod pytest;
mod report;
mod summarize;
#[cfg(test)]
mod tests;
mod tsc;
mod vitest;

pub use summarize::summarize;
