//! A confinement that is prepared and applied in two steps.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;

use mw_model::wire::{Confinement, Enforcer};
use mw_model::{NetworkGrant, RawText};

use super::landlock::Rules;
use super::mounts::Mounts;
use super::seccomp::{Filter, Sockets};
use super::{namespaces, rights};
use crate::sys::{Fork, exit_at_once, fork};

/// The step of a confinement that failed, with the error number.
pub(in crate::sys) type Failure = (Enforcer, i32);

/// A confinement that is ready to be applied.
pub(crate) struct Confine {
    mounts: Option<Mounts>,
    rules: Option<Rules>,
    filter: Option<Filter>,
    network: NetworkGrant,
    /// Whether the command gets a process namespace of its own.
    own_pids: bool,
    /// Where the child sends the calls that wait for an answer.
    line: Option<RawFd>,
}

impl Confine {
    /// Prepares a confinement with those features that are usable. `readable` lists everything but the hidden files, for
    /// a confinement without namespaces. `line` gets the descriptor of [`Connects`], if there is one; its number must be
    /// higher than that of all streams.
    pub(crate) fn new(
        confinement: &Confinement,
        usable: &[Enforcer],
        readable: Option<Vec<CString>>,
        line: Option<BorrowedFd<'_>>,
    ) -> std::io::Result<Self> {
        let has = |enforcer| usable.contains(&enforcer);
        let sockets = match confinement.network {
            NetworkGrant::None => Sockets::None,
            NetworkGrant::Loopback => Sockets::Asking,
            NetworkGrant::Full => Sockets::All,
        };
        Ok(Self {
            mounts: has(Enforcer::Namespaces).then(|| Mounts::new(confinement)).transpose()?,
            rules: has(Enforcer::Landlock).then(|| Rules::new(confinement, readable)).transpose()?,
            filter: has(Enforcer::Seccomp).then(|| Filter::new(sockets)),
            network: confinement.network,
            own_pids: has(Enforcer::Pids) && confinement.needs.contains(&Enforcer::Pids),
            line: line.map(|line| line.as_raw_fd()),
        })
    }

    /// Returns the bits of what it uses.
    pub(crate) fn enforcers(&self) -> u64 {
        [
            (self.rules.is_some(), Enforcer::Landlock),
            (self.mounts.is_some(), Enforcer::Namespaces),
            (self.filter.is_some(), Enforcer::Seccomp),
            (self.own_pids, Enforcer::Pids),
        ]
        .into_iter()
        .filter(|(used, _)| *used)
        .fold(0, |bits, (_, enforcer)| bits | enforcer.bit())
    }

    /// Returns whether the command gets a process namespace of its own, in which it must be forked.
    pub(in crate::sys) const fn has_own_pids(&self) -> bool {
        self.own_pids
    }

    /// Enters the mount namespace. Called in the child, before it changes to its working directory.
    pub(in crate::sys) fn enter(&self) -> Result<(), Failure> {
        if self.mounts.is_none() && !self.own_pids {
            return Ok(());
        }
        namespaces::enter().map_err(|errno| (Enforcer::Namespaces, errno))?;
        if self.own_pids {
            namespaces::mount_proc().map_err(|errno| (Enforcer::Pids, errno))?;
        }
        let mounted = self.mounts.as_ref().map_or(Ok(()), Mounts::apply);
        mounted.map_err(|errno| (Enforcer::Namespaces, errno))
    }

    /// Gives up all rights that are not granted. Called in the child, right before it executes the command.
    pub(in crate::sys) fn restrict(&self) -> Result<(), Failure> {
        rights::give_up(self.network).map_err(|errno| (Enforcer::Seccomp, errno))?;
        if let Some(rules) = &self.rules {
            rules.apply().map_err(|errno| (Enforcer::Landlock, errno))?;
        }
        match &self.filter {
            Some(filter) => filter.apply(self.line).map_err(|errno| (Enforcer::Seccomp, errno)),
            None => Ok(()),
        }
    }
}

/// Returns which features the kernel offers. Each is tried in a child.
pub(crate) fn probe() -> Vec<Enforcer> {
    let confinement =
        Confinement { writable: vec!["/tmp".into()], needs: vec![Enforcer::Pids], ..Confinement::default() };
    Enforcer::ALL.into_iter().filter(|enforcer| works(&confinement, *enforcer)).collect()
}

fn works(confinement: &Confinement, enforcer: Enforcer) -> bool {
    // A filter that asks needs more than one that does not: only one in a chain of filters may ask.
    let Ok((line, _ours)) = UnixStream::pair() else { return false };
    let Ok(confine) = Confine::new(confinement, &[enforcer], None, Some(line.as_fd())) else { return false };
    match fork() {
        Ok(Fork::Child) => {
            let apply = || i32::from(confine.enter().and_then(|()| confine.restrict()).is_err());
            if !confine.own_pids {
                exit_at_once(apply());
            }
            match namespaces::enter_pids().ok().and_then(|()| fork().ok()) {
                Some(Fork::Child) => exit_at_once(apply()),
                Some(Fork::Parent(pid)) => exit_at_once(i32::from(!exits_with_0(pid))),
                None => exit_at_once(1),
            }
        }
        Ok(Fork::Parent(pid)) => exits_with_0(pid),
        Err(_) => false,
    }
}

fn exits_with_0(pid: u32) -> bool {
    let mut status = 0;
    loop {
        // SAFETY: the status is valid for writing.
        match unsafe { libc::waitpid(pid as i32, &raw mut status, 0) } {
            -1 if errno() == libc::EINTR => {}
            reaped => return reaped > 0 && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        }
    }
}

pub(super) fn texts(paths: &[RawText]) -> std::io::Result<Vec<CString>> {
    paths.iter().map(|path| CString::new(path.as_bytes()).map_err(std::io::Error::other)).collect()
}

pub(super) fn errno() -> i32 {
    crate::sys::process::last_errno()
}

/// Turns the result of a system call into a result.
pub(super) fn checked(result: libc::c_long) -> Result<libc::c_long, i32> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}
