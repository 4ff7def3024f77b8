//! Listens and serves routes behind the guard.
//!
//! ```text
//! Listening::on ─▶ sockets: TCP, TLS, a socket in the file system
//!                    └─▶ limit: connections without authentication are few and short
//!                          └─▶ guard ─▶ routes
//! ```

mod connection;
mod limit;
mod listening;
mod secure;
mod sockets;

pub use connection::Connection;
pub use limit::{Admission, Limited, LimitedStream};
pub use listening::Listening;
pub use secure::secure;
pub use sockets::{Sockets, Wire};
