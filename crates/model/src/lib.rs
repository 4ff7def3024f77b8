//! The data model of meanwhile: ids, specs, states, events and the formats on disk and on the wire.
//!
//! Everything here is pure: there is no I/O, no clock, no randomness and no thread. Time and random numbers are passed
//! in. The executables share these formats.
//!
//! ```text
//! spec ──▶ event ──▶ transition ──▶ state ──▶ status word
//!   │                                 ▲
//!   └─ wire: start message, journal, exit record, control, output index
//! ```
#![forbid(unsafe_code)]

pub mod approval;
mod dialects;
mod hash;
mod notice;
mod proc_command;
mod proc_stat;
pub mod signal;
mod stream;
mod task;
mod text;
mod time;
mod tool;
mod trace;
pub mod wire;

pub use dialects::{Dialect, SecondName, TaskName};
pub use hash::fnv1a;
pub use notice::{AGENT_WAITS, MessagePart, MessageTurn, Notice, NoticeKind, TurnEvent, events_from_turns};
pub use proc_command::{environ_has, is_own_process, shown_command};
pub use proc_stat::ProcStat;
pub use signal::{asks_to_end, signal_name, signal_number};
pub use stream::Stream;
pub use task::agent::{
    Activity, AgentRecord, AgentSpec, AgentTurn, DEPTH_VARIABLE, PlanStep, SESSION_EXPIRED, StepStatus,
    ToolUse, Worktree,
};
pub use task::cause::{Cause, EndRequest, Exit, TimeLimit};
pub use task::dependency::{Dependency, EndWanted};
pub use task::event::Event;
pub use task::grant::{EnvironmentGrant, Grant, NetworkGrant, ReadGrant, TaskGrant, WriteGrant};
pub use task::id::{
    IdError, TaskId, TaskKind, long_handle, looks_like_handle, parse_short_handle, short_handle,
};
pub use task::limits::Limits;
pub use task::place::{BackendKind, BackendPlace, ContainerPlace, Place, SlurmPlace, SshPlace};
pub use task::progress::{PROGRESS_FD, Progress};
pub use task::ready::ReadyWhen;
pub use task::requester::Requester;
pub use task::resource_limits::{Enforcement, OutOfRange, Pace, ResourceLimit, Resources, TreeSample};
pub use task::schedule::{
    AfterRun, Due, EndedRun, FIRST_RETRY_MS, LONGEST_RETRY_MS, Repeat, RestartPolicy, RestartWhen,
    SHORTEST_INTERVAL_MS, STEADY_RUN_MS, Schedule, is_due, next_interval,
};
pub use task::spec::{
    CommandSpec, DEFAULT_SESSION, DEFAULT_SHELL, EnvVar, Io, LONGEST_SESSION_NAME, Lifetime, QueueLimits,
    SPEC_VERSION, SessionBond, SlotGroup, TaskSpec, is_session_name,
};
pub use task::state::{Process, RunOrigin, Status, TaskState};
pub use task::transition::{TransitionRefused, next_state};
pub use task::variables::{CALLS_VARIABLE, PROGRESS_VARIABLE, SESSION_VARIABLE, TASK_VARIABLE};
pub use text::cut::{both_ends, clipped, first_bytes, first_chars, head_with_note};
pub use text::one_line::one_line;
pub use text::prompt::PromptPatterns;
pub use text::quotes::unclosed_quote;
pub use text::raw_text::RawText;
pub use text::redact::{
    Edge, Secret, find_secrets, is_secret_name, is_secret_value, mark_len, redaction_mark,
};
pub use text::shell_word::shell_word;
pub use text::units::{
    UnitError, count, duration, millis, parse_duration_ms, parse_milli_cpus, parse_size, seconds,
    whole_duration,
};
pub use text::visible::{is_hidden, visible};
pub use time::Timestamp;
pub use tool::{Tool, ToolClass};
pub use trace::{
    Sampler, Share, SpanId, TRACEPARENT_VARIABLE, TRACESTATE_VARIABLE, TaskTrace, TraceError, TraceId,
    TraceParent,
};
pub use wire::log_name::{TASK_LOG_NAME_PATTERN, context_stamp, is_context_stamp, task_log_name};
