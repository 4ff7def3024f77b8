//! The public library: a home to share, a session to hold, a task to talk to.
//!
//! A [`Meanwhile`] is an open home. [`Meanwhile::host`] holds a session while the [`Session`] lives.
//! [`Session::start`] takes a draft ([`Shell`], [`Program`] or a script as text) and returns a [`TaskHandle`].
//! [`Session::notices`] and [`Session::next_notice`] return notifications, and [`Session::message`] puts them in front
//! of a text. [`aio`] has the blocking calls as futures. Every method is a few calls of the engine.

pub mod aio;
mod command;
mod draft;
mod home;
mod notices;
mod own_limits;
mod session;
pub(crate) mod surroundings;
mod task;
mod wait;

pub use command::{Program, Shell};
pub use draft::TaskDraft;
pub use home::Meanwhile;
pub use notices::{Notices, PendingNotice};
pub use session::Session;
pub use task::{Output, TaskHandle};
pub use wait::{Until, Waited};

pub use crate::disk::store::TaskEvent;
pub use crate::disk::wake_up::Listener;
pub use crate::read::output::OutputMatch;
