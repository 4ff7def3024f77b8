//! The public library: a home to share, a session to hold, a task to talk to.
//!
//! A [`Meanwhile`] is an open home. [`Meanwhile::host`] holds a session for as long as the [`Session`] lives.
//! [`Session::start`] takes a draft ([`Shell`], [`Program`] or a script as text) and returns a [`TaskHandle`].
//! [`Session::notices`] and [`Session::next_notice`] return what happened, [`Session::message`] puts it in front of a text.
//! [`aio`] has the calls that wait as futures. Everything is a few calls of the engine.

pub mod aio;
mod draft;
mod home;
mod notices;
mod own_limits;
mod session;
mod surroundings;
mod task;
mod wait;

pub use draft::{Program, Shell, TaskDraft};
pub use home::Meanwhile;
pub use notices::{Notices, PendingNotice};
pub use session::Session;
pub use task::{Output, TaskHandle};
pub use wait::{Until, Waited};

pub use crate::disk::store::EventRow as TaskEvent;
