//! macOS.

use std::fs::File;
use std::path::PathBuf;

/// Returns how long the machine has been up, in microseconds.
pub(crate) fn uptime_us() -> i64 {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    up.tv_sec * 1_000_000 + up.tv_nsec / 1000
}

/// There is no shorter path here: a home must not lie too deep.
pub(crate) fn short_path(_directory: &File) -> Option<PathBuf> {
    None
}
