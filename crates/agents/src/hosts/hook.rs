//! The hooks of hosts: their input on stdin, and the answer on stdout.
//!
//! Claude Code, Codex and Gemini CLI use nearly the same format: one JSON object in, at most one out. Context is added as
//! `hookSpecificOutput.additionalContext`. In Claude Code the same field also prevents the agent from stopping; it would
//! show a `decision: block` twice, as feedback and as an error. The others need `decision: block`, whose `reason` the
//! agent reads.
//! The names of the events differ.

use std::path::{Path, PathBuf};

use meanwhile::model::Notice;
use serde_json::{Value, json};

use super::session::{HostSession, SessionEvidence};
use super::wake::WakeSignal;
use crate::delivery;

/// Maximum size of an answer, in bytes. Claude Code writes longer ones to a file and shows the model only the beginning.
const MAX_BYTES: usize = 9_000;

/// The separator between notifications.
const BLANK_LINE: &str = "\n\n";

/// The format of a host's hooks.
#[derive(Debug)]
pub struct Hooks {
    /// The events at which context can be added.
    pub(super) context: &'static [&'static str],
    /// The event of an agent that is about to stop.
    pub(super) stop: &'static str,
    /// How such an agent is kept from stopping.
    pub(super) keep_going: KeepGoing,
    /// Whether a hook names the same session as the server.
    pub(super) names_session: bool,
    /// How a hook in the background wakes an idle agent; `None` if it cannot.
    pub wake: Option<WakeSignal>,
}

/// How an agent is kept from stopping.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeepGoing {
    /// As additional context.
    Context,
    /// As the reason of a `decision: block`.
    Block,
}

impl Hooks {
    /// Returns the input that a hook gets when the agent of a session stops.
    #[must_use]
    pub fn stop_input(&self, session: &str) -> String {
        json!({"hook_event_name": self.stop, "session_id": session}).to_string()
    }

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

/// What the answer to a hook can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookMoment {
    /// Add context for the model.
    Context,
    /// Keep the agent from stopping.
    Stop,
    /// Nothing: the answer would not be read, the agent was already kept from stopping once, or the event is for another agent.
    Silent,
}

/// A call of a hook.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The host's name of the event.
    pub event: String,
    /// What the answer can do.
    pub moment: HookMoment,
    host: &'static str,
    hooks: &'static Hooks,
    of_subagent: bool,
    session: Option<String>,
    directory: Option<PathBuf>,
}

impl HookCall {
    /// Parses the input of a hook.
    ///
    /// # Errors
    /// When the input is invalid.
    pub fn parse(host: &'static str, hooks: &'static Hooks, text: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let event = text("hook_event_name").ok_or("it has no hook_event_name")?.to_owned();
        let stops_again = value.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false);
        // A subagent did not start the tasks, and a notification for it would be lost with it.
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

    /// Adds what the hook says about the session.
    #[must_use]
    pub fn evidence(&self, variable: impl Fn(&str) -> Option<String>, directory: &Path) -> SessionEvidence {
        let mut evidence =
            SessionEvidence::from_environment(variable, self.directory.as_deref().unwrap_or(directory));
        if !self.hooks.names_session {
            evidence.host_session = None;
        } else if let Some(id) = &self.session {
            evidence.host_session = Some(HostSession { host: self.host, id: id.clone() });
        }
        evidence
    }

    /// Returns how many of these notifications fit into one answer.
    pub(super) fn fitting(notices: &[Notice]) -> usize {
        delivery::fitting(MAX_BYTES, notices.iter().map(|notice| notice.to_block().len() + BLANK_LINE.len()))
    }

