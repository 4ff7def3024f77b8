//! Tests of agent tasks against real ACP processes: a well-behaved one and many that are not.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod asking;
mod background_task_spec;
mod batches;
mod builtin;
mod kills;
mod limits;
mod lingering;
mod misbehaving;
mod permissions;
mod resume;
mod settings;
mod tools;
mod worktree;
mod world;
