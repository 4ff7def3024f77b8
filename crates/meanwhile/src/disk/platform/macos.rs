//! macOS.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use mw_model::Process;

/// Returns how long the machine has been up, in microseconds.
pub(crate) fn uptime_us() -> i64 {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    up.tv_sec * 1_000_000 + up.tv_nsec / 1000
}

/// The start of a process is told by the time of day here, which is no better than what the task says.
pub(crate) const fn running_ms(_process: &Process) -> Option<u64> {
    None
}

/// There is no shorter path here: a home must not lie too deep.
pub(crate) fn short_path(_directory: &File) -> Option<PathBuf> {
    None
}

/// Returns bytes that nobody can guess.
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns the process that started another; never known here.
pub(crate) const fn starter_of(_pid: u32) -> Option<u32> {
    None
}

/// Returns nothing: whoever is not told is not described.
pub(crate) fn command_of(_pid: u32) -> String {
    String::new()
}

/// Returns nothing: what a process uses is not told here.
pub(crate) const fn use_of(_pid: u32) -> Option<(u64, u64)> {
    None
}

/// Other processes' files cannot be seen here; a task is known by its environment alone.
pub(crate) fn files_of_ancestors() -> Vec<PathBuf> {
    Vec::new()
}
