//! The checks that every request passes.
//!
//! ```text
//! request ─▶ token?  ─ no ─▶ 401
//!            Host is this machine, Origin is our own?  ─ no ─▶ 403
//!            body within the limit?  ─ no ─▶ 413
//!            ─▶ the routes
//! ```
//!
//! The checks of `Host` and `Origin` keep web pages out: a page in the user's browser can send requests to loopback, also
//! under a foreign name that resolves to 127.0.0.1 (DNS rebinding), and the browser sends both headers truthfully.

mod body;
mod gate;
mod token;

pub use body::MAX_BODY;
pub use gate::Guard;
pub use token::Token;
