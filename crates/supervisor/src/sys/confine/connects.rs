//! Answers the `connect` calls of a command without the network: only to this machine, and only to sockets that are its own.
//!
//! A seccomp filter does not see addresses, so it hands these calls to the supervisor, which reads the address and lets the
//! call continue or fail. If all supervisors are gone, the calls fail. A program that changes the address between the
//! check and the call, in another thread, evades it.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::ptr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2, readlink};
use rustix::io::Errno;

use mw_model::wire::SERVICE_SOCKETS;

use super::apply::{checked, errno};

const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const IS_VALID: libc::c_ulong = 0x4008_2102;
const CONTINUE: u32 = 1;

/// The longest address that is read; those of sockets with a path are longer than all others.
const MOST_BYTES: usize = 128;

/// By how much the time of a new file may be too early.
const COARSE: Duration = Duration::from_millis(20);

/// The calls that wait for an answer.
pub(crate) struct Connects {
    calls: OwnedFd,
    sockets: Reachable,
}

/// Directories that all programs share. Only what was made there since the command began can be its own.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Which sockets with a path may be reached: those below these directories.
pub(crate) struct Reachable {
    directories: Option<Vec<PathBuf>>,
    since: SystemTime,
}

impl Reachable {
    /// Directories that the command may change, where sockets are its own, and those of services. Without a list, all.
    pub(crate) fn below(writable: Option<impl Iterator<Item = PathBuf>>) -> Self {
        let directories = writable.map(|own| own.chain(SERVICE_SOCKETS.map(PathBuf::from)).collect());
        Self { directories, since: SystemTime::now() }
    }

    fn includes(&self, path: &Path) -> bool {
        let Some(directories) = &self.directories else { return true };
        let containing = directories.iter().filter(|it| path.starts_with(it));
        match containing.max_by_key(|it| it.as_os_str().len()) {
            Some(shared) if SHARED.iter().any(|it| shared == Path::new(it)) => self.is_new(path),
            found => found.is_some(),
        }
    }

    /// Returns whether a file was made since the command began. A process cannot change the time of birth.
    fn is_new(&self, path: &Path) -> bool {
        let Ok(about) = fs::symlink_metadata(path) else { return false };
        let changed = || UNIX_EPOCH + Duration::new(about.ctime() as u64, about.ctime_nsec() as u32);
        let born = about.created().unwrap_or_else(|_| changed());
        // File systems keep coarse times.
        born + COARSE >= self.since
    }
}

impl AsFd for Connects {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.calls.as_fd()
    }
}

impl Connects {
    pub(crate) const fn of(calls: OwnedFd, sockets: Reachable) -> Self {
        Self { calls, sockets }
    }

    /// Answers one call, for which this must be readable. Returns false if no process is left that could make one.
    pub(crate) fn answer(&self) -> bool {
        let mut call = MaybeUninit::<libc::seccomp_notif>::zeroed();
        // SAFETY: the structure is zeroed, as the kernel demands, and read only after the kernel has filled it in.
        let call = unsafe {
            if libc::ioctl(self.calls.as_raw_fd(), RECEIVE as _, call.as_mut_ptr()) < 0 {
                // The caller was killed, or nobody is left.
                return !matches!(errno(), libc::ENODEV | libc::EBADF) && !self.is_over();
            }
            call.assume_init()
        };
        let refused = match read_address(&call) {
            Ok(address) => self.refuses(&address, call.pid),
            Err(_) => Some(libc::EFAULT),
        };
        // The process may have ended, and another one have its id.
        // SAFETY: the id is valid for reading.
        let is_valid = unsafe { libc::ioctl(self.calls.as_raw_fd(), IS_VALID as _, &raw const call.id) } == 0;
        let (error, flags) = match refused {
            None if is_valid => (0, CONTINUE),
            errno => (-errno.unwrap_or(libc::ENETUNREACH), 0),
        };
        let answer = libc::seccomp_notif_resp { id: call.id, val: 0, error, flags };
        // SAFETY: the structure has the kernel's layout. A caller that was killed needs no answer.
        unsafe { libc::ioctl(self.calls.as_raw_fd(), SEND as _, &raw const answer) };
        true
    }

    /// Returns the error for an address that a process may not reach.
    fn refuses(&self, address: &[u8], pid: u32) -> Option<i32> {
        if !is_local(address) {
            return Some(libc::ENETUNREACH);
        }
        let path = path_of(address)?;
        match resolve(&path, pid) {
            Ok(real) => (!self.sockets.includes(&real)).then_some(libc::EACCES),
            // A link in `/proc`.
            Err(Errno::XDEV | Errno::LOOP) => Some(libc::EACCES),
            // What is nowhere for us may be somewhere for the process, which has other descriptors.
            Err(errno) => Some(errno.raw_os_error()),
        }
    }

    /// Returns whether no process is left under the filter.
    fn is_over(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut fds = [PollFd::new(&self.calls, PollFlags::IN)];
        let _ = poll(&mut fds, Some(&Timespec::default()));
        fds[0].revents().contains(PollFlags::HUP)
    }
}

