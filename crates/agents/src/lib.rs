//! What models see: one set of operations, several dialects to ask for them.
#![forbid(unsafe_code)]

pub mod dialects;
mod table;
pub mod tools;
mod toolset;

pub use dialects::Dialect;
pub use table::table;
pub use toolset::{CustomTool, Form, RegistryError, ToolSpec, Toolset};

/// Compiles the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tools.md")]
pub struct ToolsPage;
