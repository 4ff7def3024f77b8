//! The time slice that the scheduler gives to processes of meanwhile.
//!
//! These processes work for some microseconds and sleep again, while a client waits for them. With a short slice they can preempt a
//! process with a longer slice as soon as they wake up (Linux 6.12). Their share of the CPU stays the same.

use std::sync::atomic::{AtomicU64, Ordering};

/// The shortest slice that the kernel accepts.
const SHORT_NS: u64 = 100_000;

/// The slice of the process that started this one; 0 if it is still the same.
static INHERITED_NS: AtomicU64 = AtomicU64::new(0);

/// `struct sched_attr` in its first version.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// For an ordinary process the slice. Older kernels ignore it.
    runtime: u64,
    deadline: u64,
    period: u64,
}

const SIZE: u32 = size_of::<Attributes>() as u32;
const ORDINARY: u32 = libc::SCHED_OTHER as u32;

/// Takes a short slice, unless this process has a special scheduling policy. Processes that it forks inherit it.
pub fn shorten_time_slice() {
    if let Some(attributes) = attributes() {
        let inherited = attributes.runtime;
        if inherited > SHORT_NS && set(&Attributes { runtime: SHORT_NS, ..attributes }) {
            INHERITED_NS.store(inherited, Ordering::Relaxed);
        }
    }
}

/// Takes the inherited slice again, before another program is executed.
pub fn restore_time_slice() {
    let inherited = INHERITED_NS.load(Ordering::Relaxed);
    if inherited > 0
        && let Some(attributes) = attributes()
    {
        set(&Attributes { runtime: inherited, ..attributes });
    }
}

fn attributes() -> Option<Attributes> {
    let mut found = Attributes {
        size: SIZE,
        policy: 0,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: 0,
        deadline: 0,
        period: 0,
    };
    // SAFETY: the kernel writes at most `SIZE` bytes to a structure of that size.
    let asked = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, SIZE, 0) };
    (asked == 0 && found.policy == ORDINARY).then_some(found)
}

fn set(attributes: &Attributes) -> bool {
    // SAFETY: the kernel reads a structure of the size that is in it.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const *attributes, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_slice_is_restored_for_other_programs() {
        // In a separate thread, because the attributes are those of a thread.
        let slices = std::thread::spawn(|| {
            let slice = || attributes().map(|attributes| attributes.runtime);
            let before = slice();
            shorten_time_slice();
            let short = slice();
            restore_time_slice();
            (before, short, slice())
        });
        let (before, short, after) = slices.join().unwrap();
        assert_eq!(before, after);
        assert!(short <= before);
    }
}
