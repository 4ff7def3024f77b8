//! Decides what may run: allow, ask or deny, with reasons and effects in words.
//!
//! ```text
//! tool × mode × dialect ──▶ stage one ─┐
//!                                      ├─▶ the strictest ──▶ verdict
//! command ─▶ fence ─▶ grammar ─▶ walk ─┘
//!                                 ├─ word      what a word is, once quotes, braces and variables are seen through
//!                                 ├─ places    where a path leads
//!                                 └─ programs  what a program does with its arguments
//! ```
//!
//! Everything is a pure function of its [`Request`]; what the file system knows is asked through [`Files`]. What is
//! not understood is never allowed: an unknown program, a word that is not known before it runs where it decides
//! something, a construct that shells read differently. See `docs/approval.md` for what this does not stop.
#![forbid(unsafe_code)]

mod calculations;
mod decide;
mod decision;
mod fence;
mod glob;
mod guard;
mod judge;
mod mode;
mod places;
mod programs;
mod project;
mod remembered;
mod request;
mod rules;
mod secrets;
mod simple;
mod steps;
mod tools;
mod variables;
mod walk;
mod word;

pub use decide::decide;
pub use decision::{Decision, Ground, Reason, Verdict};
pub use guard::is_judging;
pub use mode::Mode;
pub use mw_model::{Dialect, Tool, ToolClass};
pub use request::{CommandText, Files, Request};
pub use rules::{Rule, RuleError, RuleOrigin, Rules};
pub use steps::steps;
