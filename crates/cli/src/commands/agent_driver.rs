//! `mw agent-driver`: what an agent task executes. It drives the agent and ends with its turn.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use meanwhile::model::TaskId;
use meanwhile::model::policy::Profile;
use meanwhile::project_of;
use mw_agents::acp::{ApprovalDesk, DriverOptions, PolicyPermissions, drive};

use super::start::environment;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

#[derive(Args)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let usage =
            || CommandError::usage("agent-driver is called by supervisors", "write mw agent 'prompt'");
        let id =
            env::var("MEANWHILE_TASK_ID").ok().and_then(|id| id.parse::<TaskId>().ok()).ok_or_else(usage)?;
        let config = &context.config;
        let cwd = fs::canonicalize(env::current_dir()?)?;
        let home = env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        // Where there is no project, the agent has its own directory.
        let root = project_of(&cwd, home.as_deref()).unwrap_or_else(|| cwd.clone());
        let real = |path: &String| Some(fs::canonicalize(path).ok()?.to_string_lossy().into_owned());
        let session = context.runtime()?.home().spec(&id)?.session;
        let desk = ApprovalDesk { settings: config.settings.clone(), session, policy: config.decides_by()? };
        let permissions = PolicyPermissions {
            desk,
            mode: config.policy.mode,
            profile: Profile::named(config.profile_name()).unwrap_or_default(),
            rules: config.rules()?,
            writable: config.policy.writable.iter().filter_map(real).collect(),
            ci_reads: config.policy.ci_reads,
            shell: config.shell.clone(),
            cwd: cwd.clone(),
            project: root.clone(),
            home: home.map(|home| home.to_string_lossy().into_owned()).unwrap_or_default(),
        };
        let options = DriverOptions {
            settings: config.settings.clone(),
            task: id,
            permissions: Arc::new(permissions),
            root,
            cwd,
            shell: config.shell.as_str().into(),
            env: environment(&[])?,
            mw: config.mw(),
        };
        Ok(drive(&options)?)
    }
}
