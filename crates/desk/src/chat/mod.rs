//! The interface between the screen of a chat and the process behind it.
//!
//! ```text
//! screen ──ChatOrder──▶ host of the session ──▶ agent
//! screen ◀──ChatNews─── host of the session ◀── agent, tasks
//!                          └──Entry──▶ transcript
//! ```
//!
//! Everything that is shown of the conversation is an [`Entry`], both live and after a restart.

mod protocol;
mod tasks;

pub use crate::action::Reply;
pub use protocol::{
    AgentState, ChatNews, ChatOrder, ChatQuestion, ChatTask, Entry, ToolContent, ToolNews, ToolState,
};
