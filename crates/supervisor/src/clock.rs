//! The two clocks: one for durations, one for the record.

use std::time::SystemTime;

use mw_model::{Process, Timestamp};
use rustix::time::{ClockId, clock_gettime};

/// Milliseconds of a clock that never jumps and that all processes of this boot share.
pub(crate) fn monotonic_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Returns how long ago a process of this boot was started, by a clock that cannot be set; `None` if its start is not known.
pub(crate) fn ms_since_start(process: &Process, boot_id: &str) -> Option<u64> {
    let now = clock_gettime(ClockId::Boottime);
    let now_ms = now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000;
    let is_known = process.start_ticks > 0 && process.boot_id == boot_id;
    // The kernel reports hundredths of a second to user space.
    is_known.then(|| now_ms.saturating_sub(process.start_ticks.saturating_mul(10)))
}

/// Microseconds of CPU time that this process has used.
pub(crate) fn own_cpu_us() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u64 * 1_000_000 + used.tv_nsec as u64 / 1000
}

/// The time of day. In a debug build `MEANWHILE_CLOCK` names a file with the milliseconds by which it jumps.
pub(crate) fn wall() -> Timestamp {
    let now: Timestamp = SystemTime::now().into();
    if !cfg!(debug_assertions) {
        return now;
    }
    let shift = std::env::var_os("MEANWHILE_CLOCK").and_then(|file| std::fs::read_to_string(file).ok());
    let shift = shift.and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
    Timestamp::from_micros(now.as_micros() + shift * 1000)
}
