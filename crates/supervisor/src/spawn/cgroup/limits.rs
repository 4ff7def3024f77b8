//! Limits that a control group enforces.
//!
//! A group can enforce a limit only if its parent delegates the controller, and a parent with processes of its own
//! cannot. So the group is created below the nearest ancestor that this user may change and that can.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use mw_model::{ResourceLimit, Resources};
use rustix::fs::{Access, access};

use super::group::{Cgroup, PROCESSES};

/// The period of the CPU limit.
const PERIOD_US: u64 = 100_000;

impl Cgroup {
    /// Creates a group that enforces all limits of a task, below `base` or the nearest possible ancestor.
    pub(crate) fn make_limited(base: &Path, task: &str, limits: &Resources) -> Option<Self> {
        let ours = |group: &&Path| access(group.join(PROCESSES), Access::WRITE_OK).is_ok();
        let parents = base.ancestors().take_while(ours).filter(|parent| delegates(parent, limits));
        parents.into_iter().find_map(|parent| {
            let mut group = Self::make(parent, task)?;
            if set(&group.path, limits).is_err() {
                group.remove();
                return None;
            }
            group.enforces = true;
            Some(group)
        })
    }

    /// Makes sure that a process is in the group; a process that has ended counts.
    pub(crate) fn take_in(&self, pid: u32) -> bool {
        if self.pids().contains(&pid) {
            return true;
        }
        match write(&self.path.join(PROCESSES), &pid.to_string()) {
            Ok(()) => true,
            Err(error) => error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()),
        }
    }

    /// Returns the limit that the kernel had to enforce, or that was used up.
    pub(crate) fn exceeded(&self, limits: &Resources) -> Option<ResourceLimit> {
        // Processes that the system killed for its own lack of memory are counted, too; then the group was not at its
        // limit.
        let out_of_memory =
            || self.counter("memory.events", "oom") > 0 && self.counter("memory.events", "oom_kill") > 0;
        let memory = limits.memory.filter(|_| out_of_memory()).map(ResourceLimit::Memory);
        let refused_forks = || self.counter("pids.events", "max") > 0;
        let pids = limits.pids.filter(|_| refused_forks()).map(ResourceLimit::Pids);
        let spent = |ms: &u64| self.cpu_us() >= ms.saturating_mul(1000);
        let cpu_time = limits.cpu_time_ms.filter(spent).map(ResourceLimit::CpuTime);
        memory.or(pids).or(cpu_time)
    }

    /// Returns the CPU time that the group has used.
    pub(crate) fn cpu_us(&self) -> u64 {
        self.counter("cpu.stat", "usage_usec")
    }

    fn counter(&self, file: &str, name: &str) -> u64 {
        let text = std::fs::read_to_string(self.path.join(file)).unwrap_or_default();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
        value.unwrap_or(0)
    }
}

/// Makes sure that a group delegates the controllers that the limits need.
fn delegates(parent: &Path, limits: &Resources) -> bool {
    let control = parent.join("cgroup.subtree_control");
    let has = |controller: &str| {
        let text = std::fs::read_to_string(&control).unwrap_or_default();
        text.split_ascii_whitespace().any(|word| word == controller)
    };
    // CPU time is counted in every group.
    let needed = [
        ("memory", limits.memory.is_some()),
        ("pids", limits.pids.is_some()),
        ("cpu", limits.milli_cpus.is_some()),
    ];
    needed.into_iter().filter(|(_, needed)| *needed).all(|(controller, _)| {
        has(controller) || (write(&control, &format!("+{controller}")).is_ok() && has(controller))
    })
}

fn set(group: &Path, limits: &Resources) -> io::Result<()> {
    let put = |file: &str, value: String| write(&group.join(file), &value);
    if let Some(bytes) = limits.memory {
        put("memory.max", bytes.to_string())?;
        put("memory.oom.group", "1".to_owned())?;
        // Without swap the file does not exist.
        let _ = put("memory.swap.max", "0".to_owned());
    }
    if let Some(pids) = limits.pids {
        put("pids.max", pids.to_string())?;
    }
    if let Some(milli_cpus) = limits.milli_cpus {
        put("cpu.max", format!("{} {PERIOD_US}", milli_cpus * PERIOD_US / 1000))?;
    }
    Ok(())
}

