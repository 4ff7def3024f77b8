//! One line that says how a task ended, read from the end of what it printed.
//!
//! ```text
//! tail ▸ lines (clean, bounded) ▸ each recogniser ▸ finding ─┐
//!                               ▸ last non-blank line ───────┴▸ summarize ▸ at most 200 characters
//! ```
//!
//! A recogniser knows one tool and nothing of the others. It is told no exit code and never says more than the
//! output does: a success that is followed by other lines is not taken for the ending of the whole task.
//! Counts are those of the tail; what scrolled out of it is not in them.

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
