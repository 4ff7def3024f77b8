//! What models see: one set of operations, several dialects to ask for them.
#![forbid(unsafe_code)]

pub mod dialects;
pub mod mcp;
pub mod session_of;
pub mod tools;
mod toolset;

pub use dialects::Dialect;
pub use toolset::{CustomTool, Form, RegistryError, ToolSpec, Toolset};
