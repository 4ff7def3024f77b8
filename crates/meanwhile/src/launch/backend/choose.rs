//! Chooses the back-end of a task, and refuses requests that it does not support.

use mw_model::{AgentSpec, Io, Place, RawText, ReadyWhen, TaskSpec};

use super::driven::{Driven, no_driver};
use super::mock::Mock;
use super::process::LocalProcess;
use super::sandbox::Sandbox;
use super::{Backend, BackendReport, Capabilities};
use crate::error::{Error, Result};
use crate::request::TaskRequest;
use crate::settings::Settings;

/// Returns the back-end of a place. `driver` is the command line for drivers, if there is one.
fn choose<'a>(place: &'a Place, agent: Option<&AgentSpec>, driver: &'a [RawText]) -> Box<dyn Backend + 'a> {
    match (place, agent) {
        (Place::Process, None) => Box::new(LocalProcess { is_driver: false }),
        (Place::Process, Some(_)) => Box::new(LocalProcess { is_driver: true }),
        (Place::Mock, _) => Box::new(Mock),
        (Place::Sandbox, _) => Box::new(Sandbox),
        (Place::Backend(place), _) => Box::new(Driven { place, driver }),
    }
}

/// Returns the back-ends that need no configuration, and checks whether tasks can run there now.
#[must_use]
pub fn backends(settings: &Settings) -> Vec<BackendReport> {
    let report = |place: Place| {
        let backend = choose(&place, None, &[]);
        let (capabilities, problem) = (backend.capabilities(), backend.probe(settings).err());
        drop(backend);
        BackendReport { place, capabilities, problem }
    };
    Place::BUILT_IN.into_iter().map(report).collect()
}

/// Returns what tasks support at a place.
#[must_use]
pub fn capabilities_of(place: &Place) -> Capabilities {
    choose(place, None, &[]).capabilities()
}

/// Returns the back-end that a task was started in.
pub(crate) fn backend_of<'a>(settings: &'a Settings, spec: &'a TaskSpec) -> Box<dyn Backend + 'a> {
    choose(&spec.place, spec.agent.as_deref(), &settings.backends.driver)
}

/// Refuses a request that its back-end cannot run. `driver` is the command line for drivers, if there is one.
pub(crate) fn check_backend(request: &TaskRequest, driver: &[RawText]) -> Result<()> {
    if let Place::Backend(place) = &request.place
        && driver.is_empty()
    {
        return Err(no_driver(&place.name));
    }
    let backend = choose(&request.place, request.agent.as_deref(), driver);
    refuse_unsupported(request, backend.capabilities())?;
    backend.check(request)
}

fn refuse_unsupported(request: &TaskRequest, capabilities: Capabilities) -> Result<()> {
    let limits = &request.limits.resources;
    let asked = [
        (request.io.terminal().is_some(), capabilities.terminal, "a terminal"),
        (request.io == Io::Stdin, capabilities.input, "an open standard input"),
        (request.io == Io::Direct, capabilities.direct, "tasks that write their log themselves"),
        (request.progress_fd, capabilities.progress, "a descriptor for progress reports"),
        (is_port(request.ready.as_ref()), capabilities.ports, "readiness by a port"),
        (limits.memory.is_some() || limits.pids.is_some(), capabilities.memory, "these resource limits"),
        (limits.milli_cpus.is_some(), capabilities.cpus, "a limit of CPUs among its resource limits"),
        (
            limits.cpu_time_ms.is_some(),
            capabilities.cpu_time,
            "a limit of CPU time among its resource limits",
        ),
    ];
    match asked.into_iter().find(|(is_asked, has, _)| *is_asked && !has) {
        None => Ok(()),
        Some((_, _, what)) => {
            let message = format!("the back-end {} does not support {what}", request.place);
            Err(Error::invalid(message, format!("omit it, or use the back-end {}", Place::Process)))
        }
    }
}

const fn is_port(ready: Option<&ReadyWhen>) -> bool {
    match ready {
        Some(ReadyWhen::Port(_) | ReadyWhen::AnyPort) => true,
        Some(ReadyWhen::Line(_)) | None => false,
    }
}
