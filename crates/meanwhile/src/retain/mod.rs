//! Removes tasks that are no longer needed.
//!
//! `clear` removes tasks on request, `purge` by age, number and size. Neither removes a live task. `purge` also keeps
//! a task whose owner has not been notified. `everything` also removes the home.

pub(crate) mod clear;
pub(crate) mod everything;
pub(crate) mod keepers;
pub(crate) mod purge;

use crate::base::part;

part! {
    /// Removes tasks that are no longer needed.
    pub struct Retention;
}
