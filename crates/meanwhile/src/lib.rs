//! Runs the long work of coding agents in the background: starts it at once, keeps every byte, kills
//! the whole tree, and knows how it ended.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use meanwhile::{Meanwhile, Shell, Until};
//!
//! # fn main() -> meanwhile::Result<()> {
//! let mw = Meanwhile::open_default()?;
//! let session = mw.host("my-agent")?;
//! let task = session.start(Shell::new("cargo test").name("tests"))?;
//! task.wait(Until::Exit, Duration::from_secs(60))?;
//! for notice in session.notices()? {
//!     println!("{}", notice.summary());
//!     notice.acknowledge()?;
//! }
//! task.kill()?;
//! # Ok(())
//! # }
//! ```
//!
//! There is no daemon. Each running task has a supervisor process of its own; the truth is files in
//! its directory and one SQLite database over all of them; every program that opens a home is an
//! equal client.
//!
//! ```text
//! handle · session                                   what a host holds
//!    │
//! start ▸ approval ▸ queue ▸ launch ▸ (mw-supervisor) ▸ settle ▸ notify · read · trace ▸ retain
//!    │                                    ▲ live           │
//!    └──────────── record, redact ◀────────────────────────┘   the database kept in step with the files
//!                        │
//!                      disk                                    files, SQL, platform
//! ```
//!
//! [`Meanwhile`], [`Session`] and [`TaskHandle`] are the library that a program uses. The module `engine` below them is for
//! the front ends of this workspace: it has every operation, and changes with them.
//!
//! The library never prints or exits. It reads the environment only for [`Meanwhile::open_default`] and for drafts, whose
//! tasks run where and as this process does; everything else is passed in.
#![forbid(unsafe_code)]

mod agent;
mod approval;
mod base;
mod clock;
mod disk;
#[doc(hidden)]
pub mod engine;
pub mod error;
mod fail_point;
mod handle;
mod launch;
mod live;
mod notify;
mod outcome;
mod queue;
mod read;
mod record;
mod redact;
mod request;
mod retain;
mod runner;
mod runtime;
mod session;
mod settings;
mod settle;
mod span;
mod start;
mod task;
mod trace;
mod variables;

pub use disk::store::{Filter, Order, Page};
pub use error::{Error, Result};
pub use handle::{Meanwhile, Notices, PendingNotice, Program, Session, Shell, TaskDraft, TaskHandle, Until};
pub use mw_model as model;
pub use mw_model::Progress;
pub use mw_policy as policy;
pub use redact::SecretPattern;
pub use settings::{
    AtCapacity, HookSettings, Programs, QueueSettings, RedactSettings, RetentionSettings, Settings,
    TraceSettings,
};
pub use task::{AgentView, Scope, Task, TaskLimits};
