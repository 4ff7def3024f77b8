//! The settings of agents: those that are asked, and our own.

use super::accepts::Accepts;
use super::knob::{InProject, Knob, knob};
use super::knobs::{DAY_MS, HOUR_MS, MOST_RUNNING};

pub(super) const SUBAGENT_MAX_RUNNING: Knob = knob!(
    "subagent.max_running",
    Accepts::Count { least: 1, most: MOST_RUNNING },
    InProject::Lower,
    settings.queue.max_agents,
    "subagents a session may run at a time; they do not count among its other tasks"
);

pub(super) const SUBAGENT_MAX_DEPTH: Knob = knob!(
    "subagent.max_depth",
    Accepts::Count { least: 0, most: 16 },
    InProject::Lower,
    agents.max_depth,
    "how many subagents may be above each other; 0 = no subagents at all"
);

pub(super) const SUBAGENT_CANCEL_MS: Knob = knob!(
    "subagent.cancel_ms",
    Accepts::Milliseconds { least: 0, most: HOUR_MS },
    InProject::Lower,
    agents.cancel_ms,
    "time an agent has to end its turn when it is asked to, before it is ended"
);

pub(super) const SUBAGENT_SILENCE: Knob = knob!(
    "subagent.silence",
    Accepts::Duration { most: DAY_MS },
    InProject::LowerNotZero,
    agents.silence_ms,
    "time without a word from an agent that counts as a stall; 0 = never"
);

pub(super) const SUBAGENT_LINGER: Knob = knob!(
    "subagent.linger",
    Accepts::Duration { most: DAY_MS },
    InProject::Lower,
    agents.linger_ms,
    "how long an agent that cannot reload its session is kept alive for a follow-up; 0 = not at all"
);

pub(super) const SUBAGENT_DEFAULT: Knob = knob!(
    "subagent.default",
    Accepts::Line,
    InProject::Nothing,
    agents.default,
    "the agent that is asked when none is named; empty = the first of [agents.NAME], else the first found"
);

pub(super) const NOTICES_BATCH: Knob = knob!(
    "notices.batch",
    Accepts::Flag,
    InProject::Nothing,
    settings.batch_notices,
    "whether the end of a batch is told, beside the ends of its tasks"
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
    "where that model is, if not where its variables say (OPENAI_BASE_URL, …)"
);

pub(super) const AGENT_KEY_FILE: Knob = knob!(
    "agent.key_file",
    Accepts::Line,
    InProject::Nothing,
    agent.key_file,
    "a file that holds the key, if it is not in its variable (OPENAI_API_KEY, …)"
);

pub(super) const AGENT_CONTEXT_TOKENS: Knob = knob!(
    "agent.context_tokens",
    Accepts::Count { least: 1000, most: 100_000_000 },
    InProject::Lower,
    agent.context_tokens,
    "how much the model can keep in mind; the beginning of a longer conversation is summarised"
);

pub(super) const AGENT_MAX_REQUESTS: Knob = knob!(
    "agent.max_requests",
    Accepts::Count { least: 1, most: 10_000 },
    InProject::Lower,
    agent.max_requests,
    "how often the model is asked in one turn"
);

pub(super) const AGENT_MAX_CALLS: Knob = knob!(
    "agent.max_calls",
    Accepts::Count { least: 1, most: 100_000 },
    InProject::Lower,
    agent.max_calls,
    "how many tools the model may call in one turn; what runs in the background counts once, when it is started"
);

pub(super) const AGENT_SILENCE_MS: Knob = knob!(
    "agent.silence_ms",
    Accepts::Milliseconds { least: 100, most: HOUR_MS },
    InProject::Lower,
    agent.silence_ms,
    "how long the model may be silent in the middle of an answer"
);
