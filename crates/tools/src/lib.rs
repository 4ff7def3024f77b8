//! The tools that a model calls: one set of operations, offered in several dialects.
//!
//! ```text
//! call ──▶ toolset ──▶ dialect (names, schemas, words) ──▶ operation ──▶ meanwhile
//!                          ▲                                   │
//!                          └──────────── reply ◀───────────────┘
//! ```
//!
//! The crate is synchronous and independent of protocols, so any agent loop can embed it. The MCP server and the
//! built-in agent of `mw-agents` both do.
#![forbid(unsafe_code)]

pub mod call;
pub mod delegation;
pub mod dialects;
mod markdown;
pub mod operations;
pub mod screens;
pub mod task_calls;
mod text;
mod tool_spec;
mod toolset;

pub use dialects::Dialect;
pub use markdown::markdown_table;
pub use mw_policy::ToolClass;
pub use text::first_line;
pub use tool_spec::{Format, ToolSpec};
pub use toolset::{CustomTool, RegistryError, Toolset, USUAL_WAIT_MS};

/// Compiles the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tools.md")]
pub struct ToolsPage;
