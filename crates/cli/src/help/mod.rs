//! What `--help` and refused arguments say: groups of commands, examples, other names of commands, one form of errors.

pub(crate) mod candidates;
mod examples;
mod groups;
mod other_names;
mod refused;

pub(crate) use examples::examples;
pub(crate) use groups::page;
pub(crate) use other_names::{canonical, other_names};
pub(crate) use refused::{Refused, alternatives};
