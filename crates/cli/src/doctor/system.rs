//! Optional features of the system.

use meanwhile::engine::model::wire::Enforcer;
use serde_json::Value;

use super::Check;

pub(super) fn checks(features: Option<&Value>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(features) = features {
        checks.extend(FEATURES.iter().map(|feature| feature.check(features)));
    }
    checks.extend(features.map(confinement));
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
        without: "no delegated group: process trees are found by parent and by a mark, which can miss processes that clear their environment",
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

/// Shows whether commands can be confined to what was judged or approved.
fn confinement(features: &Value) -> Check {
    let name = "confinement";
    let abi = features["landlock"].as_u64().unwrap_or(0);
    let works: Vec<&str> =
        features["confines_with"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let lacks: Vec<&str> =
        Enforcer::OF_GRANTS.iter().map(|needed| needed.word()).filter(|word| !works.contains(word)).collect();
    let signals = if abi >= 6 { "" } else { "; other processes can be signalled before Linux 6.12" };
    if lacks.is_empty() {
        return Check::ok(name, format!("{} (Landlock {abi}){signals}", works.join(", ")));
    }
    let detail =
        format!("missing: {}; commands of models are judged as if nothing confined them", lacks.join(", "));
    let next = if lacks.contains(&"landlock") {
        "use Linux 5.13 or later with landlock in its list of security modules (lsm=)"
    } else {
        "allow unprivileged user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)"
    };
    Check::warning(name, detail, next)
}
