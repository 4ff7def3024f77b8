//! Approval on the command line: policy for commands inside a session, the question at the terminal, and answers.

mod answer;
mod gated_call;
mod prompt;

pub(crate) use answer::{answerable, report};
pub(crate) use gated_call::{around, bound, is_below_any_task};
