//! The home: owner, file system, free space and integrity.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use meanwhile::engine::model::Timestamp;
use meanwhile::engine::{AlarmState, Clock, Inspection, SystemClock};
use mw_desk::text::{at_time, bytes, count};
use rustix::fs::{Access, StatVfsMountFlags};

use super::Check;
use crate::hints;

/// With less free space, tasks may lose output.
const TOO_LITTLE: u64 = 16 << 20;
const LITTLE: u64 = 1 << 30;
/// File systems with unreliable locks or sockets.
const SHARED: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "afs", "ceph"];

pub(super) fn checks(home: &Path, scratch: &Path) -> Vec<Check> {
    let shown = home.display();
    let Ok(found) = fs::metadata(home) else {
        let above = nearest(home);
        return vec![if rustix::fs::access(&above, Access::WRITE_OK).is_ok() {
            Check::ok("home", format!("{shown} does not exist yet; the first task creates it"))
        } else {
            let detail = format!("cannot create {shown}: {} is not writable", above.display());
            Check::problem("home", detail, "set MEANWHILE_HOME to a directory of your own")
        }];
    };
    let mut checks = vec![owner(home, &found)];
    checks.extend(room(home));
    checks.push(file_system(home));
    match meanwhile::engine::inspect(home, scratch) {
        Ok(inspection) => checks.extend(content(&inspection)),
        Err(error) => checks.push(Check::problem("database", error.to_string(), hints::hint(&error))),
    }
    checks
}

/// Returns the nearest existing directory.
fn nearest(path: &Path) -> PathBuf {
    path.ancestors().skip(1).find(|above| above.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

fn owner(home: &Path, found: &fs::Metadata) -> Check {
    let shown = home.display();
    let own = "set MEANWHILE_HOME to a directory of your own";
    let parts = ["tasks", "sessions", "bells"].map(|part| home.join(part));
    let mut places = [home.components().collect()].into_iter().chain(parts);
    if let Some(link) = places.find(|place: &PathBuf| place.is_symlink()) {
        let detail = format!("{} is a symbolic link, which is refused", link.display());
        return Check::problem("home", detail, "set MEANWHILE_HOME to the directory itself");
    }
    let is_read_only =
        rustix::fs::statvfs(home).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY));
    if !found.is_dir() {
        Check::problem("home", format!("{shown} is not a directory"), own)
    } else if found.uid() != rustix::process::geteuid().as_raw() {
        Check::problem("home", format!("{shown} belongs to another user"), own)
    } else if is_read_only || rustix::fs::access(home, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        Check::problem("home", format!("{shown} is not writable"), format!("chmod u+rwx {shown}, or {own}"))
    } else if found.mode() & 0o077 != 0 {
        let detail = format!("{shown} is accessible to other users (mode {:o})", found.mode() & 0o777);
        Check::warning("home", detail, format!("chmod 700 {shown}"))
    } else {
        Check::ok("home", format!("{shown}, accessible only to you"))
    }
}

fn room(home: &Path) -> Option<Check> {
    let found = rustix::fs::statvfs(home).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let detail = format!("{} free", bytes(free));
    let next = "free space with mw clear --finished, or mw clear --expired to follow your retention settings";
    Some(match free {
        0..TOO_LITTLE => Check::problem("space", detail, next),
        TOO_LITTLE..LITTLE => Check::warning("space", detail, next),
        LITTLE.. => Check::ok("space", detail),
    })
}

fn file_system(home: &Path) -> Check {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let real = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    match kind_of(&mounts, &real) {
        None => Check::ok("file system", "unknown"),
        Some(kind) if SHARED.contains(&kind) => {
            let detail = format!("{kind}, shared with other machines: locks and sockets may not work");
            Check::warning("file system", detail, "set MEANWHILE_HOME to a directory on a local disk")
        }
        Some("tmpfs") => {
            let next = "set MEANWHILE_HOME to a directory on a disk to keep tasks across reboots";
            Check::warning("file system", "tmpfs, which is lost on reboot", next)
        }
        Some(kind) => Check::ok("file system", kind),
    }
}

/// Returns the file system of a path: that of the deepest mount that contains it, or the last of several.
fn kind_of<'text>(mounts: &'text str, path: &Path) -> Option<&'text str> {
    let mount = |line: &'text str| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?.replace("\\040", " ");
        let depth = path.starts_with(&point).then(|| Path::new(&point).components().count())?;
        Some((depth, after.split(' ').next()?))
    };
    mounts.lines().filter_map(mount).max_by_key(|(depth, _)| *depth).map(|(_, kind)| kind)
}

