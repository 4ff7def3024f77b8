//! The hooks of hosts: what they ask on stdin, and how they are answered on stdout.
//!
//! Claude Code, Codex and Gemini CLI speak nearly the same: one JSON object in, at most one out. Context is added as
//! `hookSpecificOutput.additionalContext`. An agent that is about to stop is kept going by the same in Claude Code, which
//! shows a `decision: block` twice, as feedback and as an error; by `decision: block`, whose `reason` it reads, in the
//! others. The names of the events differ.

use std::path::{Path, PathBuf};

use meanwhile::model::Notice;
use serde_json::{Value, json};

use crate::session_of::{Clues, HostSession};

/// Most bytes of one answer. Claude Code puts longer ones into a file and shows the model only how they begin.
const MOST_BYTES: usize = 9_000;

/// A host whose hooks can add to the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookHost {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl HookHost {
    /// Every one of them.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Gemini];

    /// Returns its name on the command line.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    fn moment(self, event: &str, stops_again: bool) -> HookMoment {
        match (self, event) {
            (Self::ClaudeCode | Self::Codex, "UserPromptSubmit" | "PostToolUse" | "SessionStart")
            | (Self::Gemini, "BeforeAgent" | "AfterTool" | "SessionStart") => HookMoment::Context,
            (Self::ClaudeCode | Self::Codex, "Stop") | (Self::Gemini, "AfterAgent") => {
                if stops_again {
                    HookMoment::Silent
                } else {
                    HookMoment::Stop
                }
            }
            _ => HookMoment::Silent,
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
    /// Nothing: nobody would read it, the agent has been kept going once already, or it is not for this agent.
    Silent,
}

/// A call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The event, in the host's words.
    pub event: String,
    /// What can be said.
    pub moment: HookMoment,
    host: HookHost,
    of_subagent: bool,
    session: Option<String>,
    directory: Option<PathBuf>,
}

impl HookCall {
    /// Reads what a host asks.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(host: HookHost, text: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(text).map_err(|error| format!("it is no JSON: {error}"))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let event = text("hook_event_name").ok_or("it has no hook_event_name")?.to_owned();
        let stops_again = value.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false);
        // A subagent is not the one who started the tasks, and what it is told ends with it.
        let of_subagent = text("agent_id").is_some();
        let moment = if of_subagent { HookMoment::Silent } else { host.moment(&event, stops_again) };
        let session = text("session_id").map(str::to_owned);
        Ok(Self { event, moment, host, of_subagent, session, directory: text("cwd").map(PathBuf::from) })
    }

    /// Completes what the environment tells of the session.
    #[must_use]
    pub fn clues(&self, variable: impl Fn(&str) -> Option<String>, directory: &Path) -> Clues {
        let mut clues = Clues::from_environment(variable, self.directory.as_deref().unwrap_or(directory));
        clues.host_session = match (self.host, &self.session) {
            (HookHost::ClaudeCode | HookHost::Codex, Some(id)) => {
                Some(HostSession { host: self.host.id(), id: id.clone() })
            }
            // Its server cannot know the session, so the hook may not either.
            (HookHost::Gemini, _) => None,
            (HookHost::ClaudeCode | HookHost::Codex, None) => clues.host_session,
        };
        clues
    }

    /// Returns how many of these notices fit into one answer; at least one.
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

    /// Tells whether an agent, and no subagent of it, has come to the end of its turn.
    #[must_use]
    pub fn is_a_stop(&self) -> bool {
        self.event == "Stop" && !self.of_subagent
    }

    /// Writes what an idle agent is woken with; nothing when there is nothing to say.
    #[must_use]
    pub fn waking_text(&self, notices: &[Notice]) -> Option<String> {
        let blocks = notices.iter().map(Notice::to_block).collect::<Vec<_>>().join("\n\n");
        (!blocks.is_empty()).then(|| {
            format!(
                "Background tasks have news, from meanwhile and not from the user. Go on with what depends on it, or just \
                 say how it went.\n\n{blocks}\n"
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
                let text =
                    format!("News of background tasks, from meanwhile and not from the user:\n\n{blocks}");
                json!({"hookSpecificOutput": {"hookEventName": self.event, "additionalContext": text}})
            }
            HookMoment::Stop => {
                let text = format!(
                    "Before you stop: background tasks have news, from meanwhile and not from the user. Go on with what \
                     depends on it, or just say how it went.\n\n{blocks}"
                );
                match self.host {
                    HookHost::ClaudeCode => {
                        json!({"hookSpecificOutput": {"hookEventName": self.event, "additionalContext": text}})
                    }
                    HookHost::Codex | HookHost::Gemini => json!({"decision": "block", "reason": text}),
                }
            }
        };
        Some(format!("{answer}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_of::session_of;

    fn call(host: HookHost, text: &str) -> HookCall {
        HookCall::parse(host, text.as_bytes()).unwrap()
    }

    #[test]
    fn each_hosts_events_are_known_and_others_are_silent() {
        for (host, event, moment) in [
            (HookHost::ClaudeCode, "UserPromptSubmit", HookMoment::Context),
            (HookHost::ClaudeCode, "PostToolUse", HookMoment::Context),
            (HookHost::Codex, "Stop", HookMoment::Stop),
            (HookHost::Gemini, "BeforeAgent", HookMoment::Context),
            (HookHost::Gemini, "AfterAgent", HookMoment::Stop),
            (HookHost::Gemini, "Stop", HookMoment::Silent),
            (HookHost::ClaudeCode, "SubagentStop", HookMoment::Silent),
            (HookHost::ClaudeCode, "PreToolUse", HookMoment::Silent),
        ] {
            let text = json!({"hook_event_name": event, "session_id": "s"}).to_string();
            assert_eq!(call(host, &text).moment, moment, "{host:?} {event}");
        }
    }

    #[test]
    fn an_agent_is_kept_going_once_and_a_subagent_is_told_nothing() {
        let again = r#"{"hook_event_name":"Stop","session_id":"s","stop_hook_active":true}"#;
        assert_eq!(call(HookHost::ClaudeCode, again).moment, HookMoment::Silent);
        let sub = r#"{"hook_event_name":"PostToolUse","session_id":"s","agent_id":"a1"}"#;
        assert_eq!(call(HookHost::ClaudeCode, sub).moment, HookMoment::Silent);
    }

    #[test]
    fn sessions_are_those_that_the_servers_know() {
        let text = r#"{"hook_event_name":"Stop","session_id":"4f2","cwd":"/shop"}"#;
        let named = |host| session_of(&call(host, text).clues(|_| None, Path::new("/")));
        assert_eq!(named(HookHost::ClaudeCode), "claude-code:4f2");
        assert_eq!(named(HookHost::Codex), "codex:4f2");
        assert_eq!(named(HookHost::Gemini), "project:/shop");
        let mine = |name: &str| (name == "MEANWHILE_SESSION").then(|| "mine".to_owned());
        assert_eq!(session_of(&call(HookHost::Codex, text).clues(mine, Path::new("/"))), "mine");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "[]", "{\"session_id\":\"s\"}", "{\"hook_event_name\":7}", "\u{0}"] {
            assert!(HookCall::parse(HookHost::ClaudeCode, text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
