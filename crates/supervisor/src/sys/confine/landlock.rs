//! Landlock: which files a process may change, and, without namespaces, which it may read.
//!
//! A process with these rules also cannot change mounts, and cannot look into processes outside.

use std::ffi::{CStr, CString};
use std::io;
use std::ptr;

use mw_model::wire::Confinement;

use super::apply::{checked, texts};

const CREATE_RULESET: libc::c_long = 444;
const ADD_RULE: libc::c_long = 445;
const RESTRICT_SELF: libc::c_long = 446;
const VERSION_FLAG: libc::c_uint = 1;
const PATH_BENEATH: libc::c_int = 1;

const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

const MAKE_DEVICES: u64 = MAKE_CHAR | MAKE_BLOCK;
const CHANGE_DIRECTORY: u64 =
    REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER;
const CHANGE_FILE: u64 = WRITE_FILE | TRUNCATE;
/// What can be granted for a file.
const OF_FILES: u64 = CHANGE_FILE | READ_FILE | IOCTL_DEV;

/// Abstract sockets and signals.
const SCOPES: u64 = 1 | 2;

/// The kernel's `landlock_ruleset_attr`.
#[repr(C)]
struct Ruleset {
    files: u64,
    network: u64,
    scoped: u64,
}

/// The kernel's `landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: i32,
}

/// Returns the version of Landlock's interface; 0 if there is none.
pub(crate) fn abi() -> u32 {
    // SAFETY: with this flag, the kernel reads no memory.
    let version = unsafe { libc::syscall(CREATE_RULESET, ptr::null::<Ruleset>(), 0_usize, VERSION_FLAG) };
    u32::try_from(version).unwrap_or(0)
}

/// Rules that are ready to be applied.
pub(super) struct Rules {
    abi: u32,
    handled: u64,
    scoped: u64,
    rules: Vec<(CString, u64)>,
}

impl Rules {
    /// With `readable`, only these files can be read.
    pub(super) fn new(confinement: &Confinement, readable: Option<Vec<CString>>) -> io::Result<Self> {
        let abi = abi();
        let known = known(abi);
        let reading = if readable.is_some() { READ_FILE } else { 0 };
        let mut handled = MAKE_DEVICES | REFER;
        if !confinement.writes_all || readable.is_some() {
            handled |= CHANGE_DIRECTORY | CHANGE_FILE | IOCTL_DEV | reading;
        }
        let handled = handled & known;
        let mut rules = Vec::new();
        let mut add = |paths: Vec<CString>, allowed: u64| {
            rules.extend(paths.into_iter().map(|path| (path, allowed & handled)));
        };
        let change = CHANGE_DIRECTORY | CHANGE_FILE;
        match (confinement.writes_all, readable) {
            (true, None) => add(vec![c"/".to_owned()], REFER),
            (true, Some(readable)) => add(readable, change | IOCTL_DEV | READ_FILE),
            (false, readable) => {
                add(readable.unwrap_or_default(), READ_FILE);
                add(texts(&confinement.writable)?, change | READ_FILE | IOCTL_DEV);
                add(texts(&confinement.writable_again)?, change | READ_FILE);
            }
        }
        add(texts(&confinement.devices)?, OF_FILES);
        if !confinement.writes_all && !rustix::process::geteuid().is_root() {
            // For a process's own files there. The kernel refuses those of other users.
            add(vec![c"/proc".to_owned()], CHANGE_FILE | READ_FILE);
        }
        // A command that may change all files may also signal other processes.
        let scoped = if abi >= 6 && !confinement.writes_all { SCOPES } else { 0 };
        Ok(Self { abi, handled, scoped, rules })
    }

    /// Applies them, in the child.
    pub(super) fn apply(&self) -> Result<(), i32> {
        let ruleset = Ruleset { files: self.handled, network: 0, scoped: self.scoped };
        let size: usize = match self.abi {
            0 => return Err(libc::ENOSYS),
            1..=3 => 8,
            4 | 5 => 16,
            6.. => 24,
        };
        // SAFETY: the structure has the kernel's layout, of which this version reads that much. The descriptors are our
        // own, and closed once.
        unsafe {
            let rules = checked(libc::syscall(CREATE_RULESET, &raw const ruleset, size, 0))? as libc::c_int;
            let added = self.rules.iter().try_for_each(|(path, allowed)| add_path(rules, path, *allowed));
            let added = added.and_then(|()| (0..3).try_for_each(|fd| self.add_stream(rules, fd)));
            let applied = added.and_then(|()| checked(libc::syscall(RESTRICT_SELF, rules, 0)).map(drop));
            libc::close(rules);
            applied
        }
    }

    /// Lets the process open its own streams again, as `/dev/stdout`. Pipes need no rule.
    fn add_stream(&self, rules: libc::c_int, fd: libc::c_int) -> Result<(), i32> {
        match add_rule(rules, fd, OF_FILES & self.handled) {
            Err(libc::EBADF | libc::EBADFD | libc::EINVAL) => Ok(()),
            other => other,
        }
    }
}

/// Returns the rights on files that a version knows.
fn known(abi: u32) -> u64 {
    let since = |version: u32, right: u64| if abi >= version { right } else { 0 };
    ((MAKE_SYM << 1) - 1) | since(2, REFER) | since(3, TRUNCATE) | since(5, IOCTL_DEV)
}

fn add_path(rules: libc::c_int, path: &CStr, allowed: u64) -> Result<(), i32> {
    if allowed == 0 {
        return Ok(());
    }
    // SAFETY: the path is terminated, and the descriptor is closed once.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if fd < 0 {
            // What cannot be opened cannot be used, either.
            return Ok(());
        }
        let added = match add_rule(rules, fd, allowed) {
            // A file has fewer rights.
            Err(libc::EINVAL) if allowed & OF_FILES != 0 => add_rule(rules, fd, allowed & OF_FILES),
            other => other,
        };
        libc::close(fd);
        match added {
            // A file system without paths.
            Err(libc::EBADFD) => Ok(()),
            other => other,
        }
    }
}

fn add_rule(rules: libc::c_int, parent: libc::c_int, allowed: u64) -> Result<(), i32> {
    if allowed == 0 {
        return Ok(());
    }
    let beneath = Beneath { allowed, parent };
    // SAFETY: the structure has the kernel's layout.
    checked(unsafe { libc::syscall(ADD_RULE, rules, PATH_BENEATH, &raw const beneath, 0) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_the_rights_of_the_one_before() {
        assert_eq!(known(1), 0x1fff);
        assert_eq!(known(2), 0x3fff);
        assert_eq!(known(3), 0x7fff);
        assert_eq!(known(4), 0x7fff);
        assert_eq!(known(5), 0xffff);
        assert_eq!(known(7), 0xffff);
    }
}
