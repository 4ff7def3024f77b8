//! The built-in agent: a small loop around a model endpoint, offered as an agent of the Agent Client Protocol.
//!
//! ```text
//! client ─▶ serve ─▶ Turn ──▶ Model (OpenAI-compatible, Anthropic, Ollama), streamed
//!   ▲                 │  ▲        │ calls
//!   │ updates         │  └────────▼
//!   └─────────────────┤      gate (policy; asks the client) ─▶ tools of the engine · files · MCP servers
//!                     ▼
//!                  Store: agent-sessions/<id>/transcript.jsonl
//! ```
//!
//! A turn is one async task, and no handler blocks. What a turn learns is on disk before anything depends on it: a
//! notification is acknowledged only after the record that carries it was written.

mod calls;
mod context;
mod conversation;
mod files;
mod gate;
mod instructions;
mod model;
mod options;
mod replay;
mod serve;
mod servers;
mod session;
mod sessions;
mod spans;
mod store;
mod talk;
mod tools;
mod turn;
mod waiting;
mod words;

pub use model::{ModelChoice, ModelError, ModelWishes, Provider};
pub use options::{AgentLimits, AgentOptions, Project, ProjectLoader};
pub use serve::serve_agent;
