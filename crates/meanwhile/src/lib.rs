//! Runs the long work of coding agents in the background: starts it at once, keeps every byte, kills
//! the whole tree, and knows how it ended.
//!
//! There is no daemon. Each running task has a supervisor process of its own; the truth is files in
//! its directory and one SQLite database over all of them; every program that opens a home is an
//! equal client.
//!
//! ```text
//! runtime ▸ start · kill · wait · restart · clear      what a front end calls
//!            │                                ▲
//!            ▼                                │
//!          queue ▸ launch ▸ (mw-supervisor) ▸ reconcile
//!            │                                │
//!            └────────── store ◀──────────────┘
//! ```
//!
//! The library never prints, exits or reads the environment: settings are passed in.
#![forbid(unsafe_code)]

mod adopt;
mod agents;
mod approval;
mod arrivals;
mod bell;
mod change;
mod clear;
mod clock;
mod control;
mod database;
mod ending;
mod error;
mod fail_point;
mod home;
mod hooks;
mod index;
mod inspect;
mod kill;
mod launch;
mod lease;
mod local_files;
mod look;
mod metadata;
mod notices;
mod nursery;
mod outbox;
mod output;
mod own_spans;
mod platform;
mod ports;
mod progress;
mod queue;
mod readers;
mod ready;
mod reconcile;
mod redact;
mod request;
mod restart;
mod resume;
mod retention;
mod runs;
mod runtime;
mod session_dir;
mod sessions;
mod settings;
mod settle;
mod shelf;
mod slots;
mod spans;
mod start;
mod starters;
mod store;
mod subscription;
pub mod summary;
mod task;
mod task_dir;
mod told;
mod traces;
mod usage;
mod vanished;
mod wait;
mod waiting;

pub use agents::{AgentMessage, child_session, keeper_session};
pub use approval::{
    Approval, Asked, Asker, Entry as ApprovalEntry, HouseRules, Nobody, Passage,
    Patience as ApprovalPatience, Policy, RuleText,
};
pub use clear::{ClearReport, Retained};
pub use clock::{Clock, SystemClock};
pub use error::{Error, Result};
pub use fail_point::{FAIL_POINTS, arm as arm_fail_point, fail_point};
pub use home::Home;
pub use inspect::{Inspection, inspect};
pub use kill::{KillFailure, KillRequest, Kills};
pub use launch::Supervisor;
pub use local_files::{LocalFiles, project_of};
pub use mw_model as model;
pub use mw_model::Progress;
pub use mw_policy as policy;
pub use notices::{Delivery, DeliveryPolicy, Host, Moment, Teller};
pub use outbox::{Taken, Urgency};
pub use output::{
    From, GrepMatch, GrepReply, GrepRequest, Piece, ReadReply, ReadRequest, StreamChoice, clean_text,
    render_screen,
};
pub use own_spans::{Outcome, OwnSpan};
pub use ports::{PortHolder, PortHolders};
pub use redact::{Redactor, SecretPattern};
pub use request::{IfRunning, TaskRequest};
pub use runs::Run;
pub use runtime::{Ear, Runtime};
pub use sessions::SessionInfo;
pub use settings::{
    AtCapacity, HookSettings, Programs, QueueSettings, RedactSettings, RetentionSettings, Settings,
    TraceSettings,
};
pub use spans::{EXECUTE_SPAN, START_SPAN, Span};
pub use start::Started;
pub use store::{EventRow, ExportState, Filter, Order, Page};
pub use subscription::Subscription;
pub use task::{AgentView, Scope, Task, TaskLimits};
pub use told::{TaskNews, Told};
pub use traces::Trace;
pub use usage::Usage;
pub use wait::{Condition, WaitReply, WaitRequest};
