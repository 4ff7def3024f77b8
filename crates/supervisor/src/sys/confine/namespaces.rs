//! Namespaces of mounts and of processes, in a user namespace unless this process may have them without.

use std::io::Write;

use super::apply::checked;
use super::mounts::mount;

/// Room for `<id> <id> 1`.
const MAP_BYTES: usize = 32;

/// Enters a new mount namespace. Process ids stay the same.
pub(super) fn enter() -> Result<(), i32> {
    // SAFETY: the child shares memory with its parent, but not descriptors, directories or credentials, and has one
    // thread.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } < 0 {
        own_user_namespace(libc::CLONE_NEWNS)?;
    } else {
        // Mounts here must not appear outside.
        mount(None, c"/", None, libc::MS_REC | libc::MS_SLAVE, None)?;
    }
    Ok(())
}

/// Makes a new process namespace. The next child of this process is its first process.
pub(crate) fn enter_pids() -> Result<(), i32> {
    // SAFETY: no preconditions.
    if unsafe { libc::unshare(libc::CLONE_NEWPID) } < 0 {
        own_user_namespace(libc::CLONE_NEWPID)
    } else {
        Ok(())
    }
}

/// Mounts the `/proc` of the process namespace of this process.
pub(super) fn mount_proc() -> Result<(), i32> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount(Some(c"proc"), c"/proc", Some(c"proc"), flags, None)
}

/// Enters a user namespace in which this user and group are the only ones, with another namespace in it.
fn own_user_namespace(other: libc::c_int) -> Result<(), i32> {
    // SAFETY: no preconditions.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: as above.
    checked(unsafe { libc::unshare(libc::CLONE_NEWUSER | other) }.into())?;
    // Needed before a group can be mapped. Kernels without this file need nothing.
    let _ = write_to(c"/proc/self/setgroups", b"deny");
    for (file, id) in [(c"/proc/self/uid_map", user), (c"/proc/self/gid_map", group)] {
        let mut text = [0_u8; MAP_BYTES];
        let mut rest = &mut text[..];
        write!(rest, "{id} {id} 1").map_err(|_| libc::EINVAL)?;
        let length = MAP_BYTES - rest.len();
        write_to(file, &text[..length])?;
    }
    Ok(())
}

fn write_to(file: &std::ffi::CStr, text: &[u8]) -> Result<(), i32> {
    // SAFETY: the name is terminated, the text is valid for its length, and the descriptor is closed once.
    unsafe {
        let fd = checked(libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC).into())? as libc::c_int;
        let written = checked(libc::write(fd, text.as_ptr().cast(), text.len()) as libc::c_long);
        libc::close(fd);
        written.map(drop)
    }
}
