//! A page of memory that supervisor and guardian share, so that it survives the death of either.

use std::io;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use mw_model::wire::Enforcer;

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The starter was not answered yet.
    Setup,
    /// The starter was answered, the command runs.
    Running,
    /// The exit record is written.
    Recorded,
    /// Only settling is left to do.
    Settling,
}

/// The step of a spawn that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpawnStep {
    /// Connecting the streams.
    Streams,
    /// Changing to the working directory.
    Directory,
    /// Executing the program.
    Execute,
    /// Confining the process with this feature.
    Confine(Enforcer),
}

impl SpawnStep {
    const ALL: [Self; 7] = [
        Self::Streams,
        Self::Directory,
        Self::Execute,
        Self::Confine(Enforcer::Landlock),
        Self::Confine(Enforcer::Namespaces),
        Self::Confine(Enforcer::Seccomp),
        Self::Confine(Enforcer::Pids),
    ];
}

/// Room for the latest progress report, in machine words.
const PROGRESS_WORDS: usize = 128;

/// Beside the bits of the enforcers.
const IS_CONFINED: u64 = 1 << 63;

/// What is on the page. Every field is atomic, because two processes use it at the same time.
#[repr(C)]
pub(crate) struct Page {
    phase: AtomicU32,
    /// The command's pid, written by the child itself before it executes anything.
    pub(crate) child: MaybePid,
    failed_step: AtomicU32,
    failed_errno: AtomicU32,
    pub(crate) stdin_closed: Flag,
    /// When the command was spawned, on the monotonic clock.
    pub(crate) started_ms: Number,
    /// Dropped bytes that are not marked in the log yet.
    pub(crate) pending_drop: Number,
    /// Whether the number of bytes that a predecessor has dropped is lost.
    pub(crate) output_lost: Flag,
    /// The readiness helper.
    pub(crate) helper: MaybePid,
    /// Whether the first signal of the latest kill request was sent.
    pub(crate) signalled: Flag,
    /// The process that writes the log on a slow disk.
    pub(crate) writer: MaybePid,
    /// Logical end of what was taken out of the task's pipes, while there is a writer; else 0.
    pub(crate) taken: Number,
    /// Logical end of what the writer has written.
    pub(crate) written: Number,
    /// Two, because the next may begin before the last is recorded.
    gaps: [Gap; 2],
    /// When a write of the writer was last slow, on the monotonic clock.
    pub(crate) slow_ms: Number,
    /// CPU time of the task's processes that were reaped here.
    pub(crate) spent_us: Number,
    /// The bits of what confines the command, and [`IS_CONFINED`] if it is confined.
    confined_by: Number,
    /// The wait status of a command in a process namespace of its own, plus 1; 0 before its end.
    wait_status: Number,
    /// Which of the two texts is valid, from 1; 0 means none.
    valid_text: AtomicU32,
    /// Two, because a process may be killed while it writes one.
    texts: [Text; 2],
}

/// A number on the page.
#[repr(transparent)]
pub(crate) struct Number(AtomicU64);

impl Number {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    pub(crate) fn add(&self, value: u64) {
        self.0.fetch_add(value, Ordering::AcqRel);
    }
}

/// A pid on the page, if there is one.
#[repr(transparent)]
pub(crate) struct MaybePid(AtomicU32);

impl MaybePid {
    pub(crate) fn get(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Acquire)).filter(|pid| *pid != 0)
    }

    pub(crate) fn set(&self, pid: Option<u32>) {
        self.0.store(pid.unwrap_or(0), Ordering::Release);
    }
}

/// A yes or no on the page; at first no.
#[repr(transparent)]
pub(crate) struct Flag(AtomicU32);

impl Flag {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    pub(crate) fn set(&self, value: bool) {
        self.0.store(u32::from(value), Ordering::Release);
    }
}

#[repr(C)]
struct Gap {
    from: Number,
    bytes: Number,
}

#[repr(C)]
struct Text {
    len: Number,
    words: [Number; PROGRESS_WORDS],
}

