//! An agent: the command is the driver that talks to it.

use mw_model::TaskSpec;
use mw_model::wire::Launch;

use super::process::LocalProcess;
use super::{Backend, Capabilities, Stop};
use crate::error::Result;
use crate::request::TaskRequest;

pub(super) struct AgentDriver;

impl Backend for AgentDriver {
    fn capabilities(&self) -> Capabilities {
        Capabilities { terminal: false, resources: true }
    }

    fn check(&self, request: &TaskRequest) -> Result<()> {
        LocalProcess.check(request)
    }

    fn plan(&self, spec: &TaskSpec, run: u32) -> Result<Launch> {
        LocalProcess.plan(spec, run)
    }

    /// The driver first lets the agent finish its message.
    fn stop(&self) -> Stop {
        Stop::LeaderFirst
    }
}
