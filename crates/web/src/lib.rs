//! HTTP on this machine.
//!
//! ```text
//! api    the HTTP API, on the desk of every screen
//! page   the web page, embedded
//! guard  checks of every request: token or cookie, Host, Origin, size of the body
//! serve  listens on loopback, a socket, or with TLS, and serves routes behind the guard
//! ```
//!
//! The caller of [`Listening::serve`] passes the routes, the end and the async runtime. The routes do not know the guard.
#![forbid(unsafe_code)]

pub mod api;
pub mod guard;
pub mod page;
mod problem;
pub mod serve;

pub use api::{AgentInfo, Api, NewRule, Options};
pub use guard::{Browsers, Guard, Key, ServerAddress, Token};
pub use serve::Listening;
