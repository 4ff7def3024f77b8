//! The interface between the chat screen and the process behind it.
//!
//! ```text
//! screen ──ChatOrder──▶ host of the session ──▶ agent
//! screen ◀──ChatUpdate─── host of the session ◀── agent, tasks
//!                          └──Entry──▶ transcript
//! ```
//!
//! Every visible part of the conversation is a [`ChatEntry`], both live and after a restart.

mod protocol;
mod tasks;

pub use crate::action::ApprovalReply;
pub use protocol::{
    AgentCommand, AgentState, COMMANDS, ChatEntry, ChatOrder, ChatTask, ChatUpdate, ToolContent, ToolState,
    ToolUpdate,
};
