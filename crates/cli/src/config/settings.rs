//! Every setting: its name, the field that holds its value, what it accepts, what a project file may do to it, and its
//! meaning.

use meanwhile::model::Resources;
use meanwhile::policy::Mode;
use mw_tools::call::LONGEST_CALL_MS;

use super::accepts::Accepts::{
    self, Count, Cpus, Duration, Flag, Line, Lines, Milliseconds, Patterns, Program, Size, Word,
};
use super::definition::InProject::{Choose, Lower, LowerNotZero, Nothing, Rank, TurnOn};
use super::definition::Setting;
use super::field::Field;
use super::profile;
use crate::arguments::confine::CONFINE_RANKS;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// The maximum of running tasks of a session.
pub(super) const MAX_RUNNING: u64 = 10_000;
/// The size of a log.
pub(super) const CAP: Accepts = Size(512..=1 << 40);
/// How much of a stream is read.
pub(super) const STREAM_BYTES: Accepts = Size(1024..=1 << 40);
/// The silence before a stall.
pub(super) const STALL: Accepts = Milliseconds(0..=DAY_MS);
const MODES: [Mode; 5] = [Mode::Safe, Mode::Auto, Mode::Plan, Mode::Ci, Mode::Dangerous];
const MODE_NAMES: [&str; 5] = {
    let mut names = [""; 5];
    let mut at = 0;
    while at < MODES.len() {
        names[at] = MODES[at].name();
        at += 1;
    }
    names
};
/// The approval modes with their strictness.
const MODE_RANKS: [(&str, u8); 5] = {
    let mut ranks = [("", 0); 5];
    let mut at = 0;
    while at < MODES.len() {
        ranks[at] = (MODES[at].name(), MODES[at].strictness());
        at += 1;
    }
    ranks
};

const CONFINE_NAMES: [&str; 3] = [CONFINE_RANKS[0].0, CONFINE_RANKS[1].0, CONFINE_RANKS[2].0];

/// The words for the colours of a screen.
pub(crate) const THEMES: [&str; 5] = ["auto", "dark", "light", "16", "none"];

macro_rules! settings {
    ($($name:literal => $($field:tt).+, $accepts:expr, $in_project:expr, $help:literal;)+) => {
        /// All settings, in the order of the default file. The type of a field says how it is read and shown.
        static SETTINGS: &[Setting] = &[$(Setting {
            name: $name,
            help: $help,
            accepts: $accepts,
            in_project: $in_project,
            get: |config| Field::value(&config.$($field).+),
            set: |config, value| Field::take(&mut config.$($field).+, value),
        }),+];
    };
}