/// The shared page. Copies refer to the same page; it lives as long as the process.
#[derive(Clone, Copy)]
pub(crate) struct Board(&'static Page);

impl Deref for Board {
    type Target = Page;

    fn deref(&self) -> &Page {
        self.0
    }
}

impl Board {
    /// Maps a new page, which forks inherit.
    pub(crate) fn new() -> io::Result<Self> {
        let len = size_of::<Page>();
        // SAFETY: an anonymous shared mapping of our own; the result is checked before use.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping is page-aligned, zeroed (valid for atomics), large enough, never
        // unmapped, and only ever accessed through atomics.
        Ok(Self(unsafe { &*address.cast::<Page>() }))
    }

    pub(crate) fn phase(self) -> Phase {
        match self.0.phase.load(Ordering::Acquire) {
            0 => Phase::Setup,
            1 => Phase::Running,
            2 => Phase::Recorded,
            _ => Phase::Settling,
        }
    }

    pub(crate) fn set_phase(self, phase: Phase) {
        self.0.phase.store(phase as u32, Ordering::Release);
    }

    pub(crate) fn spawn_failure(self) -> Option<(SpawnStep, i32)> {
        let number = (self.0.failed_step.load(Ordering::Acquire) as usize).checked_sub(1)?;
        let step = SpawnStep::ALL.get(number).copied().unwrap_or(SpawnStep::Execute);
        Some((step, self.0.failed_errno.load(Ordering::Acquire) as i32))
    }

    pub(super) fn set_spawn_failure(self, step: SpawnStep, errno: i32) {
        self.0.failed_errno.store(errno as u32, Ordering::Release);
        let number = SpawnStep::ALL.iter().position(|known| *known == step).unwrap_or_default();
        self.0.failed_step.store(number as u32 + 1, Ordering::Release);
    }

    /// Forgets a failed attempt, before the next one.
    pub(crate) fn forget_spawn_failure(self) {
        self.0.failed_step.store(0, Ordering::Release);
    }

    /// Records how a command in a process namespace of its own has ended.
    pub(super) fn set_wait_status(self, status: i32) {
        self.wait_status.set(u64::from(status as u32) + 1);
    }

    /// Returns how a command in a process namespace of its own has ended, if it has.
    pub(super) fn wait_status(self) -> Option<i32> {
        Some((self.wait_status.get().checked_sub(1)?) as u32 as i32)
    }

    /// Records what confines the command.
    pub(crate) fn set_confined_by(self, bits: u64) {
        self.confined_by.set(bits | IS_CONFINED);
    }

    /// Returns what confines the command, if it is confined.
    pub(crate) fn confined_by(self) -> Option<Vec<Enforcer>> {
        let bits = self.confined_by.get();
        (bits & IS_CONFINED != 0).then(|| Enforcer::of_bits(bits))
    }

    /// Bytes that were dropped before they reached the writer: where, and how many.
    pub(crate) fn gap(self, slot: usize) -> (u64, u64) {
        let gap = &self.0.gaps[slot % 2];
        // The number is read first: it belongs to the offset that is read after it.
        let bytes = gap.bytes.get();
        (gap.from.get(), bytes)
    }

    pub(crate) fn begin_gap(self, slot: usize, from: u64) {
        self.set_gap_bytes(slot, 0);
        self.0.gaps[slot % 2].from.set(from);
    }

    pub(crate) fn set_gap_bytes(self, slot: usize, bytes: u64) {
        self.0.gaps[slot % 2].bytes.set(bytes);
    }

    /// The latest progress report of the task.
    pub(crate) fn progress_text(self) -> Option<Vec<u8>> {
        let text = self.0.texts.get((self.0.valid_text.load(Ordering::Acquire) as usize).checked_sub(1)?)?;
        let words = text.words.iter().flat_map(|word| word.get().to_ne_bytes());
        Some(words.take(text.len.get() as usize).collect())
    }

    /// Stores a text, unless it is too long.
    pub(crate) fn set_progress_text(self, bytes: &[u8]) {
        let next = self.0.valid_text.load(Ordering::Acquire) % 2;
        let text = &self.0.texts[next as usize];
        if bytes.len() > PROGRESS_WORDS * 8 {
            return;
        }
        for (word, part) in text.words.iter().zip(bytes.chunks(8)) {
            let mut padded = [0; 8];
            padded[..part.len()].copy_from_slice(part);
            word.set(u64::from_ne_bytes(padded));
        }
        text.len.set(bytes.len() as u64);
        self.0.valid_text.store(next + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_text_is_stored_completely_or_not_at_all() {
        let board = Board::new().unwrap();
        assert_eq!(board.progress_text(), None);
        for text in ["{\"percent\":1}", "a longer text than the first", ""] {
            board.set_progress_text(text.as_bytes());
            assert_eq!(board.progress_text().as_deref(), Some(text.as_bytes()));
        }
        board.set_progress_text(&[b'x'; PROGRESS_WORDS * 8 + 1]);
        assert_eq!(board.progress_text().as_deref(), Some(&b""[..]));
    }
}
