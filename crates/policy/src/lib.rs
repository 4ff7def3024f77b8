//! Decides what may run: allow, ask or deny, with reasons and effects in words.
//!
//! ```text
//! tool × mode × dialect ─▶ tools ───────────────────────────────┐
//!                                                               ├─▶ the strictest ─▶ verdict
//! command ─▶ script (parsed, the value of every word) ─▶ judge ─┘
//!                                                          ├─ programs  what a program does with its arguments
//!                                                          └─ paths     where a path leads
//! ```
//!
//! The decision is a pure function of a [`Request`], which answers questions about the file system through [`Files`].
//! A command that is not understood is never allowed: an unknown program, a value that is known only at run time where
//! it matters, or syntax that shells read differently. `docs/approval.md` says what this does not stop.
#![forbid(unsafe_code)]

mod decide;
mod decision;
mod judge;
mod mode;
mod names;
mod need;
mod panics;
mod paths;
mod programs;
mod request;
mod rules;
mod script;
mod tools;

pub use decide::decide;
pub use decision::{Decision, Reason, Verdict};
pub use mode::Mode;
pub use mw_model::{Dialect, EnvironmentGrant, Grant, NetworkGrant, ReadGrant, Tool, ToolClass, WriteGrant};
pub use panics::is_judging;
pub use paths::protected::{PROTECTED_NAMES, PROTECTED_PATHS, is_protected_name};
pub use paths::secret_files::{SECRET_NAMES, is_secret};
pub use request::{CommandText, ConfinementLevel, Files, Request};
pub use rules::{Rule, RuleError, RuleGrant, RuleOrigin, Rules};
pub use script::steps::steps;
pub use tools::foreign_tool;
