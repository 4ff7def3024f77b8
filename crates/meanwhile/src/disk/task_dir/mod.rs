//! One task's files.
//!
//! `dir` is the directory itself. `spec` is the stored request, and `secret_variables` reads only those of its
//! environment. `contents` is what the directory records about its runs, and `locks` shows which processes work on it.
//! `log_view` opens its log. `runs` keeps the files of earlier runs, `delivered` the delivered notifications, `metadata` the
//! file that another tool reads.
//! `removal` removes the directory, and refuses one that is not a task of ours.

mod contents;
mod delivered;
mod dir;
mod locks;
pub(crate) mod log_view;
mod metadata;
mod removal;
mod runs;
mod secret_variables;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use delivered::DeliveredNotice;
pub use dir::TaskDir;
pub(crate) use locks::StartHold;
