//! The checks that every request passes.
//!
//! ```text
//! request ─▶ /login with the one-time token of a link ─▶ cookie
//!            token or cookie?  ─ no ─▶ 401
//!            Host is this server, Origin is our own?  ─ no ─▶ 403
//!            a change by a browser: sent by our own page?  ─ no ─▶ 403
//!            body within the limit?  ─ no ─▶ 413
//!            ─▶ the routes
//! ```
//!
//! The checks of `Host` and `Origin` keep web pages out: a page in the user's browser can send requests to loopback, also
//! under a foreign name that resolves to 127.0.0.1 (DNS rebinding), and the browser sends both headers truthfully. A page of
//! another port of this machine belongs to the same site, so it gets the cookie, too; a change therefore needs a header
//! that only our own page can add.

mod attempts;
mod body;
mod browsers;
mod gate;
mod key;
mod refusal;
mod server_address;
mod sign_in;
mod token;

pub use body::MAX_BODY;
pub use browsers::{Browsers, SignInPage};
pub use gate::Guard;
pub use key::Key;
pub use server_address::ServerAddress;
pub use token::Token;

pub(crate) use attempts::Attempts;
