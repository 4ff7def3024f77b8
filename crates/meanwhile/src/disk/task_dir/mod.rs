//! One task's files.
//!
//! `dir` is the directory itself. `spec` is what the task was asked to be, `contents` what the directory shows of its runs,
//! `locks` who is at work on it, and `control` talks to its supervisor. `log_view` opens its log, and `log_names` gives that
//! a second name. `runs` keeps the files of earlier runs, `told` what the owner was told, `metadata` the view that another
//! tool reads. `removal` removes the directory, and refuses what is not a task of ours.

mod contents;
pub(crate) mod control;
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
mod told;

pub use dir::TaskDir;
pub(crate) use locks::StartHold;
pub(crate) use told::ToldNews;
