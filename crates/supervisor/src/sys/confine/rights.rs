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

/// No program that is executed can gain privileges.
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
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into()).map(drop)
    }
}
