//! Confines a process before it executes a command: mounts, Landlock, seccomp.
//!
//! Everything is prepared before the fork. The child makes only system calls: it enters its namespaces before it changes
//! to the working directory, so that this is looked up among the new mounts, and gives up its rights last.

mod apply;
mod connects;
mod landlock;
mod mounts;
mod namespaces;
mod rights;
mod seccomp;

pub(crate) use apply::{Confine, probe};
pub(crate) use connects::{Connects, Reachable};
pub(crate) use landlock::abi as landlock_abi;
pub(crate) use namespaces::enter_pids;
