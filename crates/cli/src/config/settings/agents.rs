//! Settings of subagents and of the built-in agent.

use super::{DAY_MS, HOUR_MS, MOST_RUNNING};
use crate::config::accepts::Accepts;
use crate::config::setting::{InProject, Setting, setting};

pub(super) static SETTINGS: [Setting; 13] = [
    setting!(
        "subagent.max_running",
        Accepts::Count { least: 1, most: MOST_RUNNING },
        InProject::Lower,
        settings.queue.max_agents,
        "number of subagents that a session may run at a time; they do not count as other tasks"
    ),
    setting!(
        "subagent.max_depth",
        Accepts::Count { least: 0, most: 16 },
        InProject::Lower,
        agents.max_depth,
        "how deeply subagents may be nested; 0 = no subagents"
    ),
    setting!(
        "subagent.cancel_ms",
        Accepts::Milliseconds { least: 0, most: HOUR_MS },
        InProject::Lower,
        agents.cancel_ms,
        "how long an agent may take to end its turn after a cancel request before it is killed"
    ),
    setting!(
        "subagent.silence",
        Accepts::Duration { most: DAY_MS },
        InProject::LowerNotZero,
        agents.silence_ms,
        "how long an agent must be silent to count as stalled; 0 = never"
    ),
    setting!(
        "subagent.linger",
        Accepts::Duration { most: DAY_MS },
        InProject::Lower,
        agents.linger_ms,
        "how long an agent that cannot reload its session is kept running for a follow-up; 0 = not at all"
    ),
    setting!(
        "subagent.default",
        Accepts::Line,
        InProject::Nothing,
        agents.default,
        "the default agent; empty = the first of [agents.NAME], else the first one found"
    ),
    setting!(
        "agent.model",
        Accepts::Line,
        InProject::Nothing,
        agent.model,
        "the model of mw acp: openai/NAME, anthropic/NAME or ollama/NAME; see docs/acp.md"
    ),
    setting!(
        "agent.base_url",
        Accepts::Line,
        InProject::Nothing,
        agent.base_url,
        "base URL of the model; default: its variable (OPENAI_BASE_URL, …)"
    ),
    setting!(
        "agent.key_file",
        Accepts::Line,
        InProject::Nothing,
        agent.key_file,
        "file that holds the API key; default: its variable (OPENAI_API_KEY, …)"
    ),
    setting!(
        "agent.context_tokens",
        Accepts::Count { least: 1000, most: 100_000_000 },
        InProject::Lower,
        agent.context_tokens,
        "context window of the model in tokens; the beginning of a longer conversation is summarised"
    ),
    setting!(
        "agent.max_requests",
        Accepts::Count { least: 1, most: 10_000 },
        InProject::Lower,
        agent.max_requests,
        "maximum number of requests to the model in one turn"
    ),
    setting!(
        "agent.max_calls",
        Accepts::Count { least: 1, most: 100_000 },
        InProject::Lower,
        agent.max_calls,
        "maximum number of tool calls in one turn; a background task counts once, at its start"
    ),
    setting!(
        "agent.silence_ms",
        Accepts::Milliseconds { least: 100, most: HOUR_MS },
        InProject::Lower,
        agent.silence_ms,
        "how long the model may be silent in the middle of an answer before the request fails"
    ),
];
