//! Sets the approval mode of the agent, of its tools, and of the session.

use std::sync::Arc;

use mw_desk::chat_protocol::{AgentState, ChatEntry};
use mw_desk::text::error_text;
use mw_policy::Mode;

use super::command_runner::CommandRunner;
use super::connection::AgentOrder;
use super::core::ChatCore;

impl ChatCore<'_> {
    pub(super) fn choose_mode(&mut self, mode: Option<String>) {
        let Some(mode) = mode else {
            let now = self.mode.clone().unwrap_or_else(|| "the agent's own".to_owned());
            return self.add(ChatEntry::Printed { text: format!("The mode is {now}.") });
        };
        if let Some(named) = Mode::named(&mode) {
            self.set_session_mode(named);
        }
        self.wanted = Some(mode.clone());
        match self.state {
            AgentState::Idle | AgentState::Busy => self.connection.send(AgentOrder::Mode(mode)),
            AgentState::Starting | AgentState::Gone => {
                self.add(ChatEntry::Printed { text: format!("Mode {mode} is set when the agent starts.") });
            }
        }
    }

    /// Sets the approval mode of the session. It applies to the user's commands, the agent's MCP server, and `mw`
    /// inside tasks.
    fn set_session_mode(&mut self, mode: Mode) {
        let mut runner = CommandRunner::clone(&self.runner);
        runner.call_settings.policy.mode = mode;
        self.runner = Arc::new(runner);
        self.options.call_settings.policy.mode = mode;
        self.options.session_policy.mode = mode;
        self.options.session_policy.is_chosen = true;
        if let Err(error) =
            self.runtime.approvals().set_session_policy(self.host.session(), &self.options.session_policy)
        {
            self.note(format!("the mode of the session was not changed: {}", error_text(&error)));
        }
    }

    pub(super) fn mode_refused(&mut self, mode: &str, why: &str) {
        self.wanted.take_if(|wanted| wanted == mode);
        if Mode::named(mode).is_none() {
            return self.note(why.to_owned());
        }
        self.note(format!("the agent has no mode {mode} ({why}); the mode applies to its tools"));
        self.mode = Some(mode.to_owned());
        self.add(ChatEntry::Mode { mode: mode.to_owned() });
    }
}
