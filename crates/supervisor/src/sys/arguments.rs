//! The arguments of the process. The standard library does not know them if the C library calls our own entry point,
//! unless that C library is glibc.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();
/// Where the kernel reads the command line of this process, if that is known.
static COMMAND_LINE: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
static COMMAND_LINE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Keeps the arguments that the C library passes to `main`.
///
/// # Safety
/// `words_at` must point to `count` strings that end with a zero byte, in the memory where the kernel put them.
pub unsafe fn set_arguments(count: c_int, words_at: *const *const c_char) {
    let word = |at| {
        // SAFETY: the caller guarantees it.
        let word = unsafe { CStr::from_ptr(*words_at.add(at)) };
        OsStr::from_bytes(word.to_bytes()).to_owned()
    };
    let words: Vec<_> = (0..usize::try_from(count).unwrap_or(0)).map(word).collect();
    if !words.is_empty() {
        // The kernel puts them one behind the other, each with a zero byte.
        COMMAND_LINE_BYTES.store(words.iter().map(|word| word.len() + 1).sum(), Ordering::Relaxed);
        // SAFETY: there is at least one.
        COMMAND_LINE.store(unsafe { (*words_at).cast_mut() }, Ordering::Relaxed);
    }
    let _ = ARGUMENTS.set(words);
}

/// Sets the name of this process, as `/proc/<pid>/comm` shows it.
pub(crate) fn set_name(name: &str) {
    if let Ok(name) = CString::new(name) {
        let _ = rustix::thread::set_name(&name);
    }
}

/// Sets the name and the command line of this process: tools that search command lines must not find the command of the
/// `mw start` that it was forked from.
pub(crate) fn rename_process(name: &str) {
    set_name(name);
    let (line, bytes) = (COMMAND_LINE.load(Ordering::Relaxed), COMMAND_LINE_BYTES.load(Ordering::Relaxed));
    if line.is_null() {
        return;
    }
    let kept = name.len().min(bytes.saturating_sub(1));
    // SAFETY: the memory of the arguments belongs to this process, is writable, and is not read again: `ARGUMENTS` has a
    // copy. Name and zeroes fill exactly its bytes.
    unsafe {
        ptr::copy_nonoverlapping(name.as_ptr(), line.cast::<u8>(), kept);
        ptr::write_bytes(line.cast::<u8>().add(kept), 0, bytes - kept);
    }
}

/// Returns the arguments of this process, with the name of the program first.
pub fn arguments() -> impl Iterator<Item = OsString> {
    ARGUMENTS.get_or_init(|| std::env::args_os().collect()).iter().cloned()
}
