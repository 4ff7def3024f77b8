//! HTTP on this machine.
//!
//! ```text
//! guard  checks of every request: token, Host, Origin, size of the body
//! serve  listens on loopback and serves routes behind the guard
//! ```
//!
//! The caller of [`Listening::serve`] passes the routes, the end and the async runtime. The routes do not know the guard.
#![forbid(unsafe_code)]

pub mod guard;
pub mod serve;

pub use guard::{Guard, Token};
pub use serve::{Listening, listen};
