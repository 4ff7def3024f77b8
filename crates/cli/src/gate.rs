//! The gate before commands that are called inside a session. Outside one, the command line is the user's own hand.

use std::env;
use std::io::{IsTerminal, Write};

use meanwhile::engine::{Approval, Asked, Asker, HouseRules, Passage, Policy, Runtime, TaskRequest};
use meanwhile::model::DEFAULT_SESSION;
use meanwhile::model::approval::{Answer, Proposal, Remember};
use meanwhile::policy::Tool;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::config;
use crate::context::Context;
use crate::error::CommandError;
use crate::foreground::terminal::{Keys, RawMode};

/// How often it is looked whether the answer came another way.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 127;

impl Context {
    /// Returns the session on whose behalf this command is called, if that is not the user's own hand. A task has its own,
    /// whatever it does to its environment; where the process tree cannot be seen, its variable says which.
    pub(crate) fn gated_session(&self) -> Option<String> {
        let of_task = || env::var("MEANWHILE_TASK_SESSION").ok();
        let session = self.acts_for().map(str::to_owned).or_else(of_task);
        session.filter(|session| session != DEFAULT_SESSION)
    }

    /// Refuses to act for another session than the one on whose behalf this command is called.
    pub(crate) fn speak_for(&self, session: &str) -> Result<(), CommandError> {
        match self.gated_session() {
            Some(own) if own != session => Err(CommandError::not_found(
                format!("cannot reach session {session:?} from inside session {own:?}"),
                "a session sees only its own tasks and notifications; run mw outside the session",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns what a session's calls are decided by.
    pub(crate) fn decided_by(&self, runtime: &Runtime, session: &str) -> Result<Policy, CommandError> {
        let present = self.config.decides_by()?;
        let Some(house) = runtime.approvals().house_rules(session)? else {
            let mut policy = present;
            policy.stay_in_project_of(&env::current_dir()?);
            return Ok(policy);
        };
        bound(&house, &present)
    }

    /// Returns what is laid down for the session of the task that this command is part of, if it is part of one: a server that
    /// is started there is bound by it.
    pub(crate) fn rules_around(&self) -> Result<Option<HouseRules>, CommandError> {
        if !self.config.settings.home.is_dir() {
            return Ok(None);
        }
        let runtime = self.runtime()?;
        let rules = runtime
            .approvals()
            .session_around(None)
            .map(|around| runtime.approvals().house_rules(&around))
            .transpose()?;
        Ok(rules.flatten())
    }

    /// Lets a start pass.
    pub(crate) fn pass_start(
        &self,
        runtime: &Runtime,
        request: &TaskRequest,
        added: &[(String, String)],
        tool: &str,
    ) -> Result<Approval, CommandError> {
        let Some(session) = self.gated_session() else { return Ok(Approval::User) };
        let policy = self.decided_by(runtime, &session)?;
        let passage = Passage { tool: named(tool), policy: &policy, asker: &Prompt::new(self.json, runtime) };
        Ok(runtime.approvals().pass_start(request, added, &passage)?)
    }

    /// Lets a further run pass.
    pub(crate) fn pass_restart(&self, runtime: &Runtime, handle: &str) -> Result<(), CommandError> {
        let Some(session) = self.gated_session() else { return Ok(()) };
        let policy = self.decided_by(runtime, &session)?;
        let asker = Prompt::new(self.json, runtime);
        let passage = Passage { tool: named("restart"), policy: &policy, asker: &asker };
        Ok(runtime.approvals().pass_restart(handle, &self.scope(), &passage)?)
    }

    /// Lets something pass that starts nothing; `text` says exactly what.
    pub(crate) fn pass_deed(&self, runtime: &Runtime, tool: &str, text: &str) -> Result<(), CommandError> {
        let Some(session) = self.gated_session() else { return Ok(()) };
        let policy = self.decided_by(runtime, &session)?;
        let asker = Prompt::new(self.json, runtime);
        let passage = Passage { tool: named(tool), policy: &policy, asker: &asker };
        Ok(runtime.approvals().pass_deed(&session, &env::current_dir()?, text, &passage)?)
    }
}

/// Returns what is decided by where this was laid down, in an environment that has other settings.
pub(crate) fn bound(house: &HouseRules, present: &Policy) -> Result<Policy, CommandError> {
    let mut policy = config::by_house_rules(house)?;
    policy.mode = house.mode_beside(present.mode);
    policy.user_home.clone_from(&present.user_home);
    policy.patience = present.patience;
    policy.stay_in_project_of(&house.directory);
    Ok(policy)
}

fn named(tool: &str) -> Tool {
    Tool::named(tool).unwrap_or(Tool::UNKNOWN)
}

/// The question at the user's terminal, if there is one.
struct Prompt {
    is_there: bool,
}

impl Prompt {
    /// A task may have a terminal too, which is not the user's.
    fn new(json: bool, runtime: &Runtime) -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { is_there: terminal && !json && around(runtime).is_none() }
    }
}

/// Returns the task that this command is part of, if it is.
pub(crate) fn around(runtime: &Runtime) -> Option<String> {
    let said = env::var("MEANWHILE_TASK_ID").ok().filter(|id| !id.is_empty());
    said.or_else(|| runtime.approvals().task_around().map(|id| id.to_string()))
}

impl Asker for Prompt {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked {
        if !self.is_there {
            return Asked::Elsewhere;
        }
        // Ctrl-C is a key from here on: it aborts, and that is recorded.
        let raw = RawMode::enter(Keys::All);
        let question = proposal.question().replace('\n', "\r\n");
        let _ = write!(std::io::stderr(), "{question} ");
        let said = read_answer(answered);
        drop(raw);
        let _ = writeln!(std::io::stderr());
        said.map_or(Asked::Elsewhere, |answer| Asked::Answered { answer, by: "the terminal" })
    }
}

/// Reads a line that is an answer; none when the answer came another way.
fn read_answer(answered: &mut dyn FnMut() -> bool) -> Option<Answer> {
    let mut line = Vec::new();
    loop {
        let stdin = std::io::stdin();
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK_EVERY));
        if !matches!(ready, Ok(found) if found > 0) {
            if answered() {
                return None;
            }
            continue;
        }
        let mut key = [0];
        // Without a buffer: what is in one, no poll sees.
        if !matches!(rustix::io::read(&stdin, &mut key), Ok(1)) {
            return Some(Answer::Deny("the terminal was closed".to_owned()));
        }
        match key[0] {
            CTRL_C | CTRL_D => return Some(Answer::Deny("aborted at the terminal".to_owned())),
            b'\r' | b'\n' => match understood(&line) {
                Some(answer) => return Some(answer),
                None => {
                    line.clear();
                    let _ = write!(std::io::stderr(), "\r\ny (yes), n (no) or s (yes, for this session): ");
                }
            },
            BACKSPACE | DELETE => {
                let rubbed_out = line.pop().map_or("", |_| "\x08 \x08");
                let _ = write!(std::io::stderr(), "{rubbed_out}");
            }
            letter @ b' '..=b'~' => {
                line.push(letter);
                let _ = write!(std::io::stderr(), "{}", char::from(letter));
            }
            _ => {}
        }
    }
}

fn understood(line: &[u8]) -> Option<Answer> {
    match line.trim_ascii().to_ascii_lowercase().as_slice() {
        b"y" | b"yes" => Some(Answer::Approve(Remember::Once)),
        b"s" => Some(Answer::Approve(Remember::Session)),
        b"n" | b"no" => Some(Answer::Deny(String::new())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(understood(b"y"), Some(Answer::Approve(Remember::Once)));
        assert_eq!(understood(b" YES "), Some(Answer::Approve(Remember::Once)));
        assert_eq!(understood(b"s"), Some(Answer::Approve(Remember::Session)));
        assert_eq!(understood(b"no"), Some(Answer::Deny(String::new())));
        for unclear in ["", "yn", "ja", "1", "yess"] {
            assert_eq!(understood(unclear.as_bytes()), None, "{unclear}");
        }
    }
}
