//! The hooks of hosts: what they ask on stdin, and how they are answered on stdout.
//!
//! Claude Code, Codex and Gemini CLI speak nearly the same: one JSON object in, at most one out. Context is added as
//! `hookSpecificOutput.additionalContext`. An agent that is about to stop is kept going by the same in Claude Code, which
//! shows a `decision: block` twice, as feedback and as an error; by `decision: block`, whose `reason` it reads, in the
//! others. The names of the events differ.

use std::path::{Path, PathBuf};

use meanwhile::model::Notice;
use serde_json::{Value, json};

use super::session::{Clues, HostSession};

/// Maximum number of bytes of one answer. Claude Code puts longer ones into a file and shows the model only how they
/// begin.
const MOST_BYTES: usize = 9_000;

/// How a host's hooks ask and are answered.
#[derive(Debug)]
pub struct Hooks {
    /// The events at which a model reads what is added to its context.
    pub(super) context: &'static [&'static str],
    /// The event of an agent that is about to stop.
    pub(super) stop: &'static str,
    /// How such an agent is kept going.
    pub(super) keep_going: KeepGoing,
    /// Whether the session that a hook names is the one that its server knows.
    pub(super) names_session: bool,
    /// Whether a hook in the background can wake an idle agent.
    pub wakes: bool,
}

/// How an agent that is about to stop is given something to read.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeepGoing {
    /// As additional context.
    Context,
    /// As the reason of a `decision: block`.
    Block,
}

impl Hooks {
    fn moment(&self, event: &str, stops_again: bool) -> HookMoment {
        if self.context.contains(&event) {
            HookMoment::Context
        } else if event == self.stop && !stops_again {
            HookMoment::Stop
        } else {
            HookMoment::Silent
        }
    }
}

/// What can be said at a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookMoment {
    /// Something for the model to know, with what it reads next.
    Context,
    /// Something to go on with, before the agent falls asleep.
    Stop,
    /// Nothing: it would not be read, the agent was already kept going once, or the event is for another agent.
    Silent,
}

/// A call of a hook.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The event, in the host's words.
    pub event: String,
    /// What can be said.
    pub moment: HookMoment,
    host: &'static str,
    hooks: &'static Hooks,
    of_subagent: bool,
    session: Option<String>,
    directory: Option<PathBuf>,
}

