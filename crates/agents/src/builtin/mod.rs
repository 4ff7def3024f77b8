//! The built-in agent: a small loop around a model endpoint, offered as an agent of the Agent Client Protocol.
//!
//! ```text
//! client ─▶ serve ─▶ turn ──▶ Model (OpenAI-compatible, Anthropic, Ollama), streamed
//!   ▲                 │  ▲        │ calls
//!   │ updates         │  └────────▼
//!   └─────────────────┤      gate (policy; asks the client) ─▶ tools of the engine · files · MCP servers
//!                     ▼
//!                SessionLog: agent-sessions/<id>/transcript.jsonl
//! ```
//!
//! A turn is one async task, and no handler blocks. Each record is written to disk before anything depends on it. A
//! notification is acknowledged only after the record that contains it was written.

mod agent;
mod caller;
mod calls;
mod client;
mod context;
mod conversation;
mod engine_tools;
mod files;
mod gate;
mod instructions;
mod messages;
mod model;
mod notices;
mod options;
mod replay;
mod serve;
mod servers;
mod session;
mod session_log;
mod spans;
mod titles;
mod turn;

pub use model::{ModelChoice, ModelError, ModelOptions, Provider};
pub use options::{AgentLimits, AgentOptions, Project, ProjectLoader};
pub use serve::serve_agent;
