//! The settings of agents: those that are asked, and our own.

use super::accepts::Accepts;
use super::knob::{InProject, Knob, knob};
use super::knobs::{DAY_MS, HOUR_MS, MOST_RUNNING};

pub(super) const SUBAGENT_MAX_RUNNING: Knob = knob!(
    "subagent.max_running",
    Accepts::Count { least: 1, most: MOST_RUNNING },
    InProject::Lower,
    settings.queue.max_agents,
    "number of subagents that a session may run at a time; they do not count as other tasks"
);

pub(super) const SUBAGENT_MAX_DEPTH: Knob = knob!(
    "subagent.max_depth",
    Accepts::Count { least: 0, most: 16 },
    InProject::Lower,
    agents.max_depth,
    "how deeply subagents may be nested; 0 = no subagents"
);

pub(super) const SUBAGENT_CANCEL_MS: Knob = knob!(
    "subagent.cancel_ms",
    Accepts::Milliseconds { least: 0, most: HOUR_MS },
    InProject::Lower,
    agents.cancel_ms,
    "how long an agent may take to end its turn after a cancel request before it is killed"
);

pub(super) const SUBAGENT_SILENCE: Knob = knob!(
    "subagent.silence",
    Accepts::Duration { most: DAY_MS },
    InProject::LowerNotZero,
    agents.silence_ms,
    "how long an agent must be silent to count as stalled; 0 = never"
);

pub(super) const SUBAGENT_LINGER: Knob = knob!(
    "subagent.linger",
    Accepts::Duration { most: DAY_MS },
    InProject::Lower,
    agents.linger_ms,
    "how long an agent that cannot reload its session is kept running for a follow-up; 0 = not at all"
);

pub(super) const SUBAGENT_DEFAULT: Knob = knob!(
    "subagent.default",
    Accepts::Line,
    InProject::Nothing,
    agents.default,
    "the default agent; empty = the first of [agents.NAME], else the first one found"
);

pub(super) const NOTICES_BATCH: Knob = knob!(
    "notices.batch",
    Accepts::Flag,
    InProject::Nothing,
    settings.batch_notices,
    "whether the end of a batch gets a notification, in addition to the ends of its tasks"
);

pub(super) const AGENT_MODEL: Knob = knob!(
    "agent.model",
    Accepts::Line,
    InProject::Nothing,
    agent.model,
    "the model of mw acp: openai/NAME, anthropic/NAME or ollama/NAME; see docs/acp.md"
);

pub(super) const AGENT_BASE_URL: Knob = knob!(
    "agent.base_url",
    Accepts::Line,
    InProject::Nothing,
    agent.base_url,
    "base URL of the model; default: its variable (OPENAI_BASE_URL, …)"
);

pub(super) const AGENT_KEY_FILE: Knob = knob!(
    "agent.key_file",
    Accepts::Line,
    InProject::Nothing,
    agent.key_file,
    "file that holds the API key; default: its variable (OPENAI_API_KEY, …)"
);

pub(super) const AGENT_CONTEXT_TOKENS: Knob = knob!(
    "agent.context_tokens",
    Accepts::Count { least: 1000, most: 100_000_000 },
    InProject::Lower,
    agent.context_tokens,
    "context window of the model in tokens; the beginning of a longer conversation is summarised"
);

pub(super) const AGENT_MAX_REQUESTS: Knob = knob!(
    "agent.max_requests",
    Accepts::Count { least: 1, most: 10_000 },
    InProject::Lower,
    agent.max_requests,
    "maximum number of requests to the model in one turn"
);

pub(super) const AGENT_MAX_CALLS: Knob = knob!(
    "agent.max_calls",
    Accepts::Count { least: 1, most: 100_000 },
    InProject::Lower,
    agent.max_calls,
    "maximum number of tool calls in one turn; a background task counts once, at its start"
);

pub(super) const AGENT_SILENCE_MS: Knob = knob!(
    "agent.silence_ms",
    Accepts::Milliseconds { least: 100, most: HOUR_MS },
    InProject::Lower,
    agent.silence_ms,
    "how long the model may be silent in the middle of an answer before the request fails"
);
