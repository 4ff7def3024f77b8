//! The arguments of the process. The standard library does not know them if the C library calls our own entry point,
//! unless that C library is glibc.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the arguments that the C library passes to `main`.
///
/// # Safety
/// `words` must point to `count` strings that end with a zero byte.
pub unsafe fn set_arguments(count: c_int, words: *const *const c_char) {
    let word = |at| {
        // SAFETY: the caller guarantees it.
        let word = unsafe { CStr::from_ptr(*words.add(at)) };
        OsStr::from_bytes(word.to_bytes()).to_owned()
    };
    let _ = ARGUMENTS.set((0..usize::try_from(count).unwrap_or(0)).map(word).collect());
}

/// Returns the arguments of this process, with the name of the program first.
pub fn arguments() -> impl Iterator<Item = OsString> {
    ARGUMENTS.get_or_init(|| std::env::args_os().collect()).iter().cloned()
}
