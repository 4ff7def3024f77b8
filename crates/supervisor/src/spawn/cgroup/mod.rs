//! A control group per task, if a group is delegated to this user.
//!
//! A subreaper finds every process that a task forks. A group also finds them after all supervisors were killed, and
//! kills them at once. Without a group processes are found by descent and by the mark in their environment.

mod group;
mod limits;

pub(crate) use group::{Cgroup, base_group};
