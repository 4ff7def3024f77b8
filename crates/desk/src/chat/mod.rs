//! A chat, as its screen and what is behind it know it.
//!
//! ```text
//! screen ──ChatOrder──▶ host of the session ──▶ agent
//! screen ◀──ChatNews─── host of the session ◀── agent, tasks
//!                          └──Entry──▶ transcript
//! ```
//!
//! Whatever is shown of the conversation is an [`Entry`], live and after a restart: there is no other way to show it.

mod protocol;
mod tasks;

pub use crate::action::Reply;
pub use protocol::{
    AgentState, ChatNews, ChatOrder, ChatQuestion, ChatTask, Entry, ToolContent, ToolNews, ToolState,
};
