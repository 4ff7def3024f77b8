//! The interface between the chat screen and the process behind it.
//!
//! ```text
//! screen ──ChatOrder──▶ host of the session ──▶ agent
//! screen ◀──ChatUpdate─── host of the session ◀── agent, tasks
//!                          └──Entry──▶ transcript
//! ```
//!
//! Every visible part of the conversation is an [`Entry`], both live and after a restart.

mod protocol;
mod tasks;

pub use crate::action::Reply;
pub use protocol::{
    AgentState, ChatOrder, ChatQuestion, ChatTask, ChatUpdate, Entry, ToolContent, ToolState, ToolUpdate,
};
