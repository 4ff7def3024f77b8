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
    ChildEvents, ProcessHandle, become_subreaper, boot_id, close_inherited, descendants, exit_of_foreign,
    find_pipe, is_only_child, make_fifo, move_bytes, new_pipe, peer_uid, process_command, reopen_read_write,
    start_ticks, tagged_processes,
};
pub(crate) use process::{
    Child, ExecPlan, Fork, WaitResult, execute_last, exit_at_once, fork, ignore_broken_pipes, look_at_exit,
    reap, spawn, spawn_helper, spawn_settle,
};