settings! {
    // Everything.
    "profile" => profile, Word(&profile::NAMES), Nothing,
        "the dialect whose defaults and names for settings apply";
    "mode" => policy.mode, Word(&MODE_NAMES), Rank(&MODE_RANKS),
        "which commands need approval before they run; see docs/approval.md";
    "theme" => theme, Word(&THEMES), Nothing,
        "colours of mw top and mw chat: auto (detected from the terminal), dark, light, 16 or none; NO_COLOR overrides it";
    // Tasks: the queue, limits, output, ends and removal.
    "queue.max_running" => settings.queue.max_running, Count(1..=MAX_RUNNING), Lower,
        "number of tasks that a session may run at a time";
    "queue.max_running_total" => settings.queue.max_running_total, Count(0..=100_000), LowerNotZero,
        "number of tasks that all sessions together may run at a time; 0 = no limit";
    "queue.at_capacity" => settings.queue.at_capacity, Word(&["queue", "reject"]), Choose("reject"),
        "what a start does when no slot is free: queue the task or reject it";
    "output.cap" => settings.limits.output_cap, CAP, LowerNotZero,
        "maximum size of a task's log in bytes; 0 = no cap";
    "output.log_header" => settings.log_header, Flag, TurnOn,
        "whether logs begin with a header that names the task";
    "stall.ms" => settings.limits.stall_ms, STALL, LowerNotZero,
        "how long a task must be silent after a prompt to count as stalled; 0 = off";
    "stall.patterns" => settings.limits.prompts.0, Lines, Nothing,
        "patterns of a prompt, matched against the whole last line, ignoring case; * matches anything";
    "kill.grace_ms" => settings.limits.kill_grace_ms, Milliseconds(0..=HOUR_MS), Lower,
        "grace period between the first signal and SIGKILL";
    "kill.timeout_grace_ms" => settings.limits.timeout_grace_ms, Milliseconds(0..=HOUR_MS), Lower,
        "grace period between SIGTERM and SIGKILL after a time limit";
    "session.grace_ms" => settings.session_grace, Milliseconds(0..=DAY_MS), Lower,
        "how long the tasks of a session keep running after its host was killed, unless another host takes over";
    "session.end" => session_end, Word(&["keep", "kill"]), Choose("kill"),
        "what happens to the tasks of a session when its MCP client disconnects: keep them running, or kill them after session.grace_ms unless a client reconnects";
    "session.kill_tasks" => kill_tasks, Flag, TurnOn,
        "whether tasks end with their session by default";
    "run.timeout" => settings.limits.run_timeout_ms, Duration(365 * DAY_MS), LowerNotZero,
        "default time limit of a task; 0 = none";
    "run.shell" => shell, Program, Nothing,
        "shell for scripts";
    "limits.memory" => settings.limits.resources.memory,
        Size(Resources::MEMORY.0..=Resources::MEMORY.1), LowerNotZero,
        "maximum memory of all processes of a task together, in bytes; 0 = no limit";
    "limits.cpu_time" => settings.limits.resources.cpu_time_ms,
        Duration(Resources::MAX_CPU_TIME_MS), LowerNotZero,
        "maximum CPU time of all processes of a task together; 0 = no limit";
    "limits.cpus" => settings.limits.resources.milli_cpus,
        Cpus(Resources::MILLI_CPUS.0..=Resources::MILLI_CPUS.1), LowerNotZero,
        "maximum number of CPUs that a task may use at a time; needs cgroup v2; 0 = no limit";
    "limits.pids" => settings.limits.resources.pids, Count(0..=Resources::PIDS.1), LowerNotZero,
        "maximum number of processes and threads of a task at a time; 0 = no limit";
    "confine.user" => confine_user, Word(&CONFINE_NAMES), Rank(&CONFINE_RANKS),
        "what tasks that you start may change, unless --confine is given: none (no confinement), project or read-only";
    "confine.models" => confine_models, Flag, TurnOn,
        "whether commands of models are confined to what was judged or approved; see docs/security.md";
    "wait.fallback_ms" => settings.wait_fallback, Milliseconds(10..=60_000), Nothing,
        "how often a waiter checks again if no wake-up arrives";
    "wait.notify_after" => notify_after_ms, Duration(DAY_MS), Nothing,
        "mw wait in a terminal shows a notification if it has lasted this long; 0 = only with --notify";
    "retention.max_age" => settings.retention.max_age, Duration(3650 * DAY_MS), Nothing,
        "how long finished tasks are kept; 0 = forever";
    "retention.max_tasks" => settings.retention.max_tasks, Count(0..=1_000_000_000), Nothing,
        "how many finished tasks are kept; 0 = all";
    "retention.max_disk" => settings.retention.max_disk, Size(1 << 10..=1 << 50), Nothing,
        "maximum disk space of all finished tasks together, in bytes; 0 = no limit";
    "retention.automatic" => settings.retention.automatic, Flag, Nothing,
        "whether expired tasks are removed once an hour; mw clear --expired removes them at any time";
    "redact.enabled" => settings.redact.enabled, Flag, TurnOn,
        "whether secrets are redacted in commands, output and notifications";
    "redact.patterns" => settings.redact.patterns, Patterns, Nothing,
        "patterns of further secrets to redact";
    // Notifications and hooks.
    "hooks.before" => settings.hooks.before, Line, Nothing,
        "command to run before each run of a task; unless it exits with 0, the run does not start";
    "hooks.start" => settings.hooks.start, Line, Nothing,
        "command to run when a task has started; it gets the event as JSON on standard input";
    "hooks.exit" => settings.hooks.exit, Line, Nothing,
        "command to run when a run has ended";
    "hooks.stall" => settings.hooks.stall, Line, Nothing,
        "command to run when a task is stalled";
    "hooks.ready" => settings.hooks.ready, Line, Nothing,
        "command to run when a task is ready";
    "hooks.reassign" => settings.hooks.reassign, Line, Nothing,
        "command to run when a task is moved to another session";
    "hooks.webhook" => settings.hooks.webhook, Line, Nothing,
        "URL to which every start, end, stall and readiness is posted as JSON";
    "hooks.desktop" => settings.hooks.desktop, Flag, Nothing,
        "whether to show a desktop notification for every end, stall and readiness";
    "hooks.timeout_ms" => settings.hooks.timeout, Milliseconds(1..=HOUR_MS), Nothing,
        "time limit of one hook";
    "notices.batch" => settings.batch_notices, Flag, Nothing,
        "whether the end of a batch gets a notification, in addition to the ends of its tasks";
    // Tool calls and the chat.
    "tools.reply_bytes" => tools.reply_bytes, Size(256..=1 << 20), Lower,
        "maximum output in one reply to a model, in bytes";
    "tools.stream_bytes" => tools.stream_bytes, STREAM_BYTES, LowerNotZero,
        "maximum number of bytes at the end of each stream that bg_output reads, beginning with a whole line; 0 = all";
    "tools.longest_call" => tools.longest_call_ms, Duration(LONGEST_CALL_MS), Lower,
        "how long one tool call may block; some hosts give up after 300 s";
    "tools.wait" => tools.wait_ms, Duration(600_000), Nothing,
        "default time that a tool call waits for the end of a task; shown in the schemas";
    "tools.no_background" => tools.no_background, Flag, TurnOn,
        "whether to hide background tasks from models";
    "tools.notices" => tools.notices, Flag, Nothing,
        "whether tool replies begin with undelivered notifications; turn it off if the host delivers them";
    "chat.auto_wake" => chat.auto_wake, Flag, Nothing,
        "whether mw chat delivers notifications to an idle agent at once; otherwise with your next message";
    "chat.layout" => chat.layout, Word(&["auto", "plain", "boxed", "table"]), Nothing,
        "how mw chat draws tasks: plain, boxed, table, or auto (the layout of the profile)";
    // Subagents and the built-in agent.
    "subagent.max_running" => settings.queue.max_agents, Count(1..=MAX_RUNNING), Lower,
        "number of subagents that a session may run at a time; they do not count as other tasks";
    "subagent.max_depth" => agents.max_depth, Count(0..=16), Lower,
        "how deeply subagents may be nested; 0 = no subagents";
    "subagent.cancel_ms" => agents.cancel_ms, Milliseconds(0..=HOUR_MS), Lower,
        "how long an agent may take to end its turn after a cancel request before it is killed";
    "subagent.silence" => agents.silence_ms, Duration(DAY_MS), LowerNotZero,
        "how long an agent must be silent to count as stalled; 0 = never";
    "subagent.linger" => agents.linger_ms, Duration(DAY_MS), Lower,
        "how long an agent that cannot reload its session is kept running for a follow-up; 0 = not at all";
    "subagent.default" => agents.default, Line, Nothing,
        "the default agent; empty = the first of [agents.NAME], else the first one found";
    "agent.model" => agent.model, Line, Nothing,
        "the model of mw acp: openai/NAME, anthropic/NAME or ollama/NAME; see docs/acp.md";
    "agent.base_url" => agent.base_url, Line, Nothing,
        "base URL of the model; default: its variable (OPENAI_BASE_URL, …)";
    "agent.key_file" => agent.key_file, Line, Nothing,
        "file that holds the API key; default: its variable (OPENAI_API_KEY, …)";
    "agent.context_tokens" => agent.context_tokens, Count(1000..=100_000_000), Lower,
        "context window of the model in tokens; the beginning of a longer conversation is summarised";
    "agent.max_requests" => agent.max_requests, Count(1..=10_000), Lower,
        "maximum number of requests to the model in one turn";
    "agent.max_calls" => agent.max_calls, Count(1..=100_000), Lower,
        "maximum number of tool calls in one turn; a background task counts once, at its start";
    "agent.silence_ms" => agent.silence_ms, Milliseconds(100..=HOUR_MS), Lower,
        "how long the model may be silent in the middle of an answer before the request fails";
    // The policy and approval requests.
    "policy.ci_reads" => policy.ci_reads, Flag, Nothing,
        "whether read-only tools are allowed in mode ci";
    "policy.writable" => policy.writable, Lines, Nothing,
        "directories besides the project that commands may write to without approval";
    "approval.wait" => policy.timeouts.wait, Duration(DAY_MS), Nothing,
        "how long a call waits for approval if nobody is known to be present";
    "approval.keep" => policy.timeouts.keep, Duration(DAY_MS), Nothing,
        "how long an approval request can be answered and an approval used after the call has ended";
}

/// Returns every setting.
pub(crate) fn settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter()
}

/// Returns the setting of that name.
pub(super) fn find(name: &str) -> Option<&'static Setting> {
    settings().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::Config;

    #[test]
    fn a_setting_is_found_by_its_variable() {
        for setting in settings() {
            let variable = setting.variable();
            let found: Vec<_> = settings().filter(|other| other.has_variable(&variable)).collect();
            assert_eq!(found.len(), 1, "{variable}");
            assert_eq!(found[0].name, setting.name);
        }
        assert!(find("queue.max_running").unwrap().has_variable("MEANWHILE_QUEUE_MAX_RUNNING"));
    }

    #[test]
    fn every_default_is_accepted_and_survives_being_set() {
        let mut config = Config::neutral();
        for setting in settings() {
            let before = (setting.get)(&config);
            assert_eq!(setting.accepts.read_text(&setting.accepts.text(&before)), Some(before.clone()));
            (setting.set)(&mut config, &before);
            assert_eq!((setting.get)(&config), before, "{}", setting.name);
        }
    }
}
