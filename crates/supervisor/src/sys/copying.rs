//! The functions of C that copy memory.
//!
//! Most copies are pieces of JSON and names of a few bytes. musl copies them with a string instruction, which takes ten times as
//! long as the moves here: a twentieth of the time of a start.

use std::arch::asm;
use std::ffi::c_void;

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: as the caller says.
    unsafe {
        if len <= MOST_MOVED {
            copy_few(to, from, len);
        } else {
            copy_many(to, from, len);
        }
    }
    to
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    let is_overwritten_while_read = to.addr().wrapping_sub(from.addr()) < len;
    // SAFETY: as the caller says. A source whose end lies in the destination is copied from its end on.
    unsafe {
        if len <= MOST_MOVED {
            copy_few(to, from, len);
        } else if is_overwritten_while_read {
            let first = len % WORD;
            copy_words_from_end(to.byte_add(first), from.byte_add(first), len / WORD);
            copy_few(to, from, first);
        } else {
            copy_many(to, from, len);
        }
    }
    to
}

/// How many bytes are copied with moves.
const MOST_MOVED: usize = 64;
const WORD: usize = size_of::<u64>();

/// Copies up to [`MOST_MOVED`] bytes. All are read before any is written.
///
/// # Safety
/// Both pieces have this length.
#[inline(always)]
unsafe fn copy_few(to: *mut c_void, from: *const c_void, len: usize) {
    // SAFETY: each length is at least the size of what is moved, and at most twice of it.
    unsafe {
        match len {
            0 => {}
            1 => move_ends::<u8>(to, from, len),
            2..=3 => move_ends::<u16>(to, from, len),
            4..=7 => move_ends::<u32>(to, from, len),
            8..=16 => move_ends::<u64>(to, from, len),
            17..=32 => move_ends::<u128>(to, from, len),
            _ => move_ends::<[u128; 2]>(to, from, len),
        }
    }
}

/// Copies the first and the last bytes of a piece, which may overlap.
///
/// # Safety
/// Both pieces have `len` bytes, which is at least the size of `T` and at most twice of it.
#[inline(always)]
unsafe fn move_ends<T: Copy>(to: *mut c_void, from: *const c_void, len: usize) {
    let last = len - size_of::<T>();
    // SAFETY: as the caller says.
    unsafe {
        let begin = from.cast::<T>().read_unaligned();
        let end = from.byte_add(last).cast::<T>().read_unaligned();
        to.cast::<T>().write_unaligned(begin);
        to.byte_add(last).cast::<T>().write_unaligned(end);
    }
}

/// Copies a piece from its beginning on.
///
/// # Safety
/// Both pieces have this length.
unsafe fn copy_many(to: *mut c_void, from: *const c_void, len: usize) {
    // SAFETY: as the caller says.
    unsafe {
        asm!(
            "rep movsb",
            inout("rdi") to => _,
            inout("rsi") from => _,
            inout("rcx") len => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Copies words, the last one first.
///
/// # Safety
/// Both pieces have this number of words, and at least one.
unsafe fn copy_words_from_end(to: *mut c_void, from: *const c_void, words: usize) {
    let last = (words - 1) * WORD;
    // SAFETY: as the caller says. The direction is reset, as every function may expect.
    unsafe {
        asm!(
            "std",
            "rep movsq",
            "cld",
            inout("rdi") to.byte_add(last) => _,
            inout("rsi") from.byte_add(last) => _,
            inout("rcx") words => _,
            options(nostack)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [usize; 4] = [255, 511, 512, 900];

    fn text() -> Vec<u8> {
        (0..=255).cycle().take(2000).collect()
    }

    #[test]
    fn every_length_is_copied_to_its_last_byte_and_no_further() {
        let from = text();
        for len in (0..200).chain(LENGTHS) {
            for (at, offset) in [(0, 0), (1, 3), (7, 8), (16, 5)] {
                let mut to = vec![0xee; 1000];
                // SAFETY: both pieces have this length after these offsets.
                let returned =
                    unsafe { memcpy(to.as_mut_ptr().add(at).cast(), from.as_ptr().add(offset).cast(), len) };
                assert_eq!(returned.cast::<u8>(), to[at..].as_mut_ptr());
                assert_eq!(to[at..at + len], from[offset..offset + len], "{len} bytes");
                assert!(to[..at].iter().chain(&to[at + len..]).all(|byte| *byte == 0xee), "{len} bytes");
            }
        }
    }

    #[test]
    fn a_piece_is_moved_over_itself_in_both_directions() {
        for len in (0..200).chain(LENGTHS) {
            for (at, offset) in [(0, 1), (1, 0), (0, 7), (9, 1), (300, 40), (40, 300), (5, 5)] {
                let (mut moved, mut expected) = (text(), text());
                expected.copy_within(offset..offset + len, at);
                let all = moved.as_mut_ptr();
                // SAFETY: both pieces lie inside the vector.
                unsafe { memmove(all.add(at).cast(), all.add(offset).cast(), len) };
                assert_eq!(moved, expected, "{len} bytes from {offset} to {at}");
            }
        }
    }
}
