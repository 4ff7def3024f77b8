//! The arena behind the functions of C, which do not get the size of a block when it is freed. So the size is stored
//! before each block.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

use super::arena::{Arena, STEP};

impl Arena {
    /// Returns a block, or null.
    pub fn c_alloc(&self, size: usize) -> *mut u8 {
        let Some(layout) = c_layout(size) else { return null_mut() };
        // SAFETY: the layout is not empty. The block has room for its size before the caller's part.
        unsafe {
            let piece = self.alloc(layout);
            if piece.is_null() {
                return piece;
            }
            piece.cast::<usize>().write(size);
            piece.add(STEP)
        }
    }

    /// Returns a block of zeros, or null.
    pub fn c_alloc_zeroed(&self, count: usize, size: usize) -> *mut u8 {
        let Some(size) = count.checked_mul(size) else { return null_mut() };
        let piece = self.c_alloc(size);
        if !piece.is_null() {
            // SAFETY: the block has this size.
            unsafe { piece.write_bytes(0, size) };
        }
        piece
    }

    /// Returns a block of another size with the same content, or null; then the old one stays.
    ///
    /// # Safety
    /// The block is null or from one of these functions, and is not used any more if there is a new one.
    pub unsafe fn c_realloc(&self, piece: *mut u8, size: usize) -> *mut u8 {
        if piece.is_null() {
            return self.c_alloc(size);
        }
        // SAFETY: the size is stored before the block, and is that of its layout.
        unsafe {
            let Some((old, new)) = c_layout(self.c_size(piece)).zip(c_layout(size)) else {
                return null_mut();
            };
            let moved = self.realloc(piece.sub(STEP), old, new.size());
            if moved.is_null() {
                return moved;
            }
            moved.cast::<usize>().write(size);
            moved.add(STEP)
        }
    }

    /// Frees a block.
    ///
    /// # Safety
    /// The block is null or from one of these functions, and is not used any more.
    pub unsafe fn c_free(&self, piece: *mut u8) {
        if piece.is_null() {
            return;
        }
        // SAFETY: the size is stored before the block, and is that of its layout.
        unsafe {
            if let Some(layout) = c_layout(self.c_size(piece)) {
                self.dealloc(piece.sub(STEP), layout);
            }
        }
    }

    /// Returns the size of a block, or 0 for null.
    ///
    /// # Safety
    /// The block is null or from one of these functions.
    pub unsafe fn c_size(&self, piece: *mut u8) -> usize {
        // SAFETY: the size is stored before the block.
        if piece.is_null() { 0 } else { unsafe { piece.sub(STEP).cast::<usize>().read() } }
    }
}

fn c_layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(STEP)?, STEP).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_for_c_keeps_its_content_when_it_grows_and_shrinks() {
        let arena = Arena::new();
        let sizes = [0, 1, 100, 4000, 40_000, 200_000, 50_000, 3000, 7];
        let mut piece = null_mut();
        let mut kept = 0;
        for size in sizes {
            // SAFETY: `piece` is null or from the call before.
            unsafe {
                piece = arena.c_realloc(piece, size);
                assert_eq!(arena.c_size(piece), size);
                assert_eq!(piece.align_offset(STEP), 0);
                assert!((0..kept.min(size)).all(|at| piece.add(at).read() == at as u8), "{size}");
                (0..size).for_each(|at| piece.add(at).write(at as u8));
            }
            kept = size;
        }
        // SAFETY: both are from this arena or null.
        unsafe {
            arena.c_free(piece);
            arena.c_free(null_mut());
        }
    }

    #[test]
    fn a_reused_piece_for_c_is_zeroed_if_asked() {
        let arena = Arena::new();
        let piece = arena.c_alloc(100);
        // SAFETY: the piece has 100 bytes.
        unsafe {
            piece.write_bytes(0xff, 100);
            arena.c_free(piece);
            let zeroed = arena.c_alloc_zeroed(10, 10);
            assert_eq!(zeroed, piece);
            assert!((0..100).all(|at| zeroed.add(at).read() == 0));
        }
    }

    #[test]
    fn a_size_that_does_not_fit_is_refused() {
        let arena = Arena::new();
        assert!(arena.c_alloc(usize::MAX).is_null());
        assert!(arena.c_alloc_zeroed(usize::MAX, 2).is_null());
    }
}
