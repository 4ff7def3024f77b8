//! The mounts of a confined task: everything is read-only but what may be changed, and hidden files are covered.
//!
//! Read-only mounts also stop what Landlock does not know, such as changes of permissions and times. The process cannot
//! undo them: it has no rights over them after it has executed the command, and Landlock forbids all changes of mounts.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr;

use mw_model::wire::Confinement;

use super::apply::{checked, texts};

const READ_ONLY: u64 = 1;
const NO_SET_UID: u64 = 2;
const NO_DEVICES: u64 = 4;
const NO_PROGRAMS: u64 = 8;
const RECURSIVE: libc::c_uint = 0x8000;

/// The kernel's `mount_attr`.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// What to mount, in this order.
pub(super) struct Mounts {
    writes_all: bool,
    /// Whether a process may write to its own files in `/proc`, which no other user than root can abuse.
    own_proc: bool,
    writable: Vec<CString>,
    pinned: Vec<CString>,
    read_only: Vec<CString>,
    writable_again: Vec<CString>,
    hidden: Vec<CString>,
    /// The devices that a root can open, apart from terminals. It could read disks and memory.
    devices: Option<Vec<CString>>,
    /// The terminals that exist now.
    terminals: Vec<CString>,
}

const TERMINALS: &CStr = c"/dev/pts";
/// Opening it makes a terminal.
const ANY_TERMINAL: &CStr = c"/dev/ptmx";

impl Mounts {
    pub(super) fn new(confinement: &Confinement) -> io::Result<Self> {
        let is_root = rustix::process::geteuid().is_root();
        let is_terminal = |path: &CString| [TERMINALS, ANY_TERMINAL].contains(&path.as_c_str());
        let devices = || -> io::Result<_> {
            Ok(texts(&confinement.devices)?.into_iter().filter(|path| !is_terminal(path)).collect())
        };
        Ok(Self {
            writes_all: confinement.writes_all,
            own_proc: !is_root,
            devices: is_root.then(devices).transpose()?,
            writable: texts(&confinement.writable)?,
            pinned: texts(&confinement.pinned)?,
            read_only: texts(&confinement.read_only)?,
            writable_again: texts(&confinement.writable_again)?,
            hidden: texts(&confinement.hidden)?,
            terminals: if confinement.writes_all { Vec::new() } else { terminals() },
        })
    }

    /// Makes the mounts, in the child.
    pub(super) fn apply(&self) -> Result<(), i32> {
        if !self.writes_all {
            for path in &self.writable {
                bind(path)?;
            }
            for path in &self.pinned {
                bind(path)?;
            }
            self.restrict_all(READ_ONLY)?;
            for path in self.writable.iter().chain(&self.pinned) {
                make_writable(path)?;
            }
            if self.own_proc {
                let _ = change(c"/proc", 0, 0, READ_ONLY);
            }
            self.cover_terminals()?;
        } else if self.devices.is_some() {
            self.restrict_all(0)?;
            for settings in [c"/proc", c"/sys"] {
                bind(settings)?;
                ignoring_absence(change(settings, RECURSIVE, READ_ONLY, 0))?;
            }
        }
        if self.devices.is_some() {
            open_terminals();
        }
        for path in &self.read_only {
            bind(path)?;
            ignoring_absence(change(path, RECURSIVE, READ_ONLY, 0))?;
        }
        for path in &self.writable_again {
            bind(path)?;
            make_writable(path)?;
        }
        self.hide()
    }

    /// Gives all mounts these attributes, and leaves a root only the usual devices.
    fn restrict_all(&self, attributes: u64) -> Result<(), i32> {
        for path in self.devices.iter().flatten() {
            bind(path)?;
        }
        let no_devices = if self.devices.is_some() { NO_DEVICES } else { 0 };
        match attributes | no_devices {
            0 => {}
            set => change(c"/", RECURSIVE, set, 0)?,
        }
        for path in self.devices.iter().flatten() {
            ignoring_absence(change(path, RECURSIVE, 0, NO_DEVICES))?;
        }
        Ok(())
    }

    /// Leaves only the terminal of the task. A task without one gets a directory of its own for those that it makes.
    fn cover_terminals(&self) -> Result<(), i32> {
        // SAFETY: the structure is valid for writing.
        let own = terminal_of(|about| unsafe { libc::fstat(0, about) });
        if own.is_none() {
            let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
            let options = c"newinstance,ptmxmode=0666,mode=620";
            if mount(Some(c"devpts"), TERMINALS, Some(c"devpts"), flags, Some(options)).is_ok() {
                return Ok(());
            }
        }
        for path in &self.terminals {
            // SAFETY: the path is terminated, and the structure is valid for writing.
            let device = terminal_of(|about| unsafe { libc::stat(path.as_ptr(), about) });
            if device.is_some() && device != own {
                ignoring_absence(mount(Some(c"/dev/null"), path, None, libc::MS_BIND, None))?;
            }
        }
        Ok(())
    }

