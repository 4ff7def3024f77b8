//! A filter for system calls: sockets, set-uid files, and calls that would evade the other means.

use std::mem::offset_of;
use std::os::fd::RawFd;

use super::apply::checked;
use super::connects::send_descriptor;

/// The machine's name in the filter, and the first number of its second interface, if it has one.
#[cfg(target_arch = "x86_64")]
const MACHINE: (u32, Option<u32>) = (0xc000_003e, Some(0x4000_0000));
#[cfg(target_arch = "aarch64")]
const MACHINE: (u32, Option<u32>) = (0xc000_00b7, None);
#[cfg(target_arch = "riscv64")]
const MACHINE: (u32, Option<u32>) = (0xc000_00f3, None);

const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0000;
const ASK: u32 = 0x7fc0_0000;

/// Lets a call that sends data also connect.
const FAST_OPEN: u32 = 0x2000_0000;
/// Flags beside the type of a socket.
const TYPE_MASK: u32 = 0xf;
const MASK: u16 = 0x54;

const SET_ID: u32 = 0o6000;
const CREATES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;
const CHANGE_MODE_AT_2: i64 = 452;

/// Calls that are always refused, with the error: those that do what the filter looks for where it cannot see it, and the keys of
/// the user. Programs do without them.
const REFUSED: [(i64, i32); 5] = [
    (libc::SYS_openat2, libc::ENOSYS),
    (libc::SYS_io_uring_setup, libc::ENOSYS),
    (libc::SYS_keyctl, libc::EPERM),
    (libc::SYS_add_key, libc::EPERM),
    (libc::SYS_request_key, libc::EPERM),
];

/// Calls with the mode of a file, and which argument that is.
#[cfg(target_arch = "x86_64")]
const WITH_MODE: [(i64, u32); 7] = [
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (CHANGE_MODE_AT_2, 2),
    (libc::SYS_mknodat, 2),
    (libc::SYS_chmod, 1),
    (libc::SYS_mknod, 1),
    (libc::SYS_creat, 1),
];
#[cfg(not(target_arch = "x86_64"))]
const WITH_MODE: [(i64, u32); 4] =
    [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (CHANGE_MODE_AT_2, 2), (libc::SYS_mknodat, 2)];

/// Calls with flags and, if a file is created, its mode in the next argument.
#[cfg(target_arch = "x86_64")]
const OPENS: [(i64, u32); 2] = [(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: [(i64, u32); 1] = [(libc::SYS_openat, 2)];

/// Which sockets a command may create and connect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Sockets between processes of this machine; [`Connects`](super::Connects) answers to which.
    None,
    /// Also TCP; [`Connects`](super::Connects) answers where to.
    Asking,
    /// All.
    All,
}

/// Calls that send, and which argument has their flags.
const SENDS: [(i64, u32); 3] = [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)];

/// A filter that is ready to be applied.
pub(super) struct Filter {
    program: Vec<libc::sock_filter>,
    /// Whether calls wait for an answer.
    asks: bool,
}

impl Filter {
    pub(super) fn new(sockets: Sockets) -> Self {
        let (machine, second) = MACHINE;
        // The calls of 32-bit programs have other numbers and arguments.
        let foreign = done(refuse(libc::ENOSYS));
        let mut filter = vec![load_machine(), jump(IF_EQUAL, machine, 1, 0), foreign, load_number()];
        if let Some(second) = second {
            filter.extend([jump(IF_AT_LEAST, second, 0, 1), done(refuse(libc::ENOSYS))]);
        }
        let mut on = |call: i64, then: &[libc::sock_filter]| {
            filter.push(jump(IF_EQUAL, call as u32, 0, then.len() as u8));
            filter.extend_from_slice(then);
        };
        for (call, argument) in OPENS {
            let creates = [load(argument), jump(IF_ANY_BIT, CREATES, 1, 0), done(ALLOW)];
            on(call, &[&creates[..], &refuse_set_id(argument + 1)[..]].concat());
        }
        for (call, argument) in WITH_MODE {
            on(call, &refuse_set_id(argument));
        }
        for (call, errno) in REFUSED {
            on(call, &[done(refuse(errno))]);
        }
        on(libc::SYS_prlimit64, &limits_of_others());
        if sockets != Sockets::All {
            on(libc::SYS_socket, &local_sockets(sockets));
            on(libc::SYS_connect, &[done(ASK)]);
        }
        if sockets == Sockets::Asking {
            for (call, argument) in SENDS {
                on(
                    call,
                    &[
                        load(argument),
                        jump(IF_ANY_BIT, FAST_OPEN, 0, 1),
                        done(refuse(libc::EPERM)),
                        done(ALLOW),
                    ],
                );
            }
        }
        filter.push(done(ALLOW));
        Self { program: filter, asks: sockets != Sockets::All }
    }

