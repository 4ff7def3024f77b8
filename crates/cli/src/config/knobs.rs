//! Every setting.

use std::time::Duration;

use meanwhile::model::policy::Mode;
use meanwhile::model::{PromptPatterns, Resources};
use meanwhile::{AtCapacity, SecretPattern};

use super::accepts::{Accepts, Value};
use super::agent_knobs;
use super::chat_knobs;
use super::knob::{InProject, Knob, limit, optional, some_limit, some_text};
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
pub(crate) static KNOBS: [Knob; 60] = [
    Knob {
        name: "profile",
        variable: "MEANWHILE_PROFILE",
        help: "whose figures are the defaults, and whose names for settings are understood",
        accepts: Accepts::Word(&profile::NAMES),
        in_project: InProject::Nothing,
        get: |c| Value::Text(c.profile.name.to_owned()),
        set: |c, value| c.profile = profile::named(value.as_text()),
    },
    Knob {
        name: "mode",
        variable: "MEANWHILE_MODE",
        help: "how much is asked about before something runs: see docs/approval.md",
        accepts: Accepts::Word(&["safe", "auto", "plan", "ci", "dangerous"]),
        in_project: InProject::Rank(&[
            ("dangerous", 0),
            ("auto", 1),
            ("safe", 2),
            // Each of these allows something that the other does not.
            ("plan", 3),
            ("ci", 3),
        ]),
        get: |c| Value::Text(c.policy.mode.name().to_owned()),
        set: |c, value| c.policy.mode = Mode::named(value.as_text()).unwrap_or_default(),
    },
    Knob {
        name: "queue.max_running",
        variable: "MEANWHILE_QUEUE_MAX_RUNNING",
        help: "tasks a session may run at a time",
        accepts: Accepts::Count { least: 1, most: MOST_RUNNING },
        in_project: InProject::Lower,
        get: |c| Value::Number(c.settings.queue.max_running.into()),
        set: |c, value| c.settings.queue.max_running = value.small(),
    },
    Knob {
        name: "queue.max_running_total",
        variable: "MEANWHILE_QUEUE_MAX_RUNNING_TOTAL",
        help: "tasks that may run at a time in all sessions together; 0 = no limit",
        accepts: Accepts::Count { least: 0, most: 100_000 },
        in_project: InProject::LowerNotZero,
        get: |c| Value::Number(c.settings.queue.max_running_total.into()),
        set: |c, value| c.settings.queue.max_running_total = value.small(),
    },
    Knob {
        name: "queue.at_capacity",
        variable: "MEANWHILE_QUEUE_AT_CAPACITY",
        help: "what a start does when no slot is free: wait in the queue, or be refused",
        accepts: Accepts::Word(&["queue", "reject"]),
        in_project: InProject::Choose("reject"),
        get: |c| {
            let word = match c.settings.queue.at_capacity {
                AtCapacity::Queue => "queue",
                AtCapacity::Reject => "reject",
            };
            Value::Text(word.to_owned())
        },
        set: |c, value| {
            c.settings.queue.at_capacity = at_capacity(value.as_text()).unwrap_or_default();
        },
    },
    Knob {
        name: "output.cap",
        variable: "MEANWHILE_OUTPUT_CAP",
        help: "most bytes a task's log may hold; 0 = no cap",
        accepts: CAP,
        in_project: InProject::LowerNotZero,
        get: |c| Value::Number(c.settings.limits.output_cap),
        set: |c, value| c.settings.limits.output_cap = value.number(),
    },
    Knob {
        name: "output.log_header",
        variable: "MEANWHILE_OUTPUT_LOG_HEADER",
        help: "whether logs begin with lines that name the task",
        accepts: Accepts::Flag,
        in_project: InProject::TurnOn,
        get: |c| Value::Flag(c.settings.log_header),
        set: |c, value| c.settings.log_header = value.is_on(),
    },
    Knob {
        name: "stall.ms",
        variable: "MEANWHILE_STALL_MS",
        help: "silence behind a prompt that counts as a stall; 0 = off",
        accepts: STALL,
        in_project: InProject::LowerNotZero,
        get: |c| Value::Number(c.settings.limits.stall_ms),
        set: |c, value| c.settings.limits.stall_ms = value.number(),
    },
    Knob {
        name: "stall.patterns",
        variable: "MEANWHILE_STALL_PATTERNS",
        help: "what a prompt looks like: the whole last line, case ignored, where * stands for anything",
        accepts: Accepts::Lines,
        in_project: InProject::Nothing,
        get: |c| Value::List(c.settings.limits.prompts.0.clone()),
        set: |c, value| c.settings.limits.prompts = PromptPatterns(value.items().to_vec()),
    },
    Knob {
        name: "kill.grace_ms",
        variable: "MEANWHILE_KILL_GRACE_MS",
        help: "time between the asked-for signal and SIGKILL",
        accepts: Accepts::Milliseconds { least: 0, most: HOUR_MS },
        in_project: InProject::Lower,
        get: |c| Value::Number(c.settings.limits.kill_grace_ms),
        set: |c, value| c.settings.limits.kill_grace_ms = value.number(),
    },
    Knob {
        name: "kill.timeout_grace_ms",
        variable: "MEANWHILE_KILL_TIMEOUT_GRACE_MS",
        help: "the same after a time limit",
        accepts: Accepts::Milliseconds { least: 0, most: HOUR_MS },
        in_project: InProject::Lower,
        get: |c| Value::Number(c.settings.limits.timeout_grace_ms),
        set: |c, value| c.settings.limits.timeout_grace_ms = value.number(),
    },
    Knob {
        name: "session.grace_ms",
        variable: "MEANWHILE_SESSION_GRACE_MS",
        help: "time in which a session whose host was killed can be taken up again before its tasks end",
        accepts: Accepts::Milliseconds { least: 0, most: DAY_MS },
        in_project: InProject::Lower,
        get: |c| Value::Number(c.settings.session_grace_ms),
        set: |c, value| c.settings.session_grace_ms = value.number(),
    },
    Knob {
        name: "session.kill_tasks",
        variable: "MEANWHILE_SESSION_KILL_TASKS",
        help: "whether tasks end with their session unless they ask to outlive it",
        accepts: Accepts::Flag,
        in_project: InProject::TurnOn,
        get: |c| Value::Flag(c.kill_tasks),
        set: |c, value| c.kill_tasks = value.is_on(),
    },
    Knob {
        name: "run.timeout",
        variable: "MEANWHILE_RUN_TIMEOUT",
        help: "time limit of tasks that are given none; 0 = none",
        accepts: Accepts::Duration { most: 365 * DAY_MS },
        in_project: InProject::LowerNotZero,
        get: |c| Value::Number(c.settings.limits.run_timeout_ms.unwrap_or(0)),
        set: |c, value| {
            c.settings.limits.run_timeout_ms = Some(value.number()).filter(|ms| *ms > 0);
        },
    },
    Knob {
        name: "run.shell",
        variable: "MEANWHILE_RUN_SHELL",
        help: "shell for scripts",
        accepts: Accepts::Program,
        in_project: InProject::Nothing,
        get: |c| Value::Text(c.shell.clone()),
        set: |c, value| value.as_text().clone_into(&mut c.shell),
    },
    Knob {
        name: "limits.memory",
        variable: "MEANWHILE_LIMITS_MEMORY",
        help: "most bytes of memory that all processes of a task may hold together; 0 = no limit",
        accepts: Accepts::Size { least: Resources::MEMORY.0, most: Resources::MEMORY.1 },
        in_project: InProject::LowerNotZero,
        get: |c| limit(c.settings.limits.resources.memory),
        set: |c, value| c.settings.limits.resources.memory = some_limit(value),
    },
    Knob {
        name: "limits.cpu_time",
        variable: "MEANWHILE_LIMITS_CPU_TIME",
        help: "most processor time that all processes of a task may use together; 0 = no limit",
        accepts: Accepts::Duration { most: Resources::MOST_CPU_TIME_MS },
        in_project: InProject::LowerNotZero,
        get: |c| limit(c.settings.limits.resources.cpu_time_ms),
        set: |c, value| c.settings.limits.resources.cpu_time_ms = some_limit(value),
    },
    Knob {
        name: "limits.cpus",
        variable: "MEANWHILE_LIMITS_CPUS",
        help: "most processors that a task may keep busy at a time, where cgroup v2 can hold that; 0 = no limit",
        accepts: Accepts::Cpus { least: Resources::MILLI_CPUS.0, most: Resources::MILLI_CPUS.1 },
        in_project: InProject::LowerNotZero,
        get: |c| limit(c.settings.limits.resources.milli_cpus),
        set: |c, value| c.settings.limits.resources.milli_cpus = some_limit(value),
    },
    Knob {
        name: "limits.pids",
        variable: "MEANWHILE_LIMITS_PIDS",
        help: "most processes and threads that a task may have at a time; 0 = no limit",
        accepts: Accepts::Count { least: 0, most: Resources::PIDS.1 },
        in_project: InProject::LowerNotZero,
        get: |c| limit(c.settings.limits.resources.pids),
        set: |c, value| c.settings.limits.resources.pids = some_limit(value),
    },
    Knob {
        name: "wait.fallback_ms",
        variable: "MEANWHILE_WAIT_FALLBACK_MS",
        help: "longest time between two looks of a waiter that heard nothing",
        accepts: Accepts::Milliseconds { least: 10, most: 60_000 },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.settings.fallback_ms),
        set: |c, value| c.settings.fallback_ms = value.number(),
    },
    Knob {
        name: "retention.max_age",
        variable: "MEANWHILE_RETENTION_MAX_AGE",
        help: "how long finished tasks are kept; 0 = for ever",
        accepts: Accepts::Duration { most: 3650 * DAY_MS },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.settings.retention.max_age_ms),
        set: |c, value| c.settings.retention.max_age_ms = value.number(),
    },
    Knob {
        name: "retention.max_tasks",
        variable: "MEANWHILE_RETENTION_MAX_TASKS",
        help: "how many finished tasks are kept; 0 = all",
        accepts: Accepts::Count { least: 0, most: 1_000_000_000 },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.settings.retention.max_tasks),
        set: |c, value| c.settings.retention.max_tasks = value.number(),
    },
    Knob {
        name: "retention.max_disk",
        variable: "MEANWHILE_RETENTION_MAX_DISK",
        help: "how many bytes finished tasks may take together; 0 = no limit",
        accepts: Accepts::Size { least: 1 << 10, most: 1 << 50 },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.settings.retention.max_disk),
        set: |c, value| c.settings.retention.max_disk = value.number(),
    },
    Knob {
        name: "retention.automatic",
        variable: "MEANWHILE_RETENTION_AUTOMATIC",
        help: "whether that is seen to once an hour; mw clear --expired does it at any time",
        accepts: Accepts::Flag,
        in_project: InProject::Nothing,
        get: |c| Value::Flag(c.settings.retention.automatic),
        set: |c, value| c.settings.retention.automatic = value.is_on(),
    },
    Knob {
        name: "redact.enabled",
        variable: "MEANWHILE_REDACT_ENABLED",
        help: "whether secrets are hidden where commands, output and news are shown",
        accepts: Accepts::Flag,
        in_project: InProject::TurnOn,
        get: |c| Value::Flag(c.settings.redact.enabled),
        set: |c, value| c.settings.redact.enabled = value.is_on(),
    },
    Knob {
        name: "redact.patterns",
        variable: "MEANWHILE_REDACT_PATTERNS",
        help: "what else is hidden, beside that which is known to be secret",
        accepts: Accepts::Patterns,
        in_project: InProject::Nothing,
        get: |c| {
            let patterns = c.settings.redact.patterns.iter();
            Value::List(patterns.map(|pattern| pattern.as_str().to_owned()).collect())
        },
        set: |c, value| {
            let patterns = value.items().iter().filter_map(|item| SecretPattern::new(item).ok());
            c.settings.redact.patterns = patterns.collect();
        },
    },
    Knob {
        name: "hooks.start",
        variable: "MEANWHILE_HOOKS_START",
        help: "run when a task has started; told of it as JSON on standard input",
        accepts: Accepts::Line,
        in_project: InProject::Nothing,
        get: |c| optional(c.settings.hooks.start.as_ref()),
        set: |c, value| c.settings.hooks.start = some_text(value),
    },
    Knob {
        name: "hooks.exit",
        variable: "MEANWHILE_HOOKS_EXIT",
        help: "run when a run has ended",
        accepts: Accepts::Line,
        in_project: InProject::Nothing,
        get: |c| optional(c.settings.hooks.exit.as_ref()),
        set: |c, value| c.settings.hooks.exit = some_text(value),
    },
    Knob {
        name: "hooks.stall",
        variable: "MEANWHILE_HOOKS_STALL",
        help: "run when a task is silent behind a prompt",
        accepts: Accepts::Line,
        in_project: InProject::Nothing,
        get: |c| optional(c.settings.hooks.stall.as_ref()),
        set: |c, value| c.settings.hooks.stall = some_text(value),
    },
    Knob {
        name: "hooks.ready",
        variable: "MEANWHILE_HOOKS_READY",
        help: "run when a task is ready",
        accepts: Accepts::Line,
        in_project: InProject::Nothing,
        get: |c| optional(c.settings.hooks.ready.as_ref()),
        set: |c, value| c.settings.hooks.ready = some_text(value),
    },
    Knob {
        name: "hooks.reassign",
        variable: "MEANWHILE_HOOKS_REASSIGN",
        help: "run when a task passes to another session",
        accepts: Accepts::Line,
        in_project: InProject::Nothing,
        get: |c| optional(c.settings.hooks.reassign.as_ref()),
        set: |c, value| c.settings.hooks.reassign = some_text(value),
    },
    Knob {
        name: "hooks.webhook",
        variable: "MEANWHILE_HOOKS_WEBHOOK",
        help: "where every start, end, stall and readiness is posted to as JSON",
        accepts: Accepts::Line,
        in_project: InProject::Nothing,
        get: |c| optional(c.settings.hooks.webhook.as_ref()),
        set: |c, value| c.settings.hooks.webhook = some_text(value),
    },
    Knob {
        name: "hooks.desktop",
        variable: "MEANWHILE_HOOKS_DESKTOP",
        help: "show ends, stalls and readiness on the desktop",
        accepts: Accepts::Flag,
        in_project: InProject::Nothing,
        get: |c| Value::Flag(c.settings.hooks.desktop),
        set: |c, value| c.settings.hooks.desktop = value.is_on(),
    },
    Knob {
        name: "hooks.timeout_ms",
        variable: "MEANWHILE_HOOKS_TIMEOUT_MS",
        help: "how long one hook may take",
        accepts: Accepts::Milliseconds { least: 1, most: HOUR_MS },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.settings.hooks.timeout_ms),
        set: |c, value| c.settings.hooks.timeout_ms = value.number(),
    },
    Knob {
        name: "tools.reply_bytes",
        variable: "MEANWHILE_TOOLS_REPLY_BYTES",
        help: "bytes of output in one reply to a model",
        accepts: Accepts::Size { least: 256, most: 1 << 20 },
        in_project: InProject::Lower,
        get: |c| Value::Number(c.tools.reply_bytes),
        set: |c, value| c.tools.reply_bytes = value.number(),
    },
    Knob {
        name: "tools.stream_bytes",
        variable: "MEANWHILE_TOOLS_STREAM_BYTES",
        help: "how many of the last bytes of each stream bg_output looks at, from a line's beginning on; 0 = all",
        accepts: STREAM_BYTES,
        in_project: InProject::LowerNotZero,
        get: |c| Value::Number(c.tools.stream_bytes),
        set: |c, value| c.tools.stream_bytes = value.number(),
    },
    Knob {
        name: "tools.longest_call",
        variable: "MEANWHILE_TOOLS_LONGEST_CALL",
        help: "how long one call of a tool may block; hosts give up at 300 s",
        accepts: Accepts::Duration { most: 240_000 },
        in_project: InProject::Lower,
        get: |c| Value::Number(c.tools.longest_call_ms),
        set: |c, value| c.tools.longest_call_ms = value.number(),
    },
    Knob {
        name: "tools.wait",
        variable: "MEANWHILE_TOOLS_WAIT",
        help: "how long a call waits for the end of a task that is given no time; schemas show it",
        accepts: Accepts::Duration { most: 600_000 },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.tools.wait_ms),
        set: |c, value| c.tools.wait_ms = value.number(),
    },
    Knob {
        name: "tools.no_background",
        variable: "MEANWHILE_TOOLS_NO_BACKGROUND",
        help: "whether models are offered no background work at all",
        accepts: Accepts::Flag,
        in_project: InProject::TurnOn,
        get: |c| Value::Flag(c.tools.no_background),
        set: |c, value| c.tools.no_background = value.is_on(),
    },
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
    Knob {
        name: "policy.ci_reads",
        variable: "MEANWHILE_POLICY_CI_READS",
        help: "whether tools that only look are allowed in mode ci",
        accepts: Accepts::Flag,
        in_project: InProject::Nothing,
        get: |c| Value::Flag(c.policy.ci_reads),
        set: |c, value| c.policy.ci_reads = value.is_on(),
    },
    Knob {
        name: "policy.writable",
        variable: "MEANWHILE_POLICY_WRITABLE",
        help: "directories besides the project that commands may write to without being asked about",
        accepts: Accepts::Lines,
        in_project: InProject::Nothing,
        get: |c| Value::List(c.policy.writable.clone()),
        set: |c, value| c.policy.writable = value.items().to_vec(),
    },
    agent_knobs::AGENT_MODEL,
    agent_knobs::AGENT_BASE_URL,
    agent_knobs::AGENT_KEY_FILE,
    agent_knobs::AGENT_CONTEXT_TOKENS,
    agent_knobs::AGENT_MAX_REQUESTS,
    agent_knobs::AGENT_MAX_CALLS,
    agent_knobs::AGENT_SILENCE_MS,
    Knob {
        name: "approval.wait",
        variable: "MEANWHILE_APPROVAL_WAIT",
        help: "how long a call waits for somebody to approve it where nobody is known to be there",
        accepts: Accepts::Duration { most: DAY_MS },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.policy.patience.wait.as_millis() as u64),
        set: |c, value| c.policy.patience.wait = Duration::from_millis(value.number()),
    },
    Knob {
        name: "approval.keep",
        variable: "MEANWHILE_APPROVAL_KEEP",
        help: "how long a question may still be answered and an approval be used after the call has gone",
        accepts: Accepts::Duration { most: DAY_MS },
        in_project: InProject::Nothing,
        get: |c| Value::Number(c.policy.patience.keep.as_millis() as u64),
        set: |c, value| c.policy.patience.keep = Duration::from_millis(value.number()),
    },
];

/// Returns the setting of that name.
pub(super) fn find(name: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.name == name)
}

/// Reads what to do when no slot is free.
pub(crate) fn at_capacity(text: &str) -> Result<AtCapacity, String> {
    match text {
        "queue" => Ok(AtCapacity::Queue),
        "reject" => Ok(AtCapacity::Reject),
        _ => Err(format!("{text:?} is neither queue nor reject")),
    }
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
