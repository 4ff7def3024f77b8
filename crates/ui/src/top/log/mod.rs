//! The loaded part of the log of the selected task: lines, scroll position and search.

mod pane;
mod search;

pub(crate) use pane::{Log, LogPosition};
pub(crate) use search::Matcher;
