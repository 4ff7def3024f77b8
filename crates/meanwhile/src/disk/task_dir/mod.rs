//! One task's files.
//!
//! `dir` is the directory itself. `spec` is the stored request, `contents` what the directory records about its runs,
//! and `locks` shows which processes work on it. `log_view` opens its log, and `log_names` gives the log a second name. `runs` keeps the files of earlier runs, `delivered` the delivered
//! notifications, `metadata` the file that another tool reads. `removal` removes the directory, and refuses one that
//! is not a task of ours.

mod contents;
mod delivered;
mod dir;
mod locks;
pub(crate) mod log_names;
pub(crate) mod log_view;
mod metadata;
mod removal;
mod runs;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use delivered::DeliveredNews;
pub use dir::TaskDir;
pub(crate) use locks::StartHold;
