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
//!    └───────────────────────── disk ◀─────────────────────┘
//! ```
//!
//! The library never prints or exits. It reads the environment only for [`Meanwhile::open_default`] and for drafts, whose
//! tasks run where and as this process does; everything else is passed in.
#![forbid(unsafe_code)]

mod approval;
mod clock;
mod disk;
mod error;
mod fail_point;
mod handle;
mod launch;
mod live;
mod notify;
mod queue;
mod read;
mod retain;
mod runtime;
mod session;
mod settings;
mod settle;
mod start;
mod task;
mod trace;

pub use approval::{
    Approval, Asked, Asker, Entry as ApprovalEntry, HouseRules, Nobody, Passage,
    Patience as ApprovalPatience, Policy, RuleText,
};
pub use approval::{LocalFiles, project_of};
pub use clock::{Clock, SystemClock};
pub use disk::home::Home;
pub use disk::inspect::{Inspection, inspect};
pub use disk::store::{EventRow, ExportState, Filter, Order, Page};
pub use error::{Error, Result};
pub use fail_point::{FAIL_POINTS, arm as arm_fail_point, fail_point};
pub use handle::{Meanwhile, Notices, PendingNotice, Program, Session, Shell, TaskDraft, TaskHandle, Until};
pub use launch::hand_over::Supervisor;
pub use launch::program::{NoProgram, find_program};
pub use live::agent::{AgentMessage, child_session, keeper_session};
pub use live::kill::{KillFailure, KillRequest, Kills};
pub use live::ports::{PortHolder, PortHolders};
pub use live::usage::Usage;
pub use mw_model as model;
pub use mw_model::Progress;
pub use mw_policy as policy;
pub use notify::delivery::Delivery;
pub use notify::notices::{DeliveryPolicy, Host, Moment, Teller};
pub use notify::subscription::Subscription;
pub use notify::summary;
pub use notify::told::{TaskNews, Told};
pub use read::output::{
    From, GrepMatch, GrepReply, GrepRequest, Piece, ReadReply, ReadRequest, StreamChoice, clean_text,
    render_screen,
};
pub use read::redact::{Redactor, SecretPattern};
pub use read::runs::Run;
pub use read::wait::{Condition, WaitReply, WaitRequest};
pub use retain::clear::{ClearReport, Retained};
pub use runtime::{Ear, Runtime};
pub use session::lifecycle::SessionInfo;
pub use session::starters::{PROJECT_SESSION, is_shared};
pub use settings::{
    AtCapacity, HookSettings, Programs, QueueSettings, RedactSettings, RetentionSettings, Settings,
    TraceSettings,
};
pub use start::request::{IfRunning, TaskRequest};
pub use start::submit::Started;
pub use task::{AgentView, Scope, Task, TaskLimits};
pub use trace::outbox::{Taken, Urgency};
pub use trace::own_spans::{Outcome, OwnSpan};
pub use trace::spans::{EXECUTE_SPAN, START_SPAN, Span};
pub use trace::traces::Trace;
