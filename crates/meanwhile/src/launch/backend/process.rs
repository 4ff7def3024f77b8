//! A local process: the command itself, or the driver that talks to an agent.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mw_model::wire::Launch;
use mw_model::{
    DEFAULT_SHELL, EnvVar, RawText, TRACEPARENT_VARIABLE, TRACESTATE_VARIABLE, TaskSpec, TaskTrace,
};

use super::{Backend, Capabilities, Plan, Stop};
use crate::confine::{grant_of, keeps_variable};
use crate::error::{Error, Result};
use crate::launch::program::program_of;
use crate::request::TaskRequest;
use crate::settings::Settings;

pub(super) struct LocalProcess {
    /// Whether the command is the driver of an agent.
    pub(super) is_driver: bool,
}

impl Backend for LocalProcess {
    fn capabilities(&self) -> Capabilities {
        Capabilities { terminal: !self.is_driver, ..Capabilities::LOCAL }
    }

    /// A driver first lets the agent finish its message.
    fn stop(&self) -> Stop {
        if self.is_driver { Stop::LeaderFirst } else { Stop::Tree }
    }

    fn check(&self, request: &TaskRequest) -> Result<()> {
        let cwd = RawText::from(request.cwd.as_os_str().as_bytes());
        program_of(&request.command, path_in(&request.env), &cwd).map(|_| ())
    }

    fn plan(&self, _: &Path, spec: &TaskSpec, run: u32) -> Result<Plan> {
        // The program is looked up in the task's own PATH.
        let program = program_of(&spec.command, path_in(&spec.env), &spec.cwd)?;
        Ok(Plan::here(execution(spec, run, program, spec.command.argv())))
    }

    fn probe(&self, _: &Settings) -> Result<()> {
        probe_shell()
    }
}

/// Returns the execution of a program in a task's directory and with its environment.
pub(super) fn execution(spec: &TaskSpec, run: u32, program: RawText, argv: Vec<RawText>) -> Launch {
    let (env, cwd, umask) = (environment(spec, run), spec.cwd.clone(), spec.umask);
    Launch::Spawn { program, argv, env, cwd, umask }
}

/// Checks that scripts can be executed.
pub(super) fn probe_shell() -> Result<()> {
    rustix::fs::access(DEFAULT_SHELL, rustix::fs::Access::EXEC_OK)
        .map_err(|error| Error::io(format!("cannot execute {DEFAULT_SHELL}"))(error.into()))
}

pub(super) fn path_in(env: &[EnvVar]) -> Option<&[u8]> {
    env.iter().rev().find(|var| var.name.as_bytes() == b"PATH").map(|var| var.value.as_bytes())
}

/// Returns the environment of a run's command or driver: the requested variables and the span of the run.
pub(super) fn environment(spec: &TaskSpec, run: u32) -> Vec<RawText> {
    let named = |var: &EnvVar, name: &str| var.name.as_bytes() == name.as_bytes();
    // The caller's trace state does not apply to a span of ours that has another origin.
    let is_replaced = |var: &EnvVar, trace: &TaskTrace| {
        named(var, TRACEPARENT_VARIABLE) || (trace.parent.is_none() && named(var, TRACESTATE_VARIABLE))
    };
    let grant = grant_of(spec);
    let grant = grant.as_deref();
    let kept = spec.env.iter().filter(|var| {
        keeps_variable(grant, var) && !spec.trace.is_some_and(|trace| is_replaced(var, &trace))
    });
    let mut env: Vec<RawText> =
        kept.map(|var| [var.name.as_bytes(), b"=", var.value.as_bytes()].concat().into()).collect();
    let own = spec.trace.map(|trace| format!("{TRACEPARENT_VARIABLE}={}", trace.for_command(run)));
    env.extend(own.map(RawText::from));
    env
}
