//! Every setting.

use meanwhile::model::Resources;

use super::accepts::Accepts;
use super::agent_knobs;
use super::chat_knobs;
use super::knob::{InProject, Knob, knob};
use super::profile;

pub(super) const HOUR_MS: u64 = 3_600_000;
pub(super) const DAY_MS: u64 = 24 * HOUR_MS;
/// Most tasks that a session may run at a time.
pub(super) const MOST_RUNNING: u64 = 10_000;
/// What a log may hold.
pub(super) const CAP: Accepts = Accepts::Size { least: 512, most: 1 << 40 };
/// What is looked at of a stream.
pub(super) const STREAM_BYTES: Accepts = Accepts::Size { least: 1024, most: 1 << 40 };
/// Silence before a stall.
pub(super) const STALL: Accepts = Accepts::Milliseconds { least: 0, most: DAY_MS };

/// Every setting, section by section.
pub(crate) static KNOBS: [Knob; 62] = [
    knob!(
        "profile",
        Accepts::Word(&profile::NAMES),
        InProject::Nothing,
        profile,
        "the dialect whose defaults and names for settings apply"
    ),
    knob!(
        "mode",
        Accepts::Word(&["safe", "auto", "plan", "ci", "dangerous"]),
        InProject::Rank(&[
            ("dangerous", 0),
            ("auto", 1),
            ("safe", 2),
            // Each of these allows something that the other does not.
            ("plan", 3),
            ("ci", 3),
        ]),
        policy.mode,
        "which commands need approval before they run; see docs/approval.md"
    ),
    chat_knobs::THEME,
    knob!(
        "queue.max_running",
        Accepts::Count { least: 1, most: MOST_RUNNING },
        InProject::Lower,
        settings.queue.max_running,
        "number of tasks that a session may run at a time"
    ),
    knob!(
        "queue.max_running_total",
        Accepts::Count { least: 0, most: 100_000 },
        InProject::LowerNotZero,
        settings.queue.max_running_total,
        "number of tasks that all sessions together may run at a time; 0 = no limit"
    ),
    knob!(
        "queue.at_capacity",
        Accepts::Word(&["queue", "reject"]),
        InProject::Choose("reject"),
        settings.queue.at_capacity,
        "what a start does when no slot is free: queue the task or reject it"
    ),
    knob!(
        "output.cap",
        CAP,
        InProject::LowerNotZero,
        settings.limits.output_cap,
        "maximum size of a task's log in bytes; 0 = no cap"
    ),
    knob!(
        "output.log_header",
        Accepts::Flag,
        InProject::TurnOn,
        settings.log_header,
        "whether logs begin with a header that names the task"
    ),
    knob!(
        "stall.ms",
        STALL,
        InProject::LowerNotZero,
        settings.limits.stall_ms,
        "how long a task must be silent after a prompt to count as stalled; 0 = off"
    ),
    knob!(
        "stall.patterns",
        Accepts::Lines,
        InProject::Nothing,
        settings.limits.prompts.0,
        "patterns of a prompt, matched against the whole last line, ignoring case; * matches anything"
    ),
    knob!(
        "kill.grace_ms",
        Accepts::Milliseconds { least: 0, most: HOUR_MS },
        InProject::Lower,
        settings.limits.kill_grace_ms,
        "grace period between the first signal and SIGKILL"
    ),
    knob!(
        "kill.timeout_grace_ms",
        Accepts::Milliseconds { least: 0, most: HOUR_MS },
        InProject::Lower,
        settings.limits.timeout_grace_ms,
        "grace period between SIGTERM and SIGKILL after a time limit"
    ),
    knob!(
        "session.grace_ms",
        Accepts::Milliseconds { least: 0, most: DAY_MS },
        InProject::Lower,
        settings.session_grace_ms,
        "how long the tasks of a session keep running after its host was killed, unless another host takes over"
    ),
    knob!(
        "session.end",
        Accepts::Word(&["keep", "kill"]),
        InProject::Choose("kill"),
        session_end,
        "what happens to the tasks of a session when its MCP client disconnects: keep them running, or kill them after session.grace_ms unless a client reconnects"
    ),
    knob!(
        "session.kill_tasks",
        Accepts::Flag,
        InProject::TurnOn,
        kill_tasks,
        "whether tasks end with their session by default"
    ),
    knob!(
        "run.timeout",
        Accepts::Duration { most: 365 * DAY_MS },
        InProject::LowerNotZero,
        settings.limits.run_timeout_ms,
        "default time limit of a task; 0 = none"
    ),
    knob!("run.shell", Accepts::Program, InProject::Nothing, shell, "shell for scripts"),
    knob!(
        "limits.memory",
        Accepts::Size { least: Resources::MEMORY.0, most: Resources::MEMORY.1 },
        InProject::LowerNotZero,
        settings.limits.resources.memory,
        "maximum memory of all processes of a task together, in bytes; 0 = no limit"
    ),
    knob!(
        "limits.cpu_time",
        Accepts::Duration { most: Resources::MOST_CPU_TIME_MS },
        InProject::LowerNotZero,
        settings.limits.resources.cpu_time_ms,
        "maximum CPU time of all processes of a task together; 0 = no limit"
    ),
    knob!(
        "limits.cpus",
        Accepts::Cpus { least: Resources::MILLI_CPUS.0, most: Resources::MILLI_CPUS.1 },
        InProject::LowerNotZero,
        settings.limits.resources.milli_cpus,
        "maximum number of CPUs that a task may use at a time; needs cgroup v2; 0 = no limit"
    ),
    knob!(
        "limits.pids",
        Accepts::Count { least: 0, most: Resources::PIDS.1 },
        InProject::LowerNotZero,
        settings.limits.resources.pids,
        "maximum number of processes and threads of a task at a time; 0 = no limit"
    ),
    knob!(
        "wait.fallback_ms",
        Accepts::Milliseconds { least: 10, most: 60_000 },
        InProject::Nothing,
        settings.fallback_ms,
        "how often a waiter checks again if no wake-up arrives"
    ),
    knob!(
        "retention.max_age",
        Accepts::Duration { most: 3650 * DAY_MS },
        InProject::Nothing,
        settings.retention.max_age_ms,
        "how long finished tasks are kept; 0 = forever"
    ),
    knob!(
        "retention.max_tasks",
        Accepts::Count { least: 0, most: 1_000_000_000 },
        InProject::Nothing,
        settings.retention.max_tasks,
        "how many finished tasks are kept; 0 = all"
    ),
    knob!(
        "retention.max_disk",
        Accepts::Size { least: 1 << 10, most: 1 << 50 },
        InProject::Nothing,
        settings.retention.max_disk,
        "maximum disk space of all finished tasks together, in bytes; 0 = no limit"
    ),
    knob!(
        "retention.automatic",
        Accepts::Flag,
        InProject::Nothing,
        settings.retention.automatic,
        "whether expired tasks are removed once an hour; mw clear --expired removes them at any time"
    ),
    knob!(
        "redact.enabled",
        Accepts::Flag,
        InProject::TurnOn,
        settings.redact.enabled,
        "whether secrets are redacted in commands, output and notifications"
    ),
    knob!(
        "redact.patterns",
        Accepts::Patterns,
        InProject::Nothing,
        settings.redact.patterns,
        "patterns of further secrets to redact"
    ),
    knob!(
        "hooks.start",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.start,
        "command to run when a task has started; it gets the event as JSON on standard input"
    ),
    knob!(
        "hooks.exit",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.exit,
        "command to run when a run has ended"
    ),
    knob!(
        "hooks.stall",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.stall,
        "command to run when a task is stalled"
    ),
    knob!(
        "hooks.ready",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.ready,
        "command to run when a task is ready"
    ),
    knob!(
        "hooks.reassign",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.reassign,
        "command to run when a task is moved to another session"
    ),
    knob!(
        "hooks.webhook",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.webhook,
        "URL to which every start, end, stall and readiness is posted as JSON"
    ),
    knob!(
        "hooks.desktop",
        Accepts::Flag,
        InProject::Nothing,
        settings.hooks.desktop,
        "whether to show a desktop notification for every end, stall and readiness"
    ),
    knob!(
        "hooks.timeout_ms",
        Accepts::Milliseconds { least: 1, most: HOUR_MS },
        InProject::Nothing,
        settings.hooks.timeout_ms,
        "time limit of one hook"
    ),
    knob!(
        "tools.reply_bytes",
        Accepts::Size { least: 256, most: 1 << 20 },
        InProject::Lower,
        tools.reply_bytes,
        "maximum output in one reply to a model, in bytes"
    ),
    knob!(
        "tools.stream_bytes",
        STREAM_BYTES,
        InProject::LowerNotZero,
        tools.stream_bytes,
        "how many of the last bytes of each stream bg_output reads, starting at a line; 0 = all"
    ),
    knob!(
        "tools.longest_call",
        Accepts::Duration { most: 240_000 },
        InProject::Lower,
        tools.longest_call_ms,
        "how long one tool call may block; hosts give up after 300 s"
    ),
    knob!(
        "tools.wait",
        Accepts::Duration { most: 600_000 },
        InProject::Nothing,
        tools.wait_ms,
        "default time that a tool call waits for the end of a task; shown in the schemas"
    ),
    knob!(
        "tools.no_background",
        Accepts::Flag,
        InProject::TurnOn,
        tools.no_background,
        "whether to offer models no background tasks"
    ),
    chat_knobs::TOOLS_NOTICES,
    chat_knobs::CHAT_AUTO_WAKE,
    chat_knobs::CHAT_LAYOUT,
    agent_knobs::SUBAGENT_MAX_RUNNING,
    agent_knobs::SUBAGENT_MAX_DEPTH,
    agent_knobs::SUBAGENT_CANCEL_MS,
    agent_knobs::SUBAGENT_SILENCE,
    agent_knobs::SUBAGENT_LINGER,
    agent_knobs::SUBAGENT_DEFAULT,
    agent_knobs::NOTICES_BATCH,
    knob!(
        "policy.ci_reads",
        Accepts::Flag,
        InProject::Nothing,
        policy.ci_reads,
        "whether read-only tools are allowed in mode ci"
    ),
    knob!(
        "policy.writable",
        Accepts::Lines,
        InProject::Nothing,
        policy.writable,
        "directories besides the project that commands may write to without approval"
    ),
    agent_knobs::AGENT_MODEL,
    agent_knobs::AGENT_BASE_URL,
    agent_knobs::AGENT_KEY_FILE,
    agent_knobs::AGENT_CONTEXT_TOKENS,
    agent_knobs::AGENT_MAX_REQUESTS,
    agent_knobs::AGENT_MAX_CALLS,
    agent_knobs::AGENT_SILENCE_MS,
    knob!(
        "approval.wait",
        Accepts::Duration { most: DAY_MS },
        InProject::Nothing,
        policy.patience.wait,
        "how long a call waits for approval if nobody is known to be present"
    ),
    knob!(
        "approval.keep",
        Accepts::Duration { most: DAY_MS },
        InProject::Nothing,
        policy.patience.keep,
        "how long an approval request can be answered and an approval used after the call has ended"
    ),
];

/// Returns the setting of that name.
pub(super) fn find(name: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::Config;

    #[test]
    fn variables_are_named_after_their_settings() {
        for knob in &KNOBS {
            let name = format!("MEANWHILE_{}", knob.name.to_uppercase().replace('.', "_"));
            assert_eq!(knob.variable, name);
        }
    }

    #[test]
    fn every_default_is_accepted_and_survives_being_set() {
        let mut config = Config::neutral();
        for knob in &KNOBS {
            let before = (knob.get)(&config);
            assert_eq!(knob.accepts.read_text(&knob.accepts.text(&before)), Some(before.clone()));
            (knob.set)(&mut config, &before);
            assert_eq!((knob.get)(&config), before, "{}", knob.name);
        }
    }
}