impl HookCall {
    /// Reads what a host asks.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(host: &'static str, hooks: &'static Hooks, text: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let event = text("hook_event_name").ok_or("it has no hook_event_name")?.to_owned();
        let stops_again = value.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false);
        // A subagent is not the one who started the tasks, and what it is told ends with it.
        let of_subagent = text("agent_id").is_some();
        let moment = if of_subagent { HookMoment::Silent } else { hooks.moment(&event, stops_again) };
        let session = text("session_id").map(str::to_owned);
        Ok(Self {
            event,
            moment,
            host,
            hooks,
            of_subagent,
            session,
            directory: text("cwd").map(PathBuf::from),
        })
    }

    /// Completes what the environment tells of the session.
    #[must_use]
    pub fn clues(&self, variable: impl Fn(&str) -> Option<String>, directory: &Path) -> Clues {
        let mut clues = Clues::from_environment(variable, self.directory.as_deref().unwrap_or(directory));
        if !self.hooks.names_session {
            clues.host_session = None;
        } else if let Some(id) = &self.session {
            clues.host_session = Some(HostSession { host: self.host, id: id.clone() });
        }
        clues
    }

    /// Returns how many of these notifications fit into one answer; at least one.
    #[must_use]
    pub fn fitting(notices: &[Notice]) -> usize {
        let mut room = MOST_BYTES;
        let fits = notices.iter().take_while(|notice| {
            let length = notice.to_block().len() + 2;
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        });
        fits.count().max(1).min(notices.len())
    }

    /// Returns whether an agent, and no subagent of it, has come to the end of its turn.
    #[must_use]
    pub fn is_a_stop(&self) -> bool {
        self.event == self.hooks.stop && !self.of_subagent
    }

    /// Writes what an idle agent is woken with; nothing when there is nothing to say.
    #[must_use]
    pub fn waking_text(&self, notices: &[Notice]) -> Option<String> {
        let blocks = notices.iter().map(Notice::to_block).collect::<Vec<_>>().join("\n\n");
        (!blocks.is_empty()).then(|| {
            format!(
                "Notifications about background tasks, from meanwhile and not from the user. Continue with work that \
                 depends on them, or report the result.\n\n{blocks}\n"
            )
        })
    }

    /// Writes the answer; nothing when there is nothing to say.
    #[must_use]
    pub fn answer(&self, notices: &[Notice]) -> Option<String> {
        if notices.is_empty() {
            return None;
        }
        let blocks = notices.iter().map(Notice::to_block).collect::<Vec<_>>().join("\n\n");
        let answer = match self.moment {
            HookMoment::Silent => return None,
            HookMoment::Context => {
                let text = format!(
                    "Notifications about background tasks, from meanwhile and not from the user:\n\n{blocks}"
                );
                json!({"hookSpecificOutput": {"hookEventName": self.event, "additionalContext": text}})
            }
            HookMoment::Stop => {
                let text = format!(
                    "Before you stop: notifications about background tasks, from meanwhile and not from the user. \
                     Continue with work that depends on them, or report the result.\n\n{blocks}"
                );
                match self.hooks.keep_going {
                    KeepGoing::Context => {
                        json!({"hookSpecificOutput": {"hookEventName": self.event, "additionalContext": text}})
                    }
                    KeepGoing::Block => json!({"decision": "block", "reason": text}),
                }
            }
        };
        Some(format!("{answer}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::list::HOSTS;
    use crate::hosts::session::session_of;

    fn parse(host: &str, text: &str) -> Result<HookCall, String> {
        let host = HOSTS.iter().find(|known| known.id == host).unwrap();
        HookCall::parse(host.id, host.hooks.as_ref().unwrap(), text.as_bytes())
    }

    fn call(host: &str, text: &str) -> HookCall {
        parse(host, text).unwrap()
    }

    #[test]
    fn each_hosts_events_are_known_and_others_are_silent() {
        for (host, event, moment) in [
            ("claude-code", "UserPromptSubmit", HookMoment::Context),
            ("claude-code", "PostToolUse", HookMoment::Context),
            ("codex", "Stop", HookMoment::Stop),
            ("gemini", "BeforeAgent", HookMoment::Context),
            ("gemini", "AfterAgent", HookMoment::Stop),
            ("gemini", "Stop", HookMoment::Silent),
            ("claude-code", "SubagentStop", HookMoment::Silent),
            ("claude-code", "PreToolUse", HookMoment::Silent),
        ] {
            let text = json!({"hook_event_name": event, "session_id": "s"}).to_string();
            assert_eq!(call(host, &text).moment, moment, "{host:?} {event}");
        }
    }

    #[test]
    fn an_agent_is_kept_going_once_and_a_subagent_is_told_nothing() {
        let again = r#"{"hook_event_name":"Stop","session_id":"s","stop_hook_active":true}"#;
        assert_eq!(call("claude-code", again).moment, HookMoment::Silent);
        let sub = r#"{"hook_event_name":"PostToolUse","session_id":"s","agent_id":"a1"}"#;
        assert_eq!(call("claude-code", sub).moment, HookMoment::Silent);
    }

    #[test]
    fn sessions_are_those_that_the_servers_know() {
        let text = r#"{"hook_event_name":"Stop","session_id":"4f2","cwd":"/shop"}"#;
        let named = |host| session_of(&call(host, text).clues(|_| None, Path::new("/")));
        assert_eq!(named("claude-code"), "claude-code:4f2");
        assert_eq!(named("codex"), "codex:4f2");
        assert_eq!(named("gemini"), "project:/shop");
        let mine = |name: &str| (name == "MEANWHILE_SESSION").then(|| "mine".to_owned());
        assert_eq!(session_of(&call("codex", text).clues(mine, Path::new("/"))), "mine");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "[]", "{\"session_id\":\"s\"}", "{\"hook_event_name\":7}", "\u{0}"] {
            assert!(parse("claude-code", text).is_err(), "{text:?}");
        }
    }
}
