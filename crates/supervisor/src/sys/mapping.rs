//! A file mapped into memory, which is only read and written by system calls.
//!
//! If a page cannot be read or written (a full disk, a truncated file), the system call fails and no signal is raised.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// A shared mapping of the beginning of a file.
pub(crate) struct Mapping {
    address: *mut libc::c_void,
    len: usize,
}

impl Mapping {
    pub(crate) fn new(file: &File, len: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses; the result is checked before use.
        let address =
            unsafe { libc::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if address == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self { address, len }) }
    }

    /// Reads at most `len` bytes from a descriptor to an offset of the mapping.
    pub(crate) fn read_from(&self, source: impl AsFd, at: usize, len: usize) -> io::Result<usize> {
        let place = self.place(at, len);
        // SAFETY: the range is inside the mapping, of which no reference exists.
        result(unsafe { libc::read(source.as_fd().as_raw_fd(), place, len) })
    }

    /// Writes at most `len` bytes at an offset of the mapping to a file.
    pub(crate) fn write_to(&self, file: &File, to: u64, at: usize, len: usize) -> io::Result<usize> {
        let place = self.place(at, len);
        // SAFETY: the range is inside the mapping, which lives until after the call.
        result(unsafe { libc::pwrite(file.as_raw_fd(), place, len, to as libc::off_t) })
    }

    fn place(&self, at: usize, len: usize) -> *mut libc::c_void {
        assert!(at.checked_add(len).is_some_and(|end| end <= self.len), "outside of the mapping");
        // SAFETY: inside the mapping, as was just checked.
        unsafe { self.address.byte_add(at) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it any more.
        unsafe { libc::munmap(self.address, self.len) };
    }
}

fn result(count: isize) -> io::Result<usize> {
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}
