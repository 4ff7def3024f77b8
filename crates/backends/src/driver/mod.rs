//! What all drivers have in common: the task's directory, its output, and signals for it.

mod files;
mod job;
mod output;
mod run;
mod signals;

pub(crate) use files::{copy_streams, open_regular, private_file};
pub(crate) use job::Job;
pub(crate) use output::Output;
pub(crate) use run::Attempt;
pub use run::run_driver;
pub(crate) use signals::{Signals, WakeUp};
