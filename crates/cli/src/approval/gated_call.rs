//! Policy for commands that are called inside a session. Outside a session the user acts, and everything is allowed.

use std::env;

use meanwhile::engine::model::{DEFAULT_SESSION, TASK_VARIABLE};
use meanwhile::engine::{Approval, Directories, GatedCall, Policy, Runtime, SessionPolicy, TaskRequest};
use meanwhile::policy::Tool;

use super::prompt::Prompt;
use crate::config;
use crate::context::Context;
use crate::error::CommandError;

impl Context {
    /// Returns the session that this command is called for, if it is not called by the user. Inside a task it is the task's
    /// session, whatever the environment says. The variable counts only if the process tree cannot be read.
    pub(crate) fn gated_session(&self) -> Option<String> {
        let of_task = || env::var("MEANWHILE_TASK_SESSION").ok();
        let session = self.acts_for().map(str::to_owned).or_else(of_task);
        session.filter(|session| session != DEFAULT_SESSION)
    }

    /// Refuses to act for another session than the one that this command is called for.
    pub(crate) fn speak_for(&self, session: &str) -> Result<(), CommandError> {
        match self.gated_session() {
            Some(own) if own != session => Err(CommandError::not_found(
                format!("cannot reach session {session:?} from inside session {own:?}"),
                "a session sees only its own tasks and notifications; run mw outside the session",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the policy of a session.
    pub(crate) fn decided_by(&self, runtime: &Runtime, session: &str) -> Result<Policy, CommandError> {
        let present = self.config.decides_by()?;
        let Some(session_policy) = runtime.approvals().session_policy(session)? else {
            let mut policy = present;
            policy.stay_in_project_of(&env::current_dir()?);
            return Ok(policy);
        };
        bound(&session_policy, &present)
    }

    /// Returns the policy of the session around this command, if it runs inside a task. A server that is started there is
    /// bound by it.
    pub(crate) fn enclosing_policy(&self) -> Result<Option<SessionPolicy>, CommandError> {
        if !self.config.settings.home.is_dir() {
            return Ok(None);
        }
        let runtime = self.runtime()?;
        let rules = runtime
            .approvals()
            .enclosing_session(None)
            .map(|around| runtime.approvals().session_policy(&around))
            .transpose()?;
        Ok(rules.flatten())
    }

    /// Checks whether a task may be started.
    pub(crate) fn pass_start(
        &self,
        runtime: &Runtime,
        request: &mut TaskRequest,
        added: &[(String, String)],
        tool: &str,
    ) -> Result<Approval, CommandError> {
        let passed = self.passing(runtime, tool, |_, gated_call| {
            Ok(runtime.approvals().pass_start(request, added, gated_call)?)
        })?;
        Ok(passed.unwrap_or(Approval::User))
    }

    /// Checks whether a task may run again.
    pub(crate) fn pass_restart(&self, runtime: &Runtime, handle: &str) -> Result<(), CommandError> {
        let pass = |_: &str, gated_call: &GatedCall<'_>| {
            Ok(runtime.approvals().pass_restart(handle, &self.scope(), gated_call)?)
        };
        self.passing(runtime, "restart", pass).map(|_| ())
    }

    /// Checks an action that starts nothing; `text` describes it exactly.
    pub(crate) fn pass_action(&self, runtime: &Runtime, tool: &str, text: &str) -> Result<(), CommandError> {
        let pass = |session: &str, gated_call: &GatedCall<'_>| {
            Ok(runtime.approvals().pass_action(session, &env::current_dir()?, text, gated_call)?)
        };
        self.passing(runtime, tool, pass).map(|_| ())
    }

    /// Checks something with the policy of the session that this command is called for; nothing if the user calls it.
    fn passing<T>(
        &self,
        runtime: &Runtime,
        tool: &str,
        pass: impl FnOnce(&str, &GatedCall<'_>) -> Result<T, CommandError>,
    ) -> Result<Option<T>, CommandError> {
        let Some(session) = self.gated_session() else { return Ok(None) };
        let policy = self.decided_by(runtime, &session)?;
        let (tool, asker) = (Tool::named(tool).unwrap_or(Tool::UNKNOWN), Prompt::new(self.json, runtime));
        pass(&session, &GatedCall { tool, policy: &policy, asker: &asker }).map(Some)
    }
}

/// Returns the policy of a session whose host has stored it, in an environment with other settings.
pub(crate) fn bound(session_policy: &SessionPolicy, present: &Policy) -> Result<Policy, CommandError> {
    let mut policy = config::by_session_policy(session_policy)?;
    policy.mode = session_policy.mode_beside(present.mode);
    policy.user_home.clone_from(&present.user_home);
    policy.timeouts = present.timeouts;
    policy.confined = present.confined;
    policy.stay_in_project_of(&session_policy.directory);
    Ok(policy)
}

/// Returns whether this command runs inside a task of any home, or says so.
pub(crate) fn is_below_any_task() -> bool {
    env::var_os(TASK_VARIABLE).is_some_and(|id| !id.is_empty()) || Directories::is_below_supervisor()
}

/// Returns the task that this command runs inside of, if any.
pub(crate) fn around(runtime: &Runtime) -> Option<String> {
    let said = env::var(TASK_VARIABLE).ok().filter(|id| !id.is_empty());
    let approvals = runtime.approvals();
    let is_unknown = || approvals.is_in_unknown_task() || approvals.has_unseen_supervisor();
    let unknown = || is_unknown().then(|| "unknown".to_owned());
    said.or_else(|| approvals.enclosing_task().map(|id| id.to_string())).or_else(unknown)
}
