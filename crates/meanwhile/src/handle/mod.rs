//! The public face: a home to share, a session to hold, a task to talk to.
//!
//! A [`Meanwhile`] opens a home and can be cloned into any thread. [`Meanwhile::host`] holds a session for as long as the
//! guard lives. [`Session::start`] takes a draft ([`Shell`] or [`Program`]) and returns a [`TaskHandle`];
//! [`Session::notices`] returns what there is to tell, each until it is acknowledged.
//! Everything below is one call of the engine.

mod draft;
mod home;
mod notices;
mod session;
mod surroundings;
mod task;

pub use draft::{Program, Shell, TaskDraft};
pub use home::Meanwhile;
pub use notices::{Notices, PendingNotice};
pub use session::Session;
pub use task::{TaskHandle, Until};
