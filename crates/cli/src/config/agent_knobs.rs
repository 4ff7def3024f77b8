//! The settings of agents: those that are asked, and our own.

use super::accepts::{Accepts, Value};
use super::knob::{InProject, Knob};
use super::knob::{optional, some_text};
use super::knobs::{DAY_MS, HOUR_MS, MOST_RUNNING};

pub(super) const SUBAGENT_MAX_RUNNING: Knob = Knob {
    name: "subagent.max_running",
    variable: "MEANWHILE_SUBAGENT_MAX_RUNNING",
    help: "subagents a session may run at a time; they do not count among its other tasks",
    accepts: Accepts::Count { least: 1, most: MOST_RUNNING },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.settings.queue.max_agents.into()),
    set: |c, value| c.settings.queue.max_agents = value.small(),
};

pub(super) const SUBAGENT_MAX_DEPTH: Knob = Knob {
    name: "subagent.max_depth",
    variable: "MEANWHILE_SUBAGENT_MAX_DEPTH",
    help: "how many subagents may be above each other; 0 = no subagents at all",
    accepts: Accepts::Count { least: 0, most: 16 },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.agents.max_depth.into()),
    set: |c, value| c.agents.max_depth = value.small(),
};

pub(super) const SUBAGENT_CANCEL_MS: Knob = Knob {
    name: "subagent.cancel_ms",
    variable: "MEANWHILE_SUBAGENT_CANCEL_MS",
    help: "time an agent has to end its turn when it is asked to, before it is ended",
    accepts: Accepts::Milliseconds { least: 0, most: HOUR_MS },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.agents.cancel_ms),
    set: |c, value| c.agents.cancel_ms = value.number(),
};

pub(super) const SUBAGENT_SILENCE: Knob = Knob {
    name: "subagent.silence",
    variable: "MEANWHILE_SUBAGENT_SILENCE",
    help: "time without a word from an agent that counts as a stall; 0 = never",
    accepts: Accepts::Duration { most: DAY_MS },
    in_project: InProject::LowerNotZero,
    get: |c| Value::Number(c.agents.silence_ms),
    set: |c, value| c.agents.silence_ms = value.number(),
};

pub(super) const SUBAGENT_LINGER: Knob = Knob {
    name: "subagent.linger",
    variable: "MEANWHILE_SUBAGENT_LINGER",
    help: "how long an agent that cannot reload its session is kept alive for a follow-up; 0 = not at all",
    accepts: Accepts::Duration { most: DAY_MS },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.agents.linger_ms),
    set: |c, value| c.agents.linger_ms = value.number(),
};

pub(super) const SUBAGENT_DEFAULT: Knob = Knob {
    name: "subagent.default",
    variable: "MEANWHILE_SUBAGENT_DEFAULT",
    help: "the agent that is asked when none is named; empty = the first of [agents.NAME], else the first found",
    accepts: Accepts::Line,
    in_project: InProject::Nothing,
    get: |c| Value::Text(c.agents.default.clone()),
    set: |c, value| value.as_text().clone_into(&mut c.agents.default),
};

pub(super) const NOTICES_BATCH: Knob = Knob {
    name: "notices.batch",
    variable: "MEANWHILE_NOTICES_BATCH",
    help: "whether the end of a batch is told, beside the ends of its tasks",
    accepts: Accepts::Flag,
    in_project: InProject::Nothing,
    get: |c| Value::Flag(c.settings.batch_notices),
    set: |c, value| c.settings.batch_notices = value.is_on(),
};

pub(super) const AGENT_MODEL: Knob = Knob {
    name: "agent.model",
    variable: "MEANWHILE_AGENT_MODEL",
    help: "the model of mw acp: openai/NAME, anthropic/NAME or ollama/NAME; see docs/acp.md",
    accepts: Accepts::Line,
    in_project: InProject::Nothing,
    get: |c| optional(c.agent.model.as_ref()),
    set: |c, value| c.agent.model = some_text(value),
};

pub(super) const AGENT_BASE_URL: Knob = Knob {
    name: "agent.base_url",
    variable: "MEANWHILE_AGENT_BASE_URL",
    help: "where that model is, if not where its variables say (OPENAI_BASE_URL, …)",
    accepts: Accepts::Line,
    in_project: InProject::Nothing,
    get: |c| optional(c.agent.base_url.as_ref()),
    set: |c, value| c.agent.base_url = some_text(value),
};

pub(super) const AGENT_KEY_FILE: Knob = Knob {
    name: "agent.key_file",
    variable: "MEANWHILE_AGENT_KEY_FILE",
    help: "a file that holds the key, if it is not in its variable (OPENAI_API_KEY, …)",
    accepts: Accepts::Line,
    in_project: InProject::Nothing,
    get: |c| optional(c.agent.key_file.as_ref()),
    set: |c, value| c.agent.key_file = some_text(value),
};

pub(super) const AGENT_CONTEXT_TOKENS: Knob = Knob {
    name: "agent.context_tokens",
    variable: "MEANWHILE_AGENT_CONTEXT_TOKENS",
    help: "how much the model can keep in mind; the beginning of a longer conversation is summarised",
    accepts: Accepts::Count { least: 1000, most: 100_000_000 },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.agent.context_tokens),
    set: |c, value| c.agent.context_tokens = value.number(),
};

pub(super) const AGENT_MAX_REQUESTS: Knob = Knob {
    name: "agent.max_requests",
    variable: "MEANWHILE_AGENT_MAX_REQUESTS",
    help: "how often the model is asked in one turn",
    accepts: Accepts::Count { least: 1, most: 10_000 },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.agent.max_requests),
    set: |c, value| c.agent.max_requests = value.number(),
};

pub(super) const AGENT_MAX_CALLS: Knob = Knob {
    name: "agent.max_calls",
    variable: "MEANWHILE_AGENT_MAX_CALLS",
    help: "how many tools the model may call in one turn; what runs in the background counts once, when it is started",
    accepts: Accepts::Count { least: 1, most: 100_000 },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.agent.max_calls),
    set: |c, value| c.agent.max_calls = value.number(),
};

pub(super) const AGENT_SILENCE_MS: Knob = Knob {
    name: "agent.silence_ms",
    variable: "MEANWHILE_AGENT_SILENCE_MS",
    help: "how long the model may be silent in the middle of an answer",
    accepts: Accepts::Milliseconds { least: 100, most: HOUR_MS },
    in_project: InProject::Lower,
    get: |c| Value::Number(c.agent.silence_ms),
    set: |c, value| c.agent.silence_ms = value.number(),
};
