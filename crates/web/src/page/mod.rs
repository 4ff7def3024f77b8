//! The web page. Its files are part of the executable, and it loads nothing from elsewhere.
//!
//! ```text
//! index.html ─▶ app.js ─▶ live.js      events, and whether the server is there
//!                  │       api.js       requests
//!                  └▶ views/*.js        a file per view ─▶ parts/*.js: log, sparkline, dialog, waterfall
//! ```

mod files;
mod headers;
mod routes;
mod sign_in;

pub use headers::protected;
pub use routes::routes;
pub use sign_in::sign_in_page;
