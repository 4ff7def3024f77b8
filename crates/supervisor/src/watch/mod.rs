//! Watching the command while it runs.
//!
//! `supervise` is the loop over output, requests, children and timers. Each thing that it checks has a file: `time_limits`,
//! `resource_limits` (when to measure: `resource_schedule`), a `stall` at a prompt, `readiness`, `progress`, the `holders` of
//! the task's session, and the supervisor's own `children`.

pub(crate) mod children;
pub(crate) mod holders;
pub(crate) mod progress;
pub(crate) mod readiness;
pub(crate) mod resource_limits;
pub(crate) mod resource_schedule;
pub(crate) mod stall;
pub(crate) mod supervise;
pub(crate) mod time_limits;
