//! Everything that needs `unsafe` or only exists on Linux, behind safe functions. A port replaces this folder.

use std::collections::BTreeMap;

mod arena;
mod arena_for_c;
mod arguments;
mod board;
mod kernel;
mod mapping;
mod pidfd;
mod process;
mod processes;
mod usage;
mod wait;

pub use arena::Arena;
pub use arguments::{arguments, set_arguments};
pub(crate) use board::{Board, Phase, SpawnStep};
pub(crate) use kernel::{
    ChildEvents, become_subreaper, boot_id, close_all_but, close_inherited, find_pipe, give_back_memory,
    make_fifo, move_bytes, new_pipe, peer_uid, reopen_read_write,
};
pub(crate) use mapping::Mapping;
pub(crate) use pidfd::{ProcessHandle, capabilities, exit_of_foreign};
pub(crate) use process::{
    Child, ExecPlan, Fork, execute_last, exit_at_once, fork, ignore_broken_pipes, ignore_children, spawn,
    spawn_program,
};
pub(crate) use processes::{
    are_children_dead, descendants, find_start_ticks, group_of, is_stopped, is_supervisor, process_command,
    start_ticks, status_of_zombie, tagged_processes, was_ours,
};
pub(crate) use usage::{proportional_memory, usage};
pub(crate) use wait::{WaitResult, look_at_exit, reap};

/// The version, and the C library that this program is linked with. With musl it starts faster.
pub const BUILD: &str = if cfg!(target_env = "musl") {
    concat!(env!("CARGO_PKG_VERSION"), " (musl)")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (glibc)")
};

/// Processes with their start times.
pub(crate) struct Found {
    pub(crate) processes: BTreeMap<u32, u64>,
    /// Whether every process could be checked.
    pub(crate) is_whole: bool,
}

/// Signals that a supervisor blocks; [`ChildEvents`] reports the first two.
const BLOCKED: [libc::c_int; 8] = [
    libc::SIGCHLD,
    libc::SIGUSR1,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGQUIT,
    libc::SIGXFSZ,
    libc::SIGXCPU,
];

/// What one process uses.
pub(crate) struct Use {
    pub(crate) pid: u32,
    /// Resident bytes, shared ones included.
    pub(crate) memory: u64,
    /// CPU time, including that of children it has waited for.
    pub(crate) cpu_us: u64,
    pub(crate) threads: u64,
}

/// Optional features of the system.
pub(crate) struct Capabilities {
    /// Processes can be held by a descriptor.
    pub(crate) pidfd: bool,
    /// Orphans of a task become children of its supervisor.
    pub(crate) subreaper: bool,
    /// The exit code of a process that is not our child can be read.
    pub(crate) exit_of_others: bool,
}
