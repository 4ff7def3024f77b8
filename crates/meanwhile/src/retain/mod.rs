//! Removing what nobody needs any more.
//!
//! `clear` removes tasks on request, `purge` by age, number and size. Neither removes a task that lives or whose owner
//! has not been notified.

pub(crate) mod clear;
pub(crate) mod keepers;
pub(crate) mod purge;

use crate::base::part;

part! {
    /// Removes what nobody needs any more.
    Retention
}
