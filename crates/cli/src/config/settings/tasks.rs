//! Settings of tasks: the queue, limits, output, ends and removal.

use meanwhile::model::Resources;

use super::{CAP, DAY_MS, HOUR_MS, MOST_RUNNING, STALL};
use crate::config::accepts::Accepts;
use crate::config::setting::{InProject, Setting, setting};

pub(super) static SETTINGS: [Setting; 25] = [
    setting!(
        "queue.max_running",
        Accepts::Count { least: 1, most: MOST_RUNNING },
        InProject::Lower,
        settings.queue.max_running,
        "number of tasks that a session may run at a time"
    ),
    setting!(
        "queue.max_running_total",
        Accepts::Count { least: 0, most: 100_000 },
        InProject::LowerNotZero,
        settings.queue.max_running_total,
        "number of tasks that all sessions together may run at a time; 0 = no limit"
    ),
    setting!(
        "queue.at_capacity",
        Accepts::Word(&["queue", "reject"]),
        InProject::Choose("reject"),
        settings.queue.at_capacity,
        "what a start does when no slot is free: queue the task or reject it"
    ),
    setting!(
        "output.cap",
        CAP,
        InProject::LowerNotZero,
        settings.limits.output_cap,
        "maximum size of a task's log in bytes; 0 = no cap"
    ),
    setting!(
        "output.log_header",
        Accepts::Flag,
        InProject::TurnOn,
        settings.log_header,
        "whether logs begin with a header that names the task"
    ),
    setting!(
        "stall.ms",
        STALL,
        InProject::LowerNotZero,
        settings.limits.stall_ms,
        "how long a task must be silent after a prompt to count as stalled; 0 = off"
    ),
    setting!(
        "stall.patterns",
        Accepts::Lines,
        InProject::Nothing,
        settings.limits.prompts.0,
        "patterns of a prompt, matched against the whole last line, ignoring case; * matches anything"
    ),
    setting!(
        "kill.grace_ms",
        Accepts::Milliseconds { least: 0, most: HOUR_MS },
        InProject::Lower,
        settings.limits.kill_grace_ms,
        "grace period between the first signal and SIGKILL"
    ),
    setting!(
        "kill.timeout_grace_ms",
        Accepts::Milliseconds { least: 0, most: HOUR_MS },
        InProject::Lower,
        settings.limits.timeout_grace_ms,
        "grace period between SIGTERM and SIGKILL after a time limit"
    ),
    setting!(
        "session.grace_ms",
        Accepts::Milliseconds { least: 0, most: DAY_MS },
        InProject::Lower,
        settings.session_grace_ms,
        "how long the tasks of a session keep running after its host was killed, unless another host takes over"
    ),
    setting!(
        "session.end",
        Accepts::Word(&["keep", "kill"]),
        InProject::Choose("kill"),
        session_end,
        "what happens to the tasks of a session when its MCP client disconnects: keep them running, or kill them after session.grace_ms unless a client reconnects"
    ),
    setting!(
        "session.kill_tasks",
        Accepts::Flag,
        InProject::TurnOn,
        kill_tasks,
        "whether tasks end with their session by default"
    ),
    setting!(
        "run.timeout",
        Accepts::Duration { most: 365 * DAY_MS },
        InProject::LowerNotZero,
        settings.limits.run_timeout_ms,
        "default time limit of a task; 0 = none"
    ),
    setting!("run.shell", Accepts::Program, InProject::Nothing, shell, "shell for scripts"),
    setting!(
        "limits.memory",
        Accepts::Size { least: Resources::MEMORY.0, most: Resources::MEMORY.1 },
        InProject::LowerNotZero,
        settings.limits.resources.memory,
        "maximum memory of all processes of a task together, in bytes; 0 = no limit"
    ),
    setting!(
        "limits.cpu_time",
        Accepts::Duration { most: Resources::MOST_CPU_TIME_MS },
        InProject::LowerNotZero,
        settings.limits.resources.cpu_time_ms,
        "maximum CPU time of all processes of a task together; 0 = no limit"
    ),
    setting!(
        "limits.cpus",
        Accepts::Cpus { least: Resources::MILLI_CPUS.0, most: Resources::MILLI_CPUS.1 },
        InProject::LowerNotZero,
        settings.limits.resources.milli_cpus,
        "maximum number of CPUs that a task may use at a time; needs cgroup v2; 0 = no limit"
    ),
    setting!(
        "limits.pids",
        Accepts::Count { least: 0, most: Resources::PIDS.1 },
        InProject::LowerNotZero,
        settings.limits.resources.pids,
        "maximum number of processes and threads of a task at a time; 0 = no limit"
    ),
    setting!(
        "wait.fallback_ms",
        Accepts::Milliseconds { least: 10, most: 60_000 },
        InProject::Nothing,
        settings.fallback_ms,
        "how often a waiter checks again if no wake-up arrives"
    ),
    setting!(
        "retention.max_age",
        Accepts::Duration { most: 3650 * DAY_MS },
        InProject::Nothing,
        settings.retention.max_age_ms,
        "how long finished tasks are kept; 0 = forever"
    ),
    setting!(
        "retention.max_tasks",
        Accepts::Count { least: 0, most: 1_000_000_000 },
        InProject::Nothing,
        settings.retention.max_tasks,
        "how many finished tasks are kept; 0 = all"
    ),
    setting!(
        "retention.max_disk",
        Accepts::Size { least: 1 << 10, most: 1 << 50 },
        InProject::Nothing,
        settings.retention.max_disk,
        "maximum disk space of all finished tasks together, in bytes; 0 = no limit"
    ),
    setting!(
        "retention.automatic",
        Accepts::Flag,
        InProject::Nothing,
        settings.retention.automatic,
        "whether expired tasks are removed once an hour; mw clear --expired removes them at any time"
    ),
    setting!(
        "redact.enabled",
        Accepts::Flag,
        InProject::TurnOn,
        settings.redact.enabled,
        "whether secrets are redacted in commands, output and notifications"
    ),
    setting!(
        "redact.patterns",
        Accepts::Patterns,
        InProject::Nothing,
        settings.redact.patterns,
        "patterns of further secrets to redact"
    ),
];
