//! What meanwhile talks about: ids, specs, states, events and the formats on disk and on the wire.
//!
//! Everything here is pure. There is no I/O, no clock, no randomness, no thread: time and random
//! numbers are passed in. Both executables, the `mw` command and its supervisor, link this crate and
//! agree on nothing else.
//!
//! ```text
//! spec ──▶ event ──▶ transition ──▶ state ──▶ status word
//!   │                                 ▲
//!   └─ wire: start message, journal, exit record, control, output index
//! ```
#![forbid(unsafe_code)]

mod agent;
pub mod approval;
mod cause;
pub mod chat;
mod dialect;
mod event;
mod id;
mod limits;
mod log_name;
mod notice;
mod proc_stat;
mod progress;
mod prompt;
mod quotes;
mod raw_text;
mod ready;
mod redact;
mod resources;
mod signal;
mod spec;
mod state;
mod time;
mod trace;
mod transition;
mod units;
mod visible;
pub mod wire;

pub use agent::{Activity, AgentRecord, AgentSpec, AgentTurn, DEPTH_VARIABLE, PlanStep, ToolUse, Worktree};
pub use cause::{Cause, Exit, TimeLimit};
pub use dialect::{Dialect, Named};
pub use event::Event;
pub use id::{IdError, TaskId, TaskKind, long_handle, looks_like_handle, parse_short_handle, short_handle};
pub use limits::Limits;
pub use log_name::{TASK_LOG_NAME_PATTERN, context_stamp, task_log_name};
pub use notice::{AGENT_WAITS, News, Notice, Part, Turn, TurnEvent, events_from_turns};
pub use proc_stat::ProcStat;
pub use progress::{PROGRESS_FD, PROGRESS_VARIABLE, Progress};
pub use prompt::PromptPatterns;
pub use quotes::unclosed_quote;
pub use raw_text::RawText;
pub use ready::ReadyWhen;
pub use redact::{Edge, Secret, find_secrets, is_secret_name, is_secret_value, mark_len, redaction_mark};
pub use resources::{Enforcement, OutOfRange, Pace, ResourceLimit, Resources, Usage};
pub use signal::{asks_to_end, signal_name, signal_number};
pub use spec::{
    CommandSpec, DEFAULT_SESSION, EnvVar, Io, Lifetime, QueueLimits, SPEC_VERSION, SessionBond, TaskSpec,
};
pub use state::{Process, RunOrigin, Status, TaskState};
pub use time::Timestamp;
pub use trace::{
    Sampler, Share, SpanId, TRACEPARENT_VARIABLE, TRACESTATE_VARIABLE, TaskTrace, TraceError, TraceId,
    TraceParent,
};
pub use transition::{Refusal, next_state};
pub use units::{UnitError, parse_duration_ms, parse_milli_cpus, parse_size};
pub use visible::{is_hidden, visible};
