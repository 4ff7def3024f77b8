//! The functions of C for memory, over the allocator of this executable. SQLite uses them.
//!
//! Those of musl map and unmap pages for pieces of a few kilobytes, which is most of the time of a short query.

use std::ffi::c_void;

use super::ALLOCATOR;

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    ALLOCATOR.c_alloc(size).cast()
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    ALLOCATOR.c_alloc_zeroed(count, size).cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(piece: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: callers pass null or a piece of these functions.
    unsafe { ALLOCATOR.c_realloc(piece.cast(), size).cast() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(piece: *mut c_void) {
    // SAFETY: callers pass null or a piece of these functions, and do not use it any more.
    unsafe { ALLOCATOR.c_free(piece.cast()) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(piece: *mut c_void) -> usize {
    // SAFETY: callers pass null or a piece of these functions.
    unsafe { ALLOCATOR.c_size(piece.cast()) }
}
