//! Runs long-running commands of coding agents in the background: starts them at once, keeps every byte of output,
//! kills whole process trees, and records how each command ended.
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
//! `mw`, `mw-engine` and `mw-supervisor` must be installed, next to the program or on the `PATH`. There is no daemon. Each running
//! task has a separate supervisor process. The files in a task's directory are authoritative, and one SQLite database indexes all
//! tasks. Every program that opens a home is an equal client, so `mw top` and `mw list` show these tasks, too.
//!
//! # Waiting for notifications
//!
//! The end of a task, a stall and readiness make a notification for the session. It is delivered again until it is
//! acknowledged, also if the host is killed in between.
//!
//! ```no_run
//! # use std::time::Duration;
//! # fn example(session: &meanwhile::Session) -> meanwhile::Result<()> {
//! while let Some(notice) = session.next_notice(Duration::from_secs(3600))? {
//!     println!("{}", notice.to_block()); // what a model reads
//!     notice.acknowledge()?;
//! }
//! // Or: the next message to the model, with everything that happened in front of it, stored exactly once.
//! let turn = session.message("go on")?;
//! println!("{}", turn.to_text());
//! # Ok(())
//! # }
//! ```
//!
//! # Several tasks
//!
//! ```no_run
//! # use std::time::Duration;
//! # use meanwhile::{Program, Shell, Until};
//! # fn example(session: &meanwhile::Session) -> meanwhile::Result<()> {
//! let build = session.start(Program::new("cargo").arg("build").timeout(Duration::from_secs(600)))?;
//! let tests = session.start(Shell::new("cargo test 2>&1 | tail -50").after(&build).max_memory(4 << 30))?;
//! for waited in session.wait_all([&build, &tests], Until::Exit, Duration::from_secs(60))? {
//!     println!("{}: {}", waited.task().id, waited.task().status.word());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Output
//!
//! ```no_run
//! # use std::time::Duration;
//! # fn example(task: &meanwhile::TaskHandle) -> meanwhile::Result<()> {
//! let mut offset = 0;
//! loop {
//!     let output = task.output_since(offset, Duration::from_secs(60))?; // waits for more
//!     print!("{}", output.text());
//!     offset = output.next;
//!     if output.is_end {
//!         break;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Policy
//!
//! [`Session::start`] does not check the policy. A command that a model chose goes through a policy, which allows it, refuses it, or asks
//! a person.
//!
//! ```no_run
//! use meanwhile::model::approval::{Answer, Proposal, Remember};
//! use meanwhile::policy::{AskOutcome, Asker, Policy};
//!
//! struct Terminal;
//!
//! impl Asker for Terminal {
//!     fn ask(&self, proposal: &Proposal, _answered: &mut dyn FnMut() -> bool) -> AskOutcome {
//!         println!("{}", proposal.question());
//!         let mut line = String::new();
//!         let is_yes = std::io::stdin().read_line(&mut line).is_ok() && line.trim() == "y";
//!         let no = || Answer::Deny("the user said no".to_owned());
//!         let answer = if is_yes { Answer::Approve(Remember::Once) } else { no() };
//!         AskOutcome::Answered { answer, by: "terminal" }
//!     }
//! }
//!
//! # fn example(session: &meanwhile::Session) -> meanwhile::Result<()> {
//! session.start_checked("rm -rf target", &Policy::default(), &Terminal)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Async
//!
//! The library blocks. [`aio`] has the calls that wait as futures, for every executor.
//!
//! ```no_run
//! # use std::time::Duration;
//! # use meanwhile::{Until, aio};
//! # async fn example(session: meanwhile::Session) -> meanwhile::Result<()> {
//! let task = aio::start(&session, "cargo test").await?;
//! let waited = aio::wait(&task, Until::Exit, Duration::from_secs(60)).await?;
//! let text = aio::call(move || task.tail(2000)).await?;
//! println!("{:?}\n{text}", waited.task().exit_code);
//! # Ok(())
//! # }
//! ```
//!
//! # How it is built
//!
//! The folders are layers; each uses only those below it. The table in `docs/architecture.md` ("Where to add things") lists them
//! from the top to the bottom, and `cargo xtask tidy` checks the order.
//!
//! The library never prints or exits. It reads the environment only for [`Meanwhile::open_default`], [`Settings::at`] and
//! drafts, because a task gets the directory, environment and umask of this process by default; everything else is passed in. The hidden module `engine` has
//! every operation, for the front ends of this workspace, and changes with them.
#![forbid(unsafe_code)]

mod agent;
mod approval;
mod base;
mod clock;
mod confine;
mod database;
mod disk;
mod due;
#[doc(hidden)]
pub mod engine;
pub mod error;
mod fail_point;
mod handle;
mod hooks;
mod launch;
mod live;
pub mod model;
mod notify;
mod outcome;
pub mod policy;
mod queue;
mod read;
mod reconcile;
mod redact;
mod request;
mod retain;
mod runtime;
mod session;
pub mod settings;
mod settle;
mod span;
mod start;
mod supervisor;
mod task;
mod trace;
mod variables;

pub use disk::store::{ListOrder, TaskFilter, TaskPage};
pub use error::{Error, Result};
pub use handle::{
    Listener, Meanwhile, Notices, Output, OutputMatch, PendingNotice, Program, Session, Shell, TaskDraft,
    TaskEvent, TaskHandle, Until, Waited, aio,
};
pub use live::kill::{KillFailure, KillReport};
pub use mw_model::wire::KillReceipt;
pub use mw_model::{MessageTurn, Notice, Place, ReadyWhen, Status, TaskId};
pub use request::IfRunning;
pub use settings::Settings;
pub use task::{AgentView, Scope, Task, TaskConfinement, TaskLimits};

/// Compiles the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub struct LibraryPage;