/// Returns the real path of what a process names, followed from its root and working directory. The links of a process to its
/// files in `/proc` lead elsewhere here, so they are refused, except to its descriptors.
fn resolve(path: &Path, pid: u32) -> Result<PathBuf, Errno> {
    const OWN_DESCRIPTORS: &str = "/proc/self/fd";
    let link = |name: &str| readlink(format!("/proc/{pid}/{name}"), Vec::new()).map(path_from);
    let root = link("root")?;
    let below_root = |path: PathBuf| path.strip_prefix(&root).map(Path::to_owned).map_err(|_| Errno::ACCESS);
    let own = path.strip_prefix(OWN_DESCRIPTORS).map(|rest| (rest, rest.components().next()));
    let inside = match own {
        Ok((rest, Some(Component::Normal(number)))) => {
            let rest = rest.strip_prefix(number).map_err(|_| Errno::ACCESS)?;
            below_root(link(&format!("fd/{}", number.display()))?.join(rest))?
        }
        Ok(_) | Err(_) if path.is_absolute() => path.strip_prefix("/").unwrap_or(path).to_owned(),
        Ok(_) | Err(_) => below_root(link("cwd")?.join(path))?,
    };
    let of_process = OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(format!("/proc/{pid}/root"), of_process, Mode::empty())?;
    let found = openat2(root, inside, of_process, Mode::empty(), ResolveFlags::IN_ROOT)?;
    readlink(format!("/proc/self/fd/{}", found.as_raw_fd()), Vec::new()).map(path_from)
}

fn path_from(text: CString) -> PathBuf {
    PathBuf::from(OsString::from_vec(text.into_bytes()))
}

/// Returns the path in the address of a socket that has one.
fn path_of(address: &[u8]) -> Option<PathBuf> {
    let (family, path) = address.split_first_chunk::<2>()?;
    let path = path.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
    let is_unix = i32::from(u16::from_ne_bytes(*family)) == libc::AF_UNIX;
    is_unix.then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// Reads the address of a call from the memory of its caller.
fn read_address(call: &libc::seccomp_notif) -> io::Result<Vec<u8>> {
    let length = usize::try_from(call.data.args[2] as u32).unwrap_or(0).min(MOST_BYTES);
    let mut address = vec![0_u8; length];
    let own = libc::iovec { iov_base: address.as_mut_ptr().cast(), iov_len: length };
    let theirs = libc::iovec { iov_base: call.data.args[1] as *mut libc::c_void, iov_len: length };
    // SAFETY: our memory is valid for the length; the kernel checks the other process's.
    let read = unsafe {
        libc::process_vm_readv(call.pid as libc::pid_t, &raw const own, 1, &raw const theirs, 1, 0)
    };
    match usize::try_from(read) {
        Ok(read) if read == length => Ok(address),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Returns whether an address is on this machine, or none that leads to another one.
fn is_local(address: &[u8]) -> bool {
    const ANY: [u8; 4] = [0; 4];
    let Some(family) = address.first_chunk::<2>().map(|family| u16::from_ne_bytes(*family)) else {
        return true;
    };
    let is_own = |ip: &[u8]| ip.first() == Some(&127) || ip == ANY;
    match i32::from(family) {
        libc::AF_UNSPEC | libc::AF_UNIX | libc::AF_NETLINK => true,
        libc::AF_INET => address.get(4..8).is_some_and(is_own),
        libc::AF_INET6 => address.get(8..24).is_some_and(|ip| match ip {
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last] => *last <= 1,
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, mapped @ ..] => is_own(mapped),
            _ => false,
        }),
        _ => false,
    }
}

/// Sends a descriptor to the parent, in the child.
pub(super) fn send_descriptor(line: RawFd, descriptor: RawFd) -> Result<(), i32> {
    let mut byte = [b'c'];
    // Aligned for the header, and larger than it and one descriptor.
    let mut space = [0_u64; 4];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: byte.len() };
    // SAFETY: all pointers are valid during the call, and the space is large enough for one descriptor.
    unsafe {
        let mut message = MaybeUninit::<libc::msghdr>::zeroed().assume_init();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = space.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        ptr::write_unaligned(libc::CMSG_DATA(header).cast::<RawFd>(), descriptor);
        checked(libc::sendmsg(line, &raw const message, libc::MSG_NOSIGNAL) as libc::c_long).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(ip: [u8; 4]) -> Vec<u8> {
        [&(libc::AF_INET as u16).to_ne_bytes()[..], &[0, 80], &ip, &[0; 8]].concat()
    }

    fn ipv6(ip: [u8; 16]) -> Vec<u8> {
        [&(libc::AF_INET6 as u16).to_ne_bytes()[..], &[0, 80, 0, 0, 0, 0], &ip, &[0; 4]].concat()
    }

    #[test]
    fn only_addresses_of_this_machine_are_local() {
        let mapped =
            |ip: [u8; 4]| ipv6([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ip[0], ip[1], ip[2], ip[3]]);
        let last = |byte| ipv6([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte]);
        let unix = [&(libc::AF_UNIX as u16).to_ne_bytes()[..], b"/run/x\0"].concat();
        for local in [
            ipv4([127, 0, 0, 1]),
            ipv4([127, 9, 9, 9]),
            ipv4([0; 4]),
            last(1),
            last(0),
            mapped([127, 0, 0, 1]),
            unix.clone(),
            vec![0, 0],
            Vec::new(),
        ] {
            assert!(is_local(&local), "{local:?}");
        }
        assert_eq!(path_of(&unix), Some(PathBuf::from("/run/x")));
        assert_eq!(path_of(&[&unix[..2], b"\0abstract"].concat()), None);
        assert_eq!(path_of(&ipv4([127, 0, 0, 1])), None);
        let own = Reachable::below(Some([PathBuf::from("/p")].into_iter()));
        assert!(own.includes(Path::new("/p/x")) && own.includes(Path::new("/run/nscd/socket")));
        assert!(!own.includes(Path::new("/run/docker.sock")) && !own.includes(Path::new("/px")));
        let vsock = 40_u16.to_ne_bytes().to_vec();
        for other in [
            ipv4([10, 0, 0, 1]),
            ipv4([1, 1, 1, 1]),
            last(2),
            mapped([8, 8, 8, 8]),
            vsock,
            ipv4([127, 0, 0, 1])[..6].to_vec(),
            ipv6([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ] {
            assert!(!is_local(&other), "{other:?}");
        }
    }
}
