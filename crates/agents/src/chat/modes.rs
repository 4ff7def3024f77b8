//! How much is asked about: by the agent, by its tools, and by what runs in the session.

use std::sync::Arc;

use mw_desk::chat::{AgentState, Entry};
use mw_policy::Mode;

use super::office::Office;
use super::slash::Desktop;

impl Office<'_> {
    pub(super) fn choose_mode(&mut self, mode: Option<String>) {
        let Some(mode) = mode else {
            let now = self.mode.clone().unwrap_or_else(|| "the agent's own".to_owned());
            return self.add(Entry::Printed { text: format!("The mode is {now}.") });
        };
        if let Some(named) = Mode::named(&mode) {
            self.judge_by(named);
        }
        self.wanted = Some(mode.clone());
        match self.state {
            AgentState::Idle | AgentState::Busy => self.line.set_mode(mode),
            AgentState::Starting | AgentState::Gone => {
                self.add(Entry::Printed { text: format!("The agent gets mode {mode} when it is there.") });
            }
        }
    }

    /// Lets everything of ours be judged by a mode: what the person starts, the agent's server, `mw` inside of
    /// tasks.
    fn judge_by(&mut self, mode: Mode) {
        let mut desktop = Desktop::clone(&self.desktop);
        desktop.premises.policy.mode = mode;
        self.desktop = Arc::new(desktop);
        self.options.premises.policy.mode = mode;
        mode.name().clone_into(&mut self.options.house.mode);
        self.options.house.is_chosen = true;
        if let Err(error) = self.runtime.set_house_rules(self.host.session(), &self.options.house) {
            self.note(format!("what runs in the session is judged as before: {error}. {}", error.hint()));
        }
    }

    pub(super) fn mode_refused(&mut self, mode: &str, why: &str) {
        self.wanted.take_if(|wanted| wanted == mode);
        if Mode::named(mode).is_none() {
            return self.note(why.to_owned());
        }
        self.note(format!("the agent itself has no mode {mode} ({why}); its tools here are judged by it"));
        self.mode = Some(mode.to_owned());
        self.add(Entry::Mode { mode: mode.to_owned() });
    }
}
