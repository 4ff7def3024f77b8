//! The process behind the screen of a chat: it hosts a session and talks with one agent.
//!
//! ```text
//! screen ─ ChatOrder ─▶ core ─▶ connection ─▶ the agent's process ─▶ our MCP server, bound to the session
//! screen ◀─ ChatUpdate ── core ◀─ connection
//!                         ├─ the session: notifications, tasks, approval requests
//!                         └─ the transcript, a line per entry
//! ```
//!
//! The core is one thread, and only it makes decisions. Operations that may block (an approval, a kill, the agent) run
//! on other threads, which send messages to it.

mod announcing;
mod command_runner;
mod connect;
mod connection;
mod core;
mod inputs;
mod ledger;
mod modes;
mod open;
mod questions;
mod slash;
mod tasks;
mod transcript;
mod turns;
mod unwritten;
mod watch;

pub use open::{Chat, ChatOptions, Wake};
pub use transcript::{ChatTranscript, TranscriptError, new_session};

use open::Tell;
