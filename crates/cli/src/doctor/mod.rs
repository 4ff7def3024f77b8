//! The checks of `mw doctor`, a file per area. None changes the user's home or a host's files.

mod backends;
mod home;
mod hooks;
mod hosts;
mod measure;
mod programs;
mod report;
mod scratch;
mod system;

pub(crate) use backends::{Backend, examine_backends};
pub(crate) use report::{Check, CheckResult, examine};
