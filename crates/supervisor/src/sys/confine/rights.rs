//! Gives up privileges, and those rights of root that evade a confinement.

use mw_model::NetworkGrant;

use super::apply::checked;

/// Rights that a confined root keeps, as numbers of capabilities: to change files of all users, to change users, to signal,
/// low ports, and `chroot`.
const KEPT: [u64; 9] = [0, 1, 3, 4, 5, 6, 7, 10, 18];
/// Raw sockets, with a network.
const RAW_SOCKETS: u64 = 13;
/// More than any kernel has.
const LAST: u64 = 63;

/// No program that is executed can gain privileges, and a root loses those that are not kept.
pub(super) fn give_up(network: NetworkGrant) -> Result<(), i32> {
    // SAFETY: plain numbers; the process and its rights are its own.
    unsafe {
        if libc::geteuid() == 0 {
            for capability in 0..=LAST {
                let kept = KEPT.contains(&capability)
                    || (capability == RAW_SOCKETS && network == NetworkGrant::Full);
                if kept {
                    continue;
                }
                match libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) {
                    0 => {}
                    // There are no more.
                    ..0 => break,
                    _ => drop(checked(libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0).into())?),
                }
            }
        }
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
    }
    inherit_none()
}

/// The kernel's `__user_cap_header_struct`.
#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

/// Lets a program inherit no rights from this process. It would have them although they are not among those that it can get.
fn inherit_none() -> Result<(), i32> {
    const VERSION: u32 = 0x2008_0522;
    /// The inheritable rights, in each half of the sets.
    const INHERITABLE: [usize; 2] = [2, 5];
    let mut header = Header { version: VERSION, pid: 0 };
    let mut sets = [0_u32; 6];
    // SAFETY: both structures have the kernel's layout of this version, and are its own.
    unsafe {
        checked(libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()))?;
        INHERITABLE.iter().for_each(|at| sets[*at] = 0);
        checked(libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr())).map(drop)
    }
}
