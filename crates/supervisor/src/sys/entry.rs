//! The entry point of the executables, in place of the standard library's.
//!
//! That one reads the memory map and makes a stack for reports of stack overflows, which takes a tenth of the
//! time there is to start a task in. What it does besides is done by [`mw_supervisor::set_up_process`].

use std::ffi::{c_char, c_int};

/// What the C library calls first. `std::env` knows the arguments already.
#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    mw_supervisor::set_up_process();
    super::begin()
}
