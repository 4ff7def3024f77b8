//! The user's hook before a run, which can prevent it.

use std::path::Path;

use mw_model::{EnvVar, TaskId, one_line};
use serde_json::json;

use super::user_command::UserCommand;
use crate::base::Directories;
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::error::{Denial, Error, Result};
use crate::redact::Redactor;

/// The name of the hook, in its input and in the variable that tells it.
const BEFORE: &str = "before";
/// The variable that holds the name of a hook.
pub(crate) const HOOK_VARIABLE: &str = "MEANWHILE_HOOK";
/// The line for people.
pub(crate) const SUMMARY_VARIABLE: &str = "MEANWHILE_SUMMARY";
/// The length of a reason.
const LONGEST_REASON: usize = 300;

/// A run that is about to start.
pub(crate) struct UpcomingRun<'a> {
    pub(crate) id: &'a TaskId,
    pub(crate) run: u32,
    pub(crate) name: Option<&'a str>,
    pub(crate) session: &'a str,
    /// The command, or the prompt of an agent.
    pub(crate) command: &'a dyn Fn() -> String,
    pub(crate) cwd: &'a Path,
    pub(crate) env: &'a [EnvVar],
}

impl Directories {
    /// Runs the user's hook before a run, if there is one. The caller starts nothing after an error.
    ///
    /// # Errors
    /// When the hook exits with another code than 0, cannot be executed, or takes too long.
    pub(crate) fn pass_before(&self, upcoming: &UpcomingRun<'_>) -> Result<()> {
        let hooks = &self.settings.hooks;
        // The task that keeps an agent alive is part of one that has passed.
        let Some(script) = hooks.before.as_deref().filter(|_| kept_agent(upcoming.session).is_none()) else {
            return Ok(());
        };
        let refused = |why: String| Err(Error::Denied(Denial::ByHook { why }));
        let is_inside = |var: &EnvVar| {
            var.name.as_bytes() == HOOK_VARIABLE.as_bytes() && var.value.as_bytes() == BEFORE.as_bytes()
        };
        if upcoming.env.iter().any(is_inside) {
            // It would be called for the task, which it would start again, and so on.
            return refused("the hook cannot start tasks itself".to_owned());
        }
        let command = (upcoming.command)();
        let redactor = Redactor::for_texts(&self.settings.redact, upcoming.env, &[&command]);
        let command = redactor.text(&command);
        let summary = format!("{} is about to start: {command}", upcoming.id);
        let payload = json!({
            "hook": BEFORE,
            "id": upcoming.id,
            "name": upcoming.name,
            "session": upcoming.session,
            "command": command,
            "cwd": upcoming.cwd.to_string_lossy(),
            "run": upcoming.run,
            "at": self.clock.now(),
        });
        let hook = UserCommand {
            script,
            variables: &[(HOOK_VARIABLE, BEFORE), (SUMMARY_VARIABLE, &summary)],
            input: format!("{payload}\n"),
            timeout: hooks.timeout,
        };
        match hook.run_and_listen() {
            Ok((status, _)) if status.success() => Ok(()),
            Ok((status, said)) => {
                let reason = said.lines().map(one_line).find(|line| !line.is_empty());
                let reason = reason.unwrap_or_else(|| status.to_string());
                let shown = Redactor::for_texts(&self.settings.redact, upcoming.env, &[&reason]);
                refused(shown.text(&reason).chars().take(LONGEST_REASON).collect())
            }
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => refused(error.to_string()),
            Err(error) => Err(Error::io("cannot run the hook before a task")(error)),
        }
    }
}
