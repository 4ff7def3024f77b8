//! What models see: five dialects over one engine.
//!
//! A dialect is a projection and holds no state. So far each has its words for states; tools, the MCP
//! server and the ACP driver will stand here too.
#![forbid(unsafe_code)]

mod dialect;

pub use dialect::Dialect;
