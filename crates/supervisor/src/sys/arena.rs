//! A memory allocator for processes that live for a millisecond or sleep for hours.
//!
//! Both must touch few pages: each costs a page fault at its first use, and memory for as long as the process sleeps. Small
//! pieces are cut from a block, one after the other. A freed piece goes to the list of its size and is used again. Large
//! pieces are mapped and unmapped one by one. Blocks are never given back.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

/// The size of the first block, which is part of the executable's zeroed data: most commands need no other.
const FIRST_BLOCK: usize = 64 << 10;
const BLOCK: usize = 256 << 10;
/// Pieces up to this size have lists in steps of [`STEP`]. Above it, there are four sizes between each power of two and the next.
const FINE: usize = 512;
pub(super) const STEP: usize = 16;
/// Larger pieces are mapped.
const LARGEST: usize = 32 << 10;
const FINE_SIZES: usize = FINE / STEP;
const SIZES: usize = FINE_SIZES + 4 * (LARGEST / FINE).trailing_zeros() as usize;

/// The allocator. It works with threads, but is meant for programs that have few.
pub struct Arena {
    is_locked: AtomicBool,
    pieces: UnsafeCell<Pieces>,
    first: UnsafeCell<[u8; FIRST_BLOCK]>,
}

struct Pieces {
    /// The unused rest of the current block.
    next: *mut u8,
    left: usize,
    /// The first freed piece of each size; each begins with a pointer to the next.
    freed: [*mut u8; SIZES],
    has_begun: bool,
}

// SAFETY: `pieces` and `first` are used only while the lock is held.
unsafe impl Sync for Arena {}

/// Returns the list for pieces of a size, and the size of all pieces in it.
const fn size_class(size: usize) -> (usize, usize) {
    if size <= FINE {
        let steps = if size == 0 { 1 } else { size.div_ceil(STEP) };
        (steps - 1, steps * STEP)
    } else {
        let power = (size - 1).ilog2();
        let (below, step) = (1 << power, 1 << (power - 2));
        let steps = (size - below).div_ceil(step);
        let class = FINE_SIZES + 4 * (power - FINE.trailing_zeros()) as usize + steps - 1;
        (class, below + steps * step)
    }
}

const fn is_mapped(layout: &Layout) -> bool {
    layout.size() > LARGEST || layout.align() > STEP
}

impl Arena {
    /// Returns an allocator that has given out nothing.
    #[must_use]
    pub const fn new() -> Self {
        let pieces = Pieces { next: null_mut(), left: 0, freed: [null_mut(); SIZES], has_begun: false };
        Self {
            is_locked: AtomicBool::new(false),
            pieces: UnsafeCell::new(pieces),
            first: UnsafeCell::new([0; FIRST_BLOCK]),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Pieces) -> T) -> T {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: this thread holds the lock.
        let done = act(unsafe { &mut *self.pieces.get() });
        self.is_locked.store(false, Ordering::Release);
        done
    }

