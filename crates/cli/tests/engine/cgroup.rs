//! Tasks in a delegated control group.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_testkit::{Need, alive, children, skip, wait_until};

use crate::home;

const DEADLINE: Duration = Duration::from_secs(60);

/// A cgroup for one test below the unified hierarchy.
struct Delegated(PathBuf);

impl Delegated {
    /// Creates a cgroup; if that is impossible, the test is skipped.
    fn make(name: &str) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let line = mounts.lines().find(|line| line.contains(" - cgroup2 "));
        let Some(mount) = line.and_then(|line| line.split(' ').nth(4)) else {
            skip(Need::ControlGroup, "no unified hierarchy is mounted");
        };
        let path = Path::new(mount).join(format!("mw-test-{name}-{}", std::process::id()));
        match fs::create_dir(&path) {
            Ok(()) => Self(path),
            Err(error) => skip(Need::ControlGroup, &format!("{} cannot be made: {error}", path.display())),
        }
    }

    /// A shell line that moves the shell into the cgroup and then runs `mw`.
    fn enter(&self, mw: &str) -> String {
        format!("echo $$ > {}/cgroup.procs && exec {mw}", self.0.display())
    }

    fn task_groups(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_dir()).collect()
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        for group in self.task_groups() {
            let _ = fs::remove_dir(group);
        }
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_task_in_a_delegated_cgroup_has_its_own_cgroup_until_it_ends() {
    let group = Delegated::make("own");
    let home = home();
    let script =
        format!("{}\n{}\nexec sleep 600", children::leave_setsid("one"), children::leave_double_fork("two"));
    fs::write(home.work().join("script"), script).unwrap();
    let line = group.enter("\"$MW\" start --json \"$(cat script)\"");
    let reply = home.program("sh").env("MW", env!("CARGO_BIN_EXE_mw")).arg("-c").arg(&line).run();
    let id = reply.json()["id"].as_str().unwrap().to_owned();
    let escaped: Vec<u32> = ["one", "two"].iter().map(|name| home.pid_in(name)).collect();
    assert_eq!(group.task_groups().len(), 1);
    let members = fs::read_to_string(group.task_groups()[0].join("cgroup.procs")).unwrap();
    for pid in &escaped {
        assert!(members.lines().any(|line| line == pid.to_string()), "{pid} is not among {members}");
    }
    let _ = home.mw(["kill", &id]).ok();
    assert!(escaped.iter().all(|pid| !alive(*pid)));
    wait_until(DEADLINE, "the cgroup is removed", || group.task_groups().is_empty().then_some(()));
}

#[test]
fn processor_time_is_read_from_the_cgroup_if_there_is_one() {
    let group = Delegated::make("time");
    let home = home();
    let line = group.enter("\"$MW\" start --json --cpu-time 700ms \"$SCRIPT\"");
    let script = children::burn(2);
    let reply =
        home.program("sh").env("MW", env!("CARGO_BIN_EXE_mw")).env("SCRIPT", script).arg("-c").arg(&line);
    let id = reply.run().json()["id"].as_str().unwrap().to_owned();
    let task = home.ended(&id);
    assert_eq!(
        (&task["status"], &task["cause"]),
        (&"failed".into(), &"CPU time limit 0.7 s".into()),
        "{task}"
    );
    assert_eq!(task["limits"]["enforcement"], "control_group", "{task}");
    wait_until(DEADLINE, "the cgroup is removed", || group.task_groups().is_empty().then_some(()));
}

#[test]
fn a_cpu_limit_is_enforced_by_a_cgroup_with_the_cpu_controller_and_refused_by_others() {
    let group = Delegated::make("cpus");
    let controllers = fs::read_to_string(group.0.join("cgroup.controllers")).unwrap();
    let home = home();
    let line = group.enter("\"$MW\" start --json --cpus 1.5 \"$SCRIPT\"");
    let command = home.program("sh").env("MW", env!("CARGO_BIN_EXE_mw")).env("SCRIPT", children::SLEEPER);
    let reply = command.arg("-c").arg(&line).run().json();
    if !controllers.split_whitespace().any(|controller| controller == "cpu") {
        assert!(reply["error"]["message"].as_str().unwrap().contains("cgroup v2"), "{reply}");
        assert!(home.list().is_empty(), "no task is left");
        return;
    }
    let id = reply["id"].as_str().unwrap().to_owned();
    let limits = home.status(&id)["limits"].clone();
    assert_eq!((&limits["cpus"], &limits["enforcement"]), (&1.5.into(), &"control_group".into()));
    let membership = fs::read_to_string(format!("/proc/{}/cgroup", home.pid(&id))).unwrap();
    let own = membership.lines().find_map(|line| line.strip_prefix("0::/")).unwrap();
    let limit = fs::read_to_string(group.0.parent().unwrap().join(own).join("cpu.max")).unwrap();
    assert_eq!(limit, "150000 100000\n");
    let _ = home.mw(["kill", &id]).ok();
}
