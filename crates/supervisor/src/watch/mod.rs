//! Watching the command while it runs.
//!
//! `supervise` is the loop over output, requests, children and timers. What it looks at has a file each: `limits` on
//! resources (due by `limit_watch`), a `stall` behind a prompt, `readiness`, `progress`, the `hosts` of its session, and
//! `children` of our own.

pub(crate) mod children;
pub(crate) mod hosts;
pub(crate) mod limit_watch;
pub(crate) mod limits;
pub(crate) mod progress;
pub(crate) mod readiness;
pub(crate) mod stall;
pub(crate) mod supervise;
