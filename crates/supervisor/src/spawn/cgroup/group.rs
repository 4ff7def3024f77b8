//! The group of one task, and the group below which it is created.

use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use crate::small_file;

const PREFIX: &str = "meanwhile-";
/// The file that lists the processes of a group and takes new ones.
pub(super) const PROCESSES: &str = "cgroup.procs";
/// The group for supervisors that were started inside a task, if the parent group must not have processes.
const NESTED: &str = "meanwhile";

/// The group of one task.
pub(crate) struct Cgroup {
    pub(crate) path: PathBuf,
    directory: File,
    /// Whether it enforces the task's limits.
    pub(crate) enforces: bool,
}

impl Cgroup {
    /// Creates a group for a task below another; nothing if that is not allowed.
    pub(crate) fn make(base: &Path, task: &str) -> Option<Self> {
        let path = base.join(format!("{PREFIX}{task}"));
        // An existing one is left from a run whose supervisor was killed at its last step.
        let _ = fs::remove_dir(&path);
        fs::create_dir(&path).ok()?;
        match File::open(&path) {
            Ok(directory) => Some(Self { path, directory, enforces: false }),
            Err(_) => {
                let _ = fs::remove_dir(&path);
                None
            }
        }
    }

    /// Opens the group that a predecessor made.
    pub(crate) fn find(path: &Path, enforces: bool) -> Option<Self> {
        Some(Self { path: path.to_owned(), directory: File::open(path).ok()?, enforces })
    }

    pub(crate) fn pids(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.path.join(PROCESSES)).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Kills every process of the group, even if they fork.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
    }

    /// Removes the group; it must be empty.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir(&self.path);
    }
}

impl AsFd for Cgroup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Returns the group below which a task's group is created.
///
/// A supervisor that was started inside a task leaves that task's group, so that it does not end with it.
pub(crate) fn base_group() -> Option<PathBuf> {
    let own = own_group()?;
    let is_a_tasks =
        own.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    if !is_a_tasks {
        return Some(own);
    }
    let parent = own.parent()?;
    let enter = |group: &Path| fs::write(group.join(PROCESSES), std::process::id().to_string());
    if enter(parent).is_err() {
        let beside = parent.join(NESTED);
        let _ = fs::create_dir(&beside);
        enter(&beside).ok()?;
    }
    Some(parent.to_owned())
}

/// Returns the directory of our own group, if it is not the root and this user may write to it.
fn own_group() -> Option<PathBuf> {
    let membership = small_file::read("/proc/self/cgroup").ok()?;
    let group =
        membership.lines().find_map(|line| line.strip_prefix("0::/")).filter(|group| !group.is_empty())?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let path = Path::new(mount_point(&mounts)?).join(group);
    let writable = rustix::fs::access(path.join(PROCESSES), rustix::fs::Access::WRITE_OK).is_ok();
    writable.then_some(path)
}

/// Returns where the unified hierarchy is mounted.
fn mount_point(mounts: &str) -> Option<&str> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        after.starts_with("cgroup2 ").then(|| before.split(' ').nth(4)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unified_hierarchy_is_found_among_mounts() {
        let mounts = "25 1 0:22 / /proc rw - proc proc rw\n\
                      31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        assert_eq!(mount_point(mounts), Some("/sys/fs/cgroup"));
        assert_eq!(mount_point("25 1 0:22 / /proc rw - proc proc rw\n"), None);
    }
}
