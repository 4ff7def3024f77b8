//! Optional features of the system.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use meanwhile::engine::find_program;
use serde_json::Value;

use super::Check;
use super::measure::{LIMIT, run};

pub(super) fn checks(features: Option<&Value>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(features) = features {
        checks.extend(FEATURES.iter().map(|feature| feature.check(features)));
    }
    checks.push(sandbox());
    checks
}

struct Feature {
    field: &'static str,
    name: &'static str,
    with: &'static str,
    without: &'static str,
    next: &'static str,
}

const FEATURES: [Feature; 4] = [
    Feature {
        field: "pidfd",
        name: "pidfd",
        with: "processes are identified exactly",
        without: "missing: a signal could reach a process with a reused pid",
        next: "use Linux 5.3 or later",
    },
    Feature {
        field: "subreaper",
        name: "subreaper",
        with: "orphaned processes of a task return to its supervisor",
        without: "missing: orphaned processes are found only by a mark in their environment",
        next: "use Linux 3.4 or later, without a filter on prctl",
    },
    Feature {
        field: "exit_of_others",
        name: "exit codes",
        with: "known even if all supervisors of a task were killed",
        without: "unknown if all supervisors of a task were killed; such a task is lost",
        next: "use Linux 6.15 or later",
    },
    Feature {
        field: "cgroup",
        name: "cgroup",
        with: "a group per task",
        without: "no delegated group: process trees are found by parent and by a mark, which misses only very evasive processes",
        next: "run under systemd-run --user --scope -p Delegate=yes, if that matters to you",
    },
];

impl Feature {
    fn check(&self, features: &Value) -> Check {
        if features[self.field] == true {
            Check::ok(self.name, self.with)
        } else {
            Check::warning(self.name, self.without, self.next)
        }
    }
}

/// Tries to create a sandbox; `mw` does not need one yet.
fn sandbox() -> Check {
    let path = env::var_os("PATH").unwrap_or_default();
    let name = "sandbox";
    if find_program("bwrap", Some(&path), Path::new("/")).is_err() {
        let spaces = fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap_or_default();
        let allowed = spaces.trim().parse::<u64>().is_ok_and(|most| most > 0);
        let namespaces =
            if allowed { "user namespaces are available" } else { "user namespaces are disabled" };
        let next = "install bubblewrap to run tasks in a sandbox; nothing else needs it";
        return Check::warning(name, format!("bwrap is not installed; {namespaces}"), next);
    }
    match run(Command::new("bwrap").args(["--ro-bind", "/", "/", "--unshare-all", "true"]), LIMIT) {
        Ok(_) => Check::ok(name, "bwrap works"),
        Err(why) => {
            let next = "allow unprivileged user namespaces to run tasks in a sandbox; nothing else needs it";
            Check::warning(name, format!("bwrap does not work: {why}"), next)
        }
    }
}
