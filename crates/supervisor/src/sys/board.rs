//! A page of memory that the supervisor and its guardian share, so that neither's death loses it.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nobody was answered yet.
    Setup,
    /// The starter was answered, the command runs.
    Running,
    /// The exit record is written.
    Recorded,
    /// Nothing is left to do but to settle.
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
}

/// Room for a task's words about its progress, in words of the machine.
const TOLD_WORDS: usize = 128;

#[repr(C)]
struct Page {
    phase: AtomicU32,
    child: AtomicU32,
    failed_step: AtomicU32,
    failed_errno: AtomicU32,
    stdin_closed: AtomicU32,
    started_ms: AtomicU64,
    pending_drop: AtomicU64,
    helper: AtomicU32,
    signalled: AtomicU32,
    writer: AtomicU32,
    taken: AtomicU64,
    written: AtomicU64,
    /// Two, because the next may begin before the last is written down.
    gaps: [Gap; 2],
    slow_ms: AtomicU64,
    spent_us: AtomicU64,
    /// Which of the two texts below counts, from 1.
    told: AtomicU32,
    /// Two, because whoever writes one may be killed in the middle of it.
    texts: [Text; 2],
}

#[repr(C)]
struct Gap {
    from: AtomicU64,
    bytes: AtomicU64,
}

#[repr(C)]
struct Text {
    len: AtomicU64,
    words: [AtomicU64; TOLD_WORDS],
}

