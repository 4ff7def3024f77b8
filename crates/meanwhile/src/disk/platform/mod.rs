//! What differs between systems. One file each, the same functions in both.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod macos;
#[cfg(target_os = "linux")]
mod ports_linux;
#[cfg(not(target_os = "linux"))]
mod ports_macos;
#[cfg(target_os = "linux")]
mod tree_linux;
#[cfg(not(target_os = "linux"))]
mod tree_macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    command_of, files_of_ancestors, random_bytes, running_ms, short_path, starter_of, uptime_us, use_of,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use macos::{
    command_of, files_of_ancestors, random_bytes, running_ms, short_path, starter_of, uptime_us, use_of,
};
#[cfg(target_os = "linux")]
pub(crate) use ports_linux::{holders_of_port, listening_ports};
#[cfg(not(target_os = "linux"))]
pub(crate) use ports_macos::{holders_of_port, listening_ports};
#[cfg(target_os = "linux")]
pub(crate) use tree_linux::{continue_if_stopped, peer_of, runs, signal, tree_of};
#[cfg(not(target_os = "linux"))]
pub(crate) use tree_macos::{continue_if_stopped, peer_of, runs, signal, tree_of};
