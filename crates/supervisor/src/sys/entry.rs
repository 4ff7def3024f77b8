//! The entry point of the executables, instead of the standard library's.
//!
//! The standard library's reads the memory map and prepares reports of stack overflows, which takes a tenth of the
//! time of a start. [`mw_supervisor::set_up_process`] does the rest of its work.

use std::ffi::{c_char, c_int};

#[global_allocator]
static ALLOCATOR: mw_supervisor::Arena = mw_supervisor::Arena::new();

#[cfg(target_env = "musl")]
#[path = "c_allocator.rs"]
mod c_allocator;

#[cfg(all(target_env = "musl", target_arch = "x86_64"))]
#[path = "copying.rs"]
mod copying;

/// Called by the C library.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    // SAFETY: the C library passes the arguments in this form.
    unsafe { mw_supervisor::set_arguments(count, words) };
    mw_supervisor::set_up_process();
    super::begin()
}
