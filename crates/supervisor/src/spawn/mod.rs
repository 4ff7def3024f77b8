//! Starting the command.
//!
//! `launch` forks and executes it and answers the starter; `pipe` and `terminal` are its standard streams, and `cgroup` is
//! its control group where one is available.

pub(crate) mod cgroup;
pub(crate) mod confined;
pub(crate) mod launch;
pub(crate) mod pipe;
pub(crate) mod terminal;
