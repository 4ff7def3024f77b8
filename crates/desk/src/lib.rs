//! What any screen asks and does: one model of the tasks for the terminal, the chat and the web.
//!
//! Everything here is plain data and typed errors. No terminal type and no HTTP type appears, and nothing is printed.
#![forbid(unsafe_code)]

pub mod chat;
pub mod query;
pub mod rows;
pub mod text;