fn content(found: &Inspection) -> Vec<Check> {
    let mut checks = Vec::new();
    let rebuild = "the next command that finds the damage sets it aside and rebuilds it from the task directories; removing \
                   meanwhile.db has the same effect at once";
    checks.push(match found.schema {
        None => Check::ok("database", "does not exist yet; the first command that needs it creates it"),
        Some(_) if !found.problems.is_empty() => {
            Check::problem("database", format!("damaged: {}", found.problems.join("; ")), rebuild)
        }
        Some(schema) if schema > found.known_schema => {
            let detail = format!(
                "written by a newer mw: schema {schema}, this version supports {}",
                found.known_schema
            );
            Check::problem("database", detail, "upgrade mw, or set MEANWHILE_HOME to another directory")
        }
        Some(schema) => Check::ok(
            "database",
            format!("ok, schema {schema}, {}", count(found.tasks as usize, "task", "tasks")),
        ),
    });
    if let Some(last) = found.set_aside.last() {
        let detail = format!(
            "{} set aside, the last one as {last}",
            count(found.set_aside.len(), "damaged database was", "damaged databases were")
        );
        let next = "its tasks were read again from their directories; remove the file if you do not need it, and check the disk \
                    if this happens again";
        checks.push(Check::warning("database", detail, next));
    }
    if found.unindexed > 0 {
        let detail = format!(
            "{} not in the database",
            count(found.unindexed as usize, "task directory is", "task directories are")
        );
        let next = "remove the file arrivals in the home: the next command reads all directories again";
        checks.push(Check::warning("database", detail, next));
    }
    if !found.untended.is_empty() {
        let detail = format!("no supervisor for {}", found.untended.join(", "));
        checks.push(Check::warning("tasks", detail, "mw list adopts them, or records their end"));
    } else if found.lost > 0 {
        let detail = format!("the outcome of {} is unknown", count(found.lost as usize, "task", "tasks"));
        checks.push(Check::warning(
            "tasks",
            detail,
            "mw list --status lost shows them; mw clear removes them",
        ));
    } else if found.schema.is_some() {
        checks.push(Check::ok("tasks", "none lost, none without a supervisor"));
    }
    checks.extend(alarm(found, SystemClock.now()));
    checks
}

/// Checks that a process starts the next task that is due.
fn alarm(found: &Inspection, now: Timestamp) -> Option<Check> {
    let due = found.due?;
    let next = if due > now {
        format!("the next task is due {}", at_time(due, now))
    } else {
        "a task is due".into()
    };
    Some(match found.alarm {
        AlarmState::Until(_) => Check::ok("alarm", format!("{next}, and a process sleeps until then")),
        AlarmState::Off => {
            let hint = "any command such as mw list starts what is due, and the process that sleeps until then; mw setup systemd \
                        does so after a reboot";
            Check::warning("alarm", format!("{next}, and no process sleeps until then"), hint)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::CheckResult;
    use super::*;

    #[test]
    fn a_newer_database_and_lost_tasks_are_told() {
        let found = Inspection { schema: Some(9), known_schema: 2, ..Inspection::default() };
        assert_eq!(content(&found)[0].verdict, CheckResult::Problem);
        let found =
            Inspection { schema: Some(2), known_schema: 2, tasks: 3, lost: 1, ..Inspection::default() };
        let verdicts: Vec<_> = content(&found).iter().map(|check| check.verdict).collect();
        assert_eq!(verdicts, [CheckResult::Ok, CheckResult::Warning]);
    }

    #[test]
    fn a_path_lies_on_the_deepest_mount_that_holds_it() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:30 / /home rw shared:1 - nfs4 server:/home rw\n\
                      31 22 0:31 / /home rw - xfs /dev/sdb rw\n32 22 0:32 / /my\\040disk rw - btrfs /dev/sdc rw\n";
        assert_eq!(kind_of(mounts, Path::new("/var/x")), Some("ext4"));
        assert_eq!(kind_of(mounts, Path::new("/home/me")), Some("xfs"));
        assert_eq!(kind_of(mounts, Path::new("/homeless")), Some("ext4"));
        assert_eq!(kind_of(mounts, Path::new("/my disk/a")), Some("btrfs"));
        assert_eq!(kind_of("", Path::new("/")), None);
    }
}
