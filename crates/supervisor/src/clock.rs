//! The two clocks: one for durations, one for the record.

use std::time::SystemTime;

use mw_model::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Milliseconds of a clock that never jumps and that all processes of this boot share.
pub(crate) fn monotonic_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Microseconds of CPU time that this process has used.
pub(crate) fn own_cpu_us() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u64 * 1_000_000 + used.tv_nsec as u64 / 1000
}

/// The time of day.
pub(crate) fn wall() -> Timestamp {
    SystemTime::now().into()
}