    /// Returns how to wake the agent. Returns `None` if this host cannot, or if this is not an agent that has ended its
    /// turn. A subagent is never woken.
    pub fn wake_signal(&self, variable: impl Fn(&str) -> Option<String>) -> Option<&'static WakeSignal> {
        let is_a_stop = self.event == self.hooks.stop && !self.of_subagent;
        self.hooks.wake.as_ref().filter(|signal| is_a_stop && signal.is_possible(variable))
    }

    /// Returns the text that wakes an idle agent. Returns `None` if there are no notifications.
    pub(super) fn waking_text(&self, notices: &[Notice]) -> Option<String> {
        let blocks = blocks_of(notices)?;
        Some(format!(
            "Notifications about background tasks, from meanwhile and not from the user. Continue with work that \
             depends on them, or report the result.\n\n{blocks}\n"
        ))
    }

    /// Returns the answer. Returns `None` if there are no notifications.
    #[must_use]
    pub fn answer(&self, notices: &[Notice]) -> Option<String> {
        let blocks = blocks_of(notices)?;
        let text = match self.moment {
            HookMoment::Silent => return None,
            HookMoment::Context => format!(
                "Notifications about background tasks, from meanwhile and not from the user:\n\n{blocks}"
            ),
            HookMoment::Stop => format!(
                "Before you stop: notifications about background tasks, from meanwhile and not from the user. \
                 Continue with work that depends on them, or report the result.\n\n{blocks}"
            ),
        };
        let answer = match (self.moment, self.hooks.keep_going) {
            (HookMoment::Stop, KeepGoing::Block) => json!({"decision": "block", "reason": text}),
            _ => json!({"hookSpecificOutput": {"hookEventName": self.event, "additionalContext": text}}),
        };
        Some(format!("{answer}\n"))
    }
}

fn blocks_of(notices: &[Notice]) -> Option<String> {
    let blocks: Vec<_> = notices.iter().map(Notice::to_block).collect();
    (!blocks.is_empty()).then(|| blocks.join(BLANK_LINE))
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
    fn known_events_of_each_host_are_handled_and_others_are_silent() {
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
    fn a_repeated_stop_and_events_of_a_subagent_are_silent() {
        let again = r#"{"hook_event_name":"Stop","session_id":"s","stop_hook_active":true}"#;
        assert_eq!(call("claude-code", again).moment, HookMoment::Silent);
        let sub = r#"{"hook_event_name":"PostToolUse","session_id":"s","agent_id":"a1"}"#;
        assert_eq!(call("claude-code", sub).moment, HookMoment::Silent);
    }

    #[test]
    fn a_hook_names_the_session_by_variable_host_id_or_project() {
        let text = r#"{"hook_event_name":"Stop","session_id":"4f2","cwd":"/shop"}"#;
        let named = |host| session_of(&call(host, text).evidence(|_| None, Path::new("/")));
        assert_eq!(named("claude-code"), "claude-code:4f2");
        assert_eq!(named("codex"), "codex:4f2");
        assert_eq!(named("gemini"), "project:/shop");
        let mine = |name: &str| (name == "MEANWHILE_SESSION").then(|| "mine".to_owned());
        assert_eq!(session_of(&call("codex", text).evidence(mine, Path::new("/"))), "mine");
    }

    #[test]
    fn only_an_interactive_agent_that_has_stopped_can_be_woken() {
        let stop = r#"{"hook_event_name":"Stop","session_id":"s"}"#;
        let entrypoint = |value: &'static str| {
            move |name: &str| (name == "CLAUDE_CODE_ENTRYPOINT").then(|| value.to_owned())
        };
        let code = |host, text, value| {
            call(host, text).wake_signal(entrypoint(value)).map(|signal| signal.exit_code)
        };
        assert_eq!(code("claude-code", stop, "cli"), Some(2));
        assert_eq!(code("claude-code", stop, "sdk-cli"), None);
        assert_eq!(code("codex", stop, "cli"), None);
        let sub = r#"{"hook_event_name":"Stop","session_id":"s","agent_id":"a1"}"#;
        let tool = r#"{"hook_event_name":"PostToolUse","session_id":"s"}"#;
        assert!([sub, tool].into_iter().all(|text| code("claude-code", text, "cli").is_none()));
    }

    #[test]
    fn invalid_hook_input_is_refused() {
        for text in ["", "[]", "{\"session_id\":\"s\"}", "{\"hook_event_name\":7}", "\u{0}"] {
            assert!(parse("claude-code", text).is_err(), "{text:?}");
        }
    }
}
