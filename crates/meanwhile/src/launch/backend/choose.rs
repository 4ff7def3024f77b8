//! Chooses the back-end of a task, and refuses requests that it does not support.

use mw_model::{AgentSpec, Io, Place, TaskSpec};

use super::mock::Mock;
use super::process::LocalProcess;
use super::{Backend, BackendReport, Capabilities};
use crate::error::{Error, Result};
use crate::request::TaskRequest;

fn choose(place: Place, agent: Option<&AgentSpec>) -> &'static dyn Backend {
    match (place, agent) {
        (Place::Process, None) => &LocalProcess { is_driver: false },
        (Place::Process, Some(_)) => &LocalProcess { is_driver: true },
        (Place::Mock, _) => &Mock,
    }
}

/// Returns every back-end, and checks whether tasks can run there now.
#[must_use]
pub fn backends() -> Vec<BackendReport> {
    let report = |place| {
        let backend = choose(place, None);
        BackendReport { place, capabilities: backend.capabilities(), problem: backend.probe().err() }
    };
    Place::ALL.into_iter().map(report).collect()
}

/// Returns the back-end that a task was started in.
pub(crate) fn backend_of(spec: &TaskSpec) -> &'static dyn Backend {
    choose(spec.place, spec.agent.as_deref())
}

/// Returns the back-end for a request, or an error if the request cannot run there.
pub(crate) fn backend_for(request: &TaskRequest) -> Result<&'static dyn Backend> {
    let backend = choose(request.place, request.agent.as_deref());
    refuse_unsupported(request, backend.capabilities())?;
    backend.check(request)?;
    Ok(backend)
}

fn refuse_unsupported(request: &TaskRequest, capabilities: Capabilities) -> Result<()> {
    let refuse = |what: &str| {
        let message = format!("the back-end {} does not support {what}", request.place);
        Err(Error::invalid(message, format!("omit it, or use the back-end {}", Place::Process)))
    };
    if matches!(request.io, Io::Pty { .. }) && !capabilities.terminal {
        return refuse("a terminal");
    }
    if !request.limits.resources.is_none() && !capabilities.resources {
        return refuse("resource limits");
    }
    Ok(())
}
