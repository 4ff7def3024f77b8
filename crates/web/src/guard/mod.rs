//! The checks that every request passes.
//!
//! ```text
//! request ─▶ /login with the one-time token of a link ─▶ cookie
//!            token or cookie?  ─ no ─▶ 401
//!            Host is this server, Origin is our own?  ─ no ─▶ 403
//!            a browser, and not for the page itself: the page key?  ─ no ─▶ 403
//!            body within the limit?  ─ no ─▶ 413
//!            ─▶ the routes
//! ```
//!
//! The checks of `Host` and `Origin` keep web pages out: a page in the user's browser can send requests to loopback, also
//! under a foreign name that resolves to 127.0.0.1 (DNS rebinding), and the browser sends both headers truthfully. A server on
//! another port of this machine gets the cookie, too, and may be a task of an agent. So a browser also sends the page key,
//! which only our own page has.

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
