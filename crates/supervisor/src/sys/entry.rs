//! The entry point of the executables, instead of the standard library's.
//!
//! The standard library's reads the memory map and prepares reports of stack overflows, which takes a tenth of the
//! time of a start. [`mw_supervisor::set_up_process`] does the rest of its work.

use std::ffi::{c_char, c_int};

/// Called by the C library. `std::env` already has the arguments.
#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    mw_supervisor::set_up_process();
    super::begin()
}
