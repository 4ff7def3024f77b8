//! The axes of the comparison, one file each.

mod idle;
mod kill;
mod many;
mod output;
mod start;
mod store;
mod wait;

pub(super) use idle::run as idle;
pub(super) use kill::run as kill;
pub(super) use many::run as many;
pub(super) use output::run as output;
pub(super) use start::run as start;
pub(super) use store::run as store;
pub(super) use wait::run as wait;
