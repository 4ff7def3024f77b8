//! Linux only: `/proc`, pidfds, namespaces. A port to another system replaces these files.

mod alarm_clock;
mod file_watch;
mod poll;
mod ports;
mod process;
mod tree;

pub(crate) use alarm_clock::sleep_until;
pub(crate) use file_watch::FileWatch;
pub(crate) use poll::{is_readable_within, poll_within, sleep_until_end, stay_awake_for};
pub(crate) use ports::{holders_of_port, listening_ports};
pub use process::random_bytes;
pub(crate) use process::{
    anonymous_file, command_of, files_of_supervisors_above, has_closed_supervisor_above, is_stopped,
    is_visible_supervisor, look_above, monotonic_ms, running_ms, sees_all_processes, short, starter_of,
    uptime_us, use_of,
};
pub(crate) use tree::{continue_if_stopped, kill_marked, peer_of, runs, signal, tree_of};