/// Writes to an existing file of the kernel.
fn write(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ALL: Resources =
        Resources { memory: Some(64 << 20), cpu_time_ms: Some(2000), milli_cpus: Some(1500), pids: Some(50) };

    /// Creates a directory with the files of a control group.
    fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    const EMPTY: [(&str, &str); 5] = [
        ("memory.max", ""),
        ("memory.oom.group", ""),
        ("memory.swap.max", ""),
        ("pids.max", ""),
        ("cpu.max", ""),
    ];

    #[test]
    fn limits_are_written_in_the_format_of_the_kernel() {
        let directory = group(&EMPTY);
        set(directory.path(), &ALL).unwrap();
        let text = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
        let written = EMPTY.map(|(name, _)| text(name));
        assert_eq!(written, ["67108864", "1", "0", "50", "150000 100000"]);
    }

    #[test]
    fn only_limits_that_are_set_are_written() {
        let directory = group(&EMPTY);
        set(directory.path(), &Resources { pids: Some(7), ..Resources::default() }).unwrap();
        let written = EMPTY.map(|(name, _)| fs::read_to_string(directory.path().join(name)).unwrap());
        assert_eq!(written, ["", "", "", "7", ""]);
    }

    #[test]
    fn setting_a_limit_fails_if_the_group_lacks_its_file() {
        let directory = group(&[("memory.max", ""), ("memory.oom.group", "")]);
        assert!(
            set(directory.path(), &Resources { pids: None, milli_cpus: None, ..ALL }).is_ok(),
            "the file for swap is optional"
        );
        assert!(set(directory.path(), &ALL).is_err());
        assert!(!directory.path().join("pids.max").exists());
    }

    #[test]
    fn limits_need_controllers_that_the_parent_delegates() {
        let some = group(&[("cgroup.subtree_control", "cpu memory\n")]);
        let memory = Resources { memory: Some(1 << 20), ..Resources::default() };
        assert!(delegates(some.path(), &memory));
        assert!(!delegates(some.path(), &ALL), "pids are not delegated");
        let none = group(&[]);
        assert!(!delegates(none.path(), &memory));
        assert!(delegates(none.path(), &Resources { cpu_time_ms: Some(5), ..Resources::default() }));
    }

    #[test]
    fn a_limited_group_is_created_below_its_base_and_removed_if_a_limit_fails() {
        let top = group(&[(PROCESSES, ""), ("cgroup.subtree_control", "")]);
        let base = top.path().join("a/b");
        fs::create_dir_all(&base).unwrap();
        for level in [&base, &top.path().join("a")] {
            fs::write(level.join(PROCESSES), "").unwrap();
        }
        fs::write(top.path().join("a/cgroup.subtree_control"), "memory pids cpu").unwrap();
        let time = Resources { cpu_time_ms: Some(5), ..Resources::default() };
        let nearest = Cgroup::make_limited(&base, "bash-x", &time).unwrap();
        assert_eq!(nearest.path, base.join("meanwhile-bash-x"));
        // A new directory has no files of a group, so no limit can be set. The directory is removed again.
        assert!(Cgroup::make_limited(&base, "bash-y", &ALL).is_none());
        assert!(!top.path().join("a/meanwhile-bash-y").exists());
    }

    #[test]
    fn counters_show_which_limit_was_reached() {
        let calm = [
            ("memory.events", "low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\noom_group_kill 0\n"),
            ("pids.events", "max 0\n"),
            ("cpu.stat", "usage_usec 1999999\nuser_usec 5\nsystem_usec 5\n"),
        ];
        let memory = ("memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 3\noom_group_kill 1\n");
        let system_wide = ("memory.events", "max 0\noom 0\noom_kill 1\n");
        let pids = ("pids.events", "max 4\n");
        let cpu = ("cpu.stat", "usage_usec 2000000\n");
        let table = [
            ([calm[0], calm[1], calm[2]], None),
            ([memory, calm[1], calm[2]], Some(ResourceLimit::Memory(64 << 20))),
            ([system_wide, calm[1], calm[2]], None),
            ([calm[0], pids, calm[2]], Some(ResourceLimit::Pids(50))),
            ([calm[0], calm[1], cpu], Some(ResourceLimit::CpuTime(2000))),
        ];
        for (files, expected) in table {
            let directory = group(&files);
            let group = Cgroup::find(directory.path(), true).unwrap();
            assert_eq!(group.exceeded(&ALL), expected, "{files:?}");
            assert_eq!(group.exceeded(&Resources::default()), None);
        }
        let gone = group(&[]);
        assert_eq!(Cgroup::find(gone.path(), true).unwrap().exceeded(&ALL), None);
    }
}