    fn hide(&self) -> Result<(), i32> {
        // The first covered directory, whose cover serves all.
        let mut empty: Option<&CStr> = None;
        for path in &self.hidden {
            match is_directory(path) {
                None => {}
                Some(true) => {
                    match empty {
                        Some(empty) => mount(Some(empty), path, None, libc::MS_BIND, None)?,
                        None => cover_directory(path)?,
                    }
                    empty = empty.or(Some(path));
                }
                Some(false) => {
                    // A device that may not be opened here.
                    mount(Some(c"/dev/null"), path, None, libc::MS_BIND, None)?;
                    change(path, 0, READ_ONLY | NO_DEVICES | NO_PROGRAMS | NO_SET_UID, 0)?;
                }
            }
        }
        Ok(())
    }
}

/// Lets terminals be opened and made again. Without them, terminals cannot be made. The kernel finds them next to the device that
/// is opened, so that device cannot be mounted on itself.
fn open_terminals() {
    let _ = change(TERMINALS, 0, 0, NO_DEVICES);
    let _ = mount(Some(c"/dev/pts/ptmx"), ANY_TERMINAL, None, libc::MS_BIND, None);
}

/// Lists the terminals of all programs.
fn terminals() -> Vec<CString> {
    let entries = fs::read_dir(OsStr::from_bytes(TERMINALS.to_bytes())).into_iter().flatten().flatten();
    let number = |entry: &fs::DirEntry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit);
    entries
        .filter(number)
        .filter_map(|entry| CString::new(entry.path().into_os_string().into_vec()).ok())
        .collect()
}

/// Returns the device number of a file if it is a terminal of a program.
fn terminal_of(look: impl FnOnce(*mut libc::stat) -> libc::c_int) -> Option<libc::dev_t> {
    /// The first and the last class of such devices.
    const CLASSES: std::ops::RangeInclusive<libc::c_uint> = 136..=143;
    let mut about = MaybeUninit::<libc::stat>::uninit();
    if look(about.as_mut_ptr()) != 0 {
        return None;
    }
    // SAFETY: it was written.
    let about = unsafe { about.assume_init() };
    let is_device = about.st_mode & libc::S_IFMT == libc::S_IFCHR;
    (is_device && CLASSES.contains(&libc::major(about.st_rdev))).then_some(about.st_rdev)
}

fn cover_directory(path: &CStr) -> Result<(), i32> {
    let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount(Some(c"none"), path, Some(c"tmpfs"), flags, Some(c"mode=000,size=4k,nr_inodes=2"))
}

/// Mounts a path on itself, so that it can have attributes of its own. A path that is gone is skipped.
fn bind(path: &CStr) -> Result<(), i32> {
    ignoring_absence(mount(Some(path), path, None, libc::MS_BIND | libc::MS_REC, None))
}

fn make_writable(path: &CStr) -> Result<(), i32> {
    match ignoring_absence(change(path, RECURSIVE, 0, READ_ONLY)) {
        // A file system below it was read-only before.
        Err(libc::EPERM) => change(path, 0, 0, READ_ONLY).or_else(|errno| match errno {
            libc::EPERM => Ok(()),
            other => Err(other),
        }),
        done => done,
    }
}

fn ignoring_absence(result: Result<(), i32>) -> Result<(), i32> {
    match result {
        Err(libc::ENOENT | libc::ENOTDIR) => Ok(()),
        other => other,
    }
}

/// Returns whether a path leads to a directory; nothing if it leads nowhere.
fn is_directory(path: &CStr) -> Option<bool> {
    let mut about = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is terminated, and the structure is read only after it was written.
    unsafe {
        let found = libc::stat(path.as_ptr(), about.as_mut_ptr()) == 0;
        found.then(|| about.assume_init().st_mode & libc::S_IFMT == libc::S_IFDIR)
    }
}

pub(super) fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> Result<(), i32> {
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null::<c_char>(), CStr::as_ptr);
    // SAFETY: all texts are valid and terminated.
    let done = unsafe {
        libc::mount(pointer(source), target.as_ptr(), pointer(kind), flags, pointer(options).cast())
    };
    checked(done.into()).map(drop)
}

/// Changes the attributes of a mount.
fn change(path: &CStr, flags: libc::c_uint, set: u64, clear: u64) -> Result<(), i32> {
    const MOUNT_SETATTR: libc::c_long = 442;
    let attributes = Attributes { set, clear, propagation: 0, user_namespace: 0 };
    // SAFETY: the path is terminated, and the structure has the kernel's layout and this size.
    let done = unsafe {
        libc::syscall(
            MOUNT_SETATTR,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    checked(done).map(drop)
}