    /// Applies it, in the child, which must have given up new privileges. The calls that wait for an answer are sent to `line`.
    pub(super) fn apply(&self, line: Option<RawFd>) -> Result<(), i32> {
        const SET_FILTER: libc::c_uint = 1;
        /// The processor's speculation stays as it is, because it is not what the filter protects from.
        const KEEP_SPECULATION: libc::c_uint = 1 << 2;
        const WITH_ANSWERS: libc::c_uint = 1 << 3;
        let line = line.filter(|_| self.asks);
        let flags = KEEP_SPECULATION | if line.is_some() { WITH_ANSWERS } else { 0 };
        let (length, filter) = (self.program.len() as libc::c_ushort, self.program.as_ptr().cast_mut());
        let program = libc::sock_fprog { len: length, filter };
        // SAFETY: the program is valid, and the kernel only reads it.
        let set = unsafe { libc::syscall(libc::SYS_seccomp, SET_FILTER, flags, &raw const program) };
        let calls = checked(set)? as RawFd;
        // It is closed when the command is executed.
        line.map_or(Ok(()), |line| send_descriptor(line, calls))
    }
}

/// What follows the creation of a socket, if not all are allowed.
fn local_sockets(sockets: Sockets) -> Vec<libc::sock_filter> {
    let mut then = vec![load(0)];
    if sockets == Sockets::Asking {
        then.extend([
            jump(IF_EQUAL, libc::AF_INET as u32, 1, 0),
            jump(IF_EQUAL, libc::AF_INET6 as u32, 0, 8),
            load(1),
            statement(MASK, TYPE_MASK),
            jump(IF_EQUAL, libc::SOCK_STREAM as u32, 0, 10),
            // Other protocols connect without `connect`.
            load(2),
            jump(IF_EQUAL, 0, 2, 0),
            jump(IF_EQUAL, libc::IPPROTO_TCP as u32, 1, 0),
            jump(IF_EQUAL, libc::IPPROTO_MPTCP as u32, 0, 6),
            done(ALLOW),
        ]);
    }
    then.extend([
        jump(IF_EQUAL, libc::AF_UNIX as u32, 3, 0),
        // Programs list the network's interfaces with it.
        jump(IF_EQUAL, libc::AF_NETLINK as u32, 0, 3),
        load(2),
        jump(IF_EQUAL, libc::NETLINK_ROUTE as u32, 0, 1),
        done(ALLOW),
        done(refuse(libc::EACCES)),
    ]);
    then
}

/// What follows a change of limits: those of another process, named by its id, could end it. `setrlimit` and the like name none.
fn limits_of_others() -> [libc::sock_filter; 8] {
    [
        load(0),
        jump(IF_EQUAL, 0, 4, 0),
        // Without new limits the call only reads.
        load(2),
        jump(IF_EQUAL, 0, 0, 3),
        load_upper(2),
        jump(IF_EQUAL, 0, 0, 1),
        done(ALLOW),
        done(refuse(libc::EPERM)),
    ]
}

fn refuse_set_id(argument: u32) -> [libc::sock_filter; 4] {
    [load(argument), jump(IF_ANY_BIT, SET_ID, 0, 1), done(refuse(libc::EPERM)), done(ALLOW)]
}

const fn refuse(errno: i32) -> u32 {
    REFUSE | errno as u32
}

const fn load_machine() -> libc::sock_filter {
    statement(LOAD, offset_of!(libc::seccomp_data, arch) as u32)
}

const fn load_number() -> libc::sock_filter {
    statement(LOAD, offset_of!(libc::seccomp_data, nr) as u32)
}

/// Loads the lower half of an argument, on a machine that stores it first.
const fn load(argument: u32) -> libc::sock_filter {
    statement(LOAD, offset_of!(libc::seccomp_data, args) as u32 + argument * 8)
}

/// Loads the upper half of an argument.
const fn load_upper(argument: u32) -> libc::sock_filter {
    statement(LOAD, offset_of!(libc::seccomp_data, args) as u32 + argument * 8 + 4)
}

const fn done(action: u32) -> libc::sock_filter {
    statement(RETURN, action)
}

const fn statement(code: u16, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: 0, k }
}

const fn jump(code: u16, k: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt: then, jf: otherwise, k }
}