    /// Cuts a piece from the current block, or from a new one. Returns null if there is no memory.
    fn cut(&self, pieces: &mut Pieces, size: usize) -> *mut u8 {
        if !pieces.has_begun {
            let begin = self.first.get().cast::<u8>();
            let skipped = begin.align_offset(STEP);
            // SAFETY: fewer than `STEP` bytes are skipped.
            pieces.next = unsafe { begin.add(skipped) };
            pieces.left = FIRST_BLOCK - skipped;
            pieces.has_begun = true;
        }
        if pieces.left < size {
            let block = map(BLOCK);
            if block.is_null() {
                return block;
            }
            (pieces.next, pieces.left) = (block, BLOCK);
        }
        let piece = pieces.next;
        // SAFETY: the block has at least `size` more bytes.
        pieces.next = unsafe { piece.add(size) };
        pieces.left -= size;
        piece
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

fn map(size: usize) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address that the kernel chooses; the result is checked.
    let mapped = unsafe { libc::mmap(null_mut(), size, access, flags, -1, 0) };
    if mapped == libc::MAP_FAILED { null_mut() } else { mapped.cast() }
}

// SAFETY: pieces are aligned to `STEP` or a page, do not overlap, and stay valid until they are freed.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(&layout) {
            // The alignment of a page is enough for everything that is allocated here.
            return if layout.align() > 4096 { null_mut() } else { map(layout.size()) };
        }
        let (class, size) = size_class(layout.size());
        self.with(|pieces| {
            let freed = pieces.freed[class];
            if freed.is_null() {
                return self.cut(pieces, size);
            }
            // SAFETY: a freed piece begins with a pointer to the next one.
            pieces.freed[class] = unsafe { freed.cast::<*mut u8>().read() };
            freed
        })
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if is_mapped(&layout) {
            // SAFETY: it was mapped with this size, and the caller does not use it any more.
            unsafe { libc::munmap(piece.cast(), layout.size()) };
            return;
        }
        let (class, size) = size_class(layout.size());
        self.with(|pieces| {
            // SAFETY: the piece and the rest of the block are in or just behind the same block, or compared only.
            if ptr::eq(unsafe { piece.add(size) }, pieces.next) {
                (pieces.next, pieces.left) = (piece, pieces.left + size);
            } else {
                // SAFETY: the piece is unused, large enough for a pointer, and aligned for one.
                unsafe { piece.cast::<*mut u8>().write(pieces.freed[class]) };
                pieces.freed[class] = piece;
            }
        });
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the new size is valid for this alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if is_mapped(&layout) && is_mapped(&new_layout) {
            // SAFETY: it was mapped with this size; only the result is used from here on.
            let moved = unsafe { libc::mremap(piece.cast(), layout.size(), new_size, libc::MREMAP_MAYMOVE) };
            return if moved == libc::MAP_FAILED { null_mut() } else { moved.cast() };
        }
        if !is_mapped(&layout) && !is_mapped(&new_layout) {
            let (old, new) = (size_class(layout.size()).1, size_class(new_size).1);
            let fits = old == new
                || new > old
                    && self.with(|pieces| {
                        // SAFETY: as in `dealloc`.
                        let is_last = ptr::eq(unsafe { piece.add(old) }, pieces.next);
                        let fits = is_last && pieces.left >= new - old;
                        if fits {
                            // SAFETY: the block has that many more bytes.
                            pieces.next = unsafe { pieces.next.add(new - old) };
                            pieces.left -= new - old;
                        }
                        fits
                    });
            if fits {
                return piece;
            }
        }
        // SAFETY: the new piece is another one, and both have at least the smaller of the two sizes.
        unsafe {
            let new = self.alloc(new_layout);
            if !new.is_null() {
                ptr::copy_nonoverlapping(piece, new, layout.size().min(new_size));
                self.dealloc(piece, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_list_whose_pieces_are_large_enough() {
        let mut last = 0;
        for size in 0..=LARGEST {
            let (class, piece) = size_class(size);
            assert!(piece >= size && piece.is_multiple_of(STEP) && class < SIZES && class >= last, "{size}");
            assert_eq!(size_class(piece), (class, piece));
            last = class;
        }
        assert_eq!(last, SIZES - 1);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

        #[test]
        fn pieces_keep_their_content_until_they_are_freed(
            steps in proptest::collection::vec((0..3_u8, 0..16_usize, 1..50_000_usize), 1..100),
        ) {
            let arena = Box::new(Arena::new());
            let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
            let filled = |piece: *mut u8, size: usize, byte: u8| {
                // SAFETY: the piece has this size.
                unsafe { std::slice::from_raw_parts(piece, size) }.iter().all(|found| *found == byte)
            };
            for (number, (act, at, size)) in steps.into_iter().enumerate() {
                let byte = number as u8;
                match (act, held.is_empty()) {
                    (0, _) | (_, true) => {
                        let layout = Layout::from_size_align(size, 1 << (at % 5)).unwrap();
                        // SAFETY: the size is not zero.
                        let piece = unsafe { arena.alloc(layout) };
                        assert!(!piece.is_null() && (piece as usize).is_multiple_of(layout.align()));
                        // SAFETY: the piece has this size.
                        unsafe { piece.write_bytes(byte, size) };
                        held.push((piece, layout, byte));
                    }
                    (1, false) => {
                        let (piece, layout, byte) = held.swap_remove(at % held.len());
                        assert!(filled(piece, layout.size(), byte));
                        // SAFETY: allocated above with this layout.
                        unsafe { arena.dealloc(piece, layout) };
                    }
                    (_, false) => {
                        let place = at % held.len();
                        let (piece, layout, old) = held[place];
                        // SAFETY: allocated above with this layout.
                        let moved = unsafe { arena.realloc(piece, layout, size) };
                        assert!(filled(moved, size.min(layout.size()), old));
                        // SAFETY: the piece has this size now.
                        unsafe { moved.write_bytes(byte, size) };
                        held[place] = (moved, Layout::from_size_align(size, layout.align()).unwrap(), byte);
                    }
                }
            }
            for (piece, layout, byte) in held {
                assert!(filled(piece, layout.size(), byte));
                // SAFETY: allocated above with this layout.
                unsafe { arena.dealloc(piece, layout) };
            }
        }
    }
}
