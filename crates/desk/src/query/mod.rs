//! The queries of a screen about tasks.
//!
//! ```text
//! Query (which, in which order) + RowRange (which rows) ─▶ Desk::list ─▶ Listing: Window, and whom to sample
//! id ─▶ Desk::facts, takes_input                          one task
//! ids ─▶ Desk::lanes                                      their runs, for a timeline
//! nothing ─▶ Desk::sessions
//! ```

mod detail;
mod list_query;
mod window;

pub use detail::Lane;
pub(crate) use list_query::filter;
pub use list_query::{Query, Sort, States, by_state};
pub use window::{Listing, RowRange, Window};
