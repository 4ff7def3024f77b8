//! `mw agent-driver`: what an agent task executes. It drives the agent and ends with its turn.

use std::env;
use std::fs;
use std::sync::Arc;

use clap::Args;
use meanwhile::Meanwhile;
use meanwhile::engine::model::{TASK_VARIABLE, TaskId};
use meanwhile::engine::project_of;
use mw_agents::acp::PolicyPermissions;
use mw_agents::subagent::{DriverOptions, drive};

use crate::arguments::environment::environment;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

#[derive(Args)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let usage =
            || CommandError::usage("agent-driver is called by supervisors", "write mw agent 'prompt'");
        let id = env::var(TASK_VARIABLE).ok().and_then(|id| id.parse::<TaskId>().ok()).ok_or_else(usage)?;
        let config = &context.config;
        let cwd = fs::canonicalize(env::current_dir()?)?;
        let runtime = context.runtime()?;
        let session = runtime.home().task(&id).spec()?.session;
        let mut policy = context.decided_by(&runtime, &session)?;
        // Where there is no project, the agent has its own directory.
        let project = project_of(&cwd, policy.user_home.as_deref()).unwrap_or_else(|| cwd.clone());
        policy.stay_in_project_of(&cwd);
        let permissions = PolicyPermissions {
            home: Meanwhile::open_lazy(config.settings.clone()),
            session,
            policy,
            shell: config.shell.as_str().into(),
            cwd,
            project,
        };
        let (permissions, env) = (Arc::new(permissions), environment(&[])?);
        Ok(drive(&DriverOptions { task: id, permissions, env, mw: config.mw() })?)
    }
}
