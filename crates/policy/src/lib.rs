//! Decides what may run: allow, ask or deny, with reasons and effects in words.
//!
//! ```text
//! tool × mode × dialect ──▶ tools ────────────────┐
//!                                                 ├─▶ the strictest ──▶ verdict
//! command ─▶ parser_limits ─▶ parser ─▶ syntax ───┘
//!                                        ├─ word         the value of a word after quotes, braces and variables
//!                                        ├─ destination  where a path leads
//!                                        └─ programs     what a program does with its arguments
//! ```
//!
//! The decision is a pure function of a [`Request`], which answers questions about the file system through [`Files`].
//! A command that is not understood is never allowed: an unknown program, a value that is known only at run time where
//! it matters, or syntax that shells read differently. `docs/approval.md` says what this does not stop.
#![forbid(unsafe_code)]

mod cached_files;
mod calculations;
mod decide;
mod decision;
mod destination;
mod judge;
mod mode;
mod names;
mod panics;
mod parser_limits;
mod programs;
mod project;
mod request;
mod rules;
mod secret_files;
mod simple;
mod steps;
mod syntax;
mod tools;
mod variables;
mod word;

pub use decide::decide;
pub use decision::{Decision, Reason, Verdict};
pub use mode::Mode;
pub use mw_model::{Dialect, Tool, ToolClass};
pub use panics::is_judging;
pub use request::{CommandText, Files, Request};
pub use rules::{Rule, RuleError, RuleOrigin, Rules};
pub use steps::steps;
pub use tools::foreign_tool;
