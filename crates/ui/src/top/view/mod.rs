//! Draws the state. It changes nothing and reads nothing else.
//!
//! ```text
//! State ─▶ frame ─▶ header, table, detail (log, facts, timeline), footer, dialogs
//!                     └▶ *_at: what a click there means
//! ```

mod detail;
mod dialogs;
mod footer;
mod frame;
mod header;
mod log;
mod table;
mod text;
mod timeline;

pub(super) use detail::pane_at;
pub(super) use dialogs::{answer_at, choice_at};
pub(super) use footer::hint_at;
pub(super) use frame::view;
pub(super) use table::sort_at;
pub(super) use text::{breaks, broken, wrapped_rows};
