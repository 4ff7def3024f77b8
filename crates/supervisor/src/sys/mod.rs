//! Everything that needs `unsafe`, behind safe functions. One file per platform.

mod board;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "macos.rs"]
mod platform;
mod process;

pub(crate) use board::{Board, Phase, SpawnStep};
pub(crate) use platform::{
    ChildEvents, ProcessHandle, become_subreaper, boot_id, capabilities, close_inherited, descendants,
    exit_of_foreign, find_pipe, is_only_child, make_fifo, move_bytes, new_pipe, peer_uid, process_command,
    reopen_read_write, start_ticks, tagged_processes,
};
pub(crate) use process::{
    Child, ExecPlan, Fork, WaitResult, execute_last, exit_at_once, fork, ignore_broken_pipes, look_at_exit,
    reap, spawn, spawn_helper, spawn_settle,
};

/// What the system offers beyond the least that is needed.
pub(crate) struct Capabilities {
    /// Processes can be held by a descriptor, so that none is mistaken for another.
    pub(crate) pidfd: bool,
    /// Orphans of a task come back to its supervisor.
    pub(crate) subreaper: bool,
    /// The exit code of a process that is not our child can be learnt.
    pub(crate) exit_of_others: bool,
}
