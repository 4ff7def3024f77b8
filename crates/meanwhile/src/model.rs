//! The data in drafts, tasks, events, notifications and approval requests.

pub use crate::task::{LastRun, PlaceState};
pub use mw_model::wire::{KillReceipt, RefusalCode, SentSignal, Survivor};
pub use mw_model::{
    Activity, Cause, CommandSpec, Dialect, Enforcement, EnvVar, EnvironmentGrant, Event, Exit, Grant,
    IdError, Lifetime, Limits, MessagePart, MessageTurn, NetworkGrant, Notice, NoticeKind, OutOfRange, Place,
    PlanStep, Process, Progress, QueueLimits, RawText, ReadGrant, ReadyWhen, ResourceLimit, Resources,
    RunOrigin, Sampler, Share, SpanId, Status, StepStatus, TaskId, TaskKind, TaskState, TaskTrace, TimeLimit,
    Timestamp, ToolUse, TraceError, TraceId, TraceParent, TurnEvent, WriteGrant, approval, events_from_turns,
    signal,
};