/// The shared page. Copies refer to the same page; it lives as long as the process.
#[derive(Clone, Copy)]
pub(crate) struct Board(&'static Page);

impl Board {
    /// Maps a new page, to be inherited by forks.
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

    /// The command's pid, written by the child itself before it executes anything.
    pub(crate) fn child(self) -> Option<u32> {
        Some(self.0.child.load(Ordering::Acquire)).filter(|pid| *pid != 0)
    }

    pub(super) fn set_child(self, pid: u32) {
        self.0.child.store(pid, Ordering::Release);
    }

    pub(crate) fn spawn_failure(self) -> Option<(SpawnStep, i32)> {
        let step = match self.0.failed_step.load(Ordering::Acquire) {
            0 => return None,
            1 => SpawnStep::Streams,
            2 => SpawnStep::Directory,
            _ => SpawnStep::Execute,
        };
        Some((step, self.0.failed_errno.load(Ordering::Acquire) as i32))
    }

    pub(super) fn set_spawn_failure(self, step: SpawnStep, errno: i32) {
        self.0.failed_errno.store(errno as u32, Ordering::Release);
        self.0.failed_step.store(step as u32 + 1, Ordering::Release);
    }

    /// When the command was spawned, on the monotonic clock.
    pub(crate) fn started_ms(self) -> u64 {
        self.0.started_ms.load(Ordering::Acquire)
    }

    pub(crate) fn set_started_ms(self, ms: u64) {
        self.0.started_ms.store(ms, Ordering::Release);
    }

    /// Dropped bytes that could not be written down yet, because the disk is full.
    pub(crate) fn pending_drop(self) -> u64 {
        self.0.pending_drop.load(Ordering::Acquire)
    }

    pub(crate) fn set_pending_drop(self, bytes: u64) {
        self.0.pending_drop.store(bytes, Ordering::Release);
    }

    /// The process that looks whether the task is ready.
    pub(crate) fn helper(self) -> Option<u32> {
        Some(self.0.helper.load(Ordering::Acquire)).filter(|pid| *pid != 0)
    }

    pub(crate) fn set_helper(self, pid: Option<u32>) {
        self.0.helper.store(pid.unwrap_or(0), Ordering::Release);
    }

    /// Whether the first signal of the latest request for the end was sent.
    pub(crate) fn is_signalled(self) -> bool {
        self.0.signalled.load(Ordering::Acquire) != 0
    }

    pub(crate) fn set_signalled(self, signalled: bool) {
        self.0.signalled.store(u32::from(signalled), Ordering::Release);
    }

    /// The process that writes the log in its supervisor's stead.
    pub(crate) fn writer(self) -> Option<u32> {
        Some(self.0.writer.load(Ordering::Acquire)).filter(|pid| *pid != 0)
    }

    pub(crate) fn set_writer(self, pid: Option<u32>) {
        self.0.writer.store(pid.unwrap_or(0), Ordering::Release);
    }

    /// Logical end of what was taken out of the task's pipes, while there is a writer; else 0.
    pub(crate) fn taken(self) -> u64 {
        self.0.taken.load(Ordering::Acquire)
    }

    pub(crate) fn set_taken(self, value: u64) {
        self.0.taken.store(value, Ordering::Release);
    }

    /// Logical end of what the writer has written.
    pub(crate) fn written(self) -> u64 {
        self.0.written.load(Ordering::Acquire)
    }

    pub(crate) fn set_written(self, value: u64) {
        self.0.written.store(value, Ordering::Release);
    }

    /// Bytes that were dropped before they came to the writer: where they are missing, and how many.
    pub(crate) fn gap(self, slot: usize) -> (u64, u64) {
        let gap = &self.0.gaps[slot % 2];
        // The number first: what is read with it is where it counts from.
        let bytes = gap.bytes.load(Ordering::Acquire);
        (gap.from.load(Ordering::Acquire), bytes)
    }

    pub(crate) fn begin_gap(self, slot: usize, from: u64) {
        self.set_gap_bytes(slot, 0);
        self.0.gaps[slot % 2].from.store(from, Ordering::Release);
    }

    pub(crate) fn set_gap_bytes(self, slot: usize, bytes: u64) {
        self.0.gaps[slot % 2].bytes.store(bytes, Ordering::Release);
    }

    /// When a write last took the writer long, on the monotonic clock.
    pub(crate) fn slow_ms(self) -> u64 {
        self.0.slow_ms.load(Ordering::Acquire)
    }

    pub(crate) fn set_slow_ms(self, value: u64) {
        self.0.slow_ms.store(value, Ordering::Release);
    }

    /// Processor time of the task's processes that were reaped here.
    pub(crate) fn spent_us(self) -> u64 {
        self.0.spent_us.load(Ordering::Acquire)
    }

    pub(crate) fn add_spent_us(self, us: u64) {
        self.0.spent_us.fetch_add(us, Ordering::AcqRel);
    }

    /// What the task last told of its progress.
    pub(crate) fn told(self) -> Option<Vec<u8>> {
        let text = self.0.texts.get((self.0.told.load(Ordering::Acquire) as usize).checked_sub(1)?)?;
        let words = text.words.iter().flat_map(|word| word.load(Ordering::Acquire).to_ne_bytes());
        Some(words.take(text.len.load(Ordering::Acquire) as usize).collect())
    }

    /// Keeps a text; one that is too long is not kept.
    pub(crate) fn set_told(self, bytes: &[u8]) {
        let next = self.0.told.load(Ordering::Acquire) % 2;
        let text = &self.0.texts[next as usize];
        if bytes.len() > TOLD_WORDS * 8 {
            return;
        }
        for (word, part) in text.words.iter().zip(bytes.chunks(8)) {
            let mut padded = [0; 8];
            padded[..part.len()].copy_from_slice(part);
            word.store(u64::from_ne_bytes(padded), Ordering::Release);
        }
        text.len.store(bytes.len() as u64, Ordering::Release);
        self.0.told.store(next + 1, Ordering::Release);
    }

    pub(crate) fn stdin_closed(self) -> bool {
        self.0.stdin_closed.load(Ordering::Acquire) != 0
    }

    pub(crate) fn close_stdin(self) {
        self.0.stdin_closed.store(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_kept_whole() {
        let board = Board::new().unwrap();
        assert_eq!(board.told(), None);
        for text in ["{\"percent\":1}", "a longer text than the first", ""] {
            board.set_told(text.as_bytes());
            assert_eq!(board.told().as_deref(), Some(text.as_bytes()));
        }
        board.set_told(&[b'x'; TOLD_WORDS * 8 + 1]);
        assert_eq!(board.told().as_deref(), Some(&b""[..]));
    }
}
