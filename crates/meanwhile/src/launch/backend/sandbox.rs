//! A process of this machine that the kernel keeps in its project.

use std::path::Path;

use mw_model::TaskSpec;
use mw_model::wire::Enforcer;

use super::process::LocalProcess;
use super::{Backend, Capabilities, Plan};
use crate::confine::kernel;
use crate::error::{Error, Result};
use crate::request::TaskRequest;
use crate::settings::Settings;

const COMMAND: LocalProcess = LocalProcess { is_driver: false };

pub(super) struct Sandbox;

impl Backend for Sandbox {
    fn capabilities(&self) -> Capabilities {
        Capabilities::LOCAL
    }

    fn check(&self, request: &TaskRequest) -> Result<()> {
        if request.agent.is_some() {
            return Err(Error::invalid(
                "agents cannot run in the sandbox: they use the home of meanwhile",
                "start the agent as a process, and let it start commands in the sandbox",
            ));
        }
        COMMAND.check(request)
    }

    fn plan(&self, home: &Path, spec: &TaskSpec, run: u32) -> Result<Plan> {
        COMMAND.plan(home, spec, run)
    }

    fn probe(&self, settings: &Settings) -> Result<()> {
        let usable = kernel::probe(settings).unwrap_or_default();
        let lacking: Vec<_> = Enforcer::ALL
            .iter()
            .filter(|needed| !usable.contains(needed))
            .map(|needed| needed.word())
            .collect();
        if lacking.is_empty() {
            return COMMAND.probe(settings);
        }
        let message = format!("the kernel cannot enforce a sandbox here; it lacks {}", lacking.join(", "));
        Err(Error::invalid(message, "allow user namespaces, and use Linux 5.13 or later with Landlock"))
    }
}
