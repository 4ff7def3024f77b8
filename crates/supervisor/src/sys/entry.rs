//! The entry point of the executables, in place of the standard library's.
//!
//! That one reads the memory map and makes a stack for reports of stack overflows, which takes a tenth of the
//! time there is to start a task in. What it does besides is done by [`mw_supervisor::settle_in`].

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

/// The C library calls this function first.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, arguments: *const *const c_char) -> c_int {
    let argument = |at| {
        // SAFETY: the C library passes `count` pointers to strings that live as long as the process.
        let text = unsafe { CStr::from_ptr(*arguments.add(at)) };
        OsStr::from_bytes(text.to_bytes()).to_owned()
    };
    mw_supervisor::settle_in((0..usize::try_from(count).unwrap_or(0)).map(argument).collect());
    super::begin()
}
