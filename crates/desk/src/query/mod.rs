//! The queries of a screen about tasks.
//!
//! ```text
//! Query (which, in which order) + RowRange (which rows) ─▶ Desk::list ─▶ Listing: Window, and whom to sample
//! id ─▶ Desk::facts, takes_input                          one task
//! ids ─▶ Desk::lanes                                      their runs, for a timeline
//! nothing ─▶ Desk::sessions, batches, backends
//! TaskListQuery ─▶ Desk::tasks                            whole records, for programs
//! id ─▶ Desk::task, history, transcript, trace
//! ```

mod batches;
mod detail;
mod list_query;
mod task_list;
mod transcript;
mod window;

pub use batches::Batch;
pub use detail::Lane;
pub(crate) use list_query::filter;
pub use list_query::{Query, Sort, States, by_state};
pub use task_list::{AgentMessages, AgentStep, TaskHistory, TaskListQuery};
pub use transcript::{StepContent, Transcript, TranscriptStep};
pub use window::{Listing, RowRange, StateCounts, Window};
