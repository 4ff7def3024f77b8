//! HTTP on this machine.
//!
//! ```text
//! guard  which requests are let in: token, Host, Origin, size of the body
//! serve  listens on loopback and serves routes behind the guard until a signal ends the process
//! ```
//!
//! The routes come from outside: whoever calls [`Listening::serve`] hands them over, and they need not know that there is
//! a guard.
#![forbid(unsafe_code)]

pub mod guard;
pub mod serve;

pub use guard::{Guard, Token};
pub use serve::{Listening, listen};
