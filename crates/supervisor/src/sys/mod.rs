//! Everything that needs `unsafe` or only exists on Linux, behind safe functions. A port replaces this folder.

mod arena;
mod arena_for_c;
mod arguments;
mod board;
mod build;
mod confine;
// The executables include it beside their entry point.
#[cfg(all(test, target_arch = "x86_64"))]
mod copying;
mod kernel;
mod mapping;
mod own_pids;
mod pidfd;
mod process;
mod processes;
mod time_slice;
mod usage;
mod wait;

pub use arena::Arena;
pub use arguments::{arguments, set_arguments};
pub(crate) use arguments::{rename_process, set_name};
pub(crate) use board::{Board, Phase, SpawnStep};
pub use build::BUILD;
pub(crate) use confine::{Confine, Connects, Reachable, landlock_abi, probe};
pub use kernel::give_back_memory;
pub(crate) use kernel::{
    ChildEvents, become_subreaper, boot_id, close_all_but, close_inherited, find_pipe, make_fifo, move_bytes,
    new_pipe, peer_uid, reopen_read_write, take_back_code,
};
pub(crate) use mapping::Mapping;
pub(crate) use pidfd::{ProcessHandle, capabilities, exit_of_foreign};
pub(crate) use process::{
    Child, Cpus, ExecPlan, Fork, execute_last, exit_at_once, fork, ignore_broken_pipes, ignore_children,
    reset_signals, spawn, spawn_program,
};
pub(crate) use processes::{
    Found, children_of, descendants, entry_of, find_start_ticks, group_of, is_stopped, is_supervisor,
    process_command, start_ticks, status_of_zombie, tagged_processes, was_ours,
};
pub use time_slice::{restore_time_slice, shorten_time_slice};
pub(crate) use usage::{Use, proportional_memory, usage};
pub(crate) use wait::{WaitResult, look_at_exit, reap};
