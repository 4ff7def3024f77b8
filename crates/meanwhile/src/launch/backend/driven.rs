//! A back-end of the configuration. The supervisor runs its driver; the command runs elsewhere.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::wire::{DriverCommand, Launch, TASKS_DIR};
use mw_model::{BackendKind, BackendPlace, Place, RawText, TaskSpec};

use super::process::environment;
use super::{Backend, Capabilities};
use crate::error::{Error, Result};
use crate::launch::program::find_program;
use crate::request::TaskRequest;
use crate::settings::Settings;

pub(super) struct Driven<'a>(pub(super) &'a BackendPlace);

impl Backend for Driven<'_> {
    fn capabilities(&self) -> Capabilities {
        let kind = match &self.0.kind {
            BackendKind::Ssh(_) => Capabilities { signals: true, ..Capabilities::LEAST },
            // The processes of a container that already exists are not limited one by one.
            BackendKind::Container(place) if place.container.is_some() => Capabilities::LEAST,
            BackendKind::Container(_) => Capabilities { memory: true, cpus: true, ..Capabilities::LEAST },
        };
        Capabilities { survives_reboot: matches!(self.0.kind, BackendKind::Ssh(_)), ..kind }
    }

    fn check(&self, request: &TaskRequest) -> Result<()> {
        if request.agent.is_some() {
            let message = format!("agents cannot run on the back-end {}", self.0.name);
            return Err(Error::invalid(message, "start the agent here, and let it start commands there"));
        }
        Ok(())
    }

    fn plan(&self, spec: &TaskSpec, _: u32) -> Result<Launch> {
        // The message names its driver instead.
        Err(no_driver(&spec.place))
    }

    fn probe(&self) -> Result<()> {
        Ok(())
    }
}

/// Returns the driver of a task, if its back-end has one.
pub(crate) fn driver_of(settings: &Settings, spec: &TaskSpec, run: u32) -> Result<Option<DriverCommand>> {
    if !spec.place.has_driver() {
        return Ok(None);
    }
    let Some((program, words)) = settings.backends.driver.split_first() else {
        return Err(no_driver(&spec.place));
    };
    let home = std::path::absolute(&settings.home).unwrap_or_else(|_| settings.home.clone());
    let directory = home.join(TASKS_DIR).join(spec.id.as_str());
    let number = RawText::from(run.to_string());
    let argv = [program.clone()].into_iter().chain(words.iter().cloned()).chain([number]);
    let path: PathBuf = OsStr::from_bytes(program.as_bytes()).into();
    let program = find_program(path.as_os_str(), None, Path::new("/")).map_err(|_| no_driver(&spec.place))?;
    Ok(Some(DriverCommand {
        program: program.as_os_str().as_bytes().into(),
        argv: argv.collect(),
        env: environment(spec, run),
        cwd: directory.as_os_str().as_bytes().into(),
    }))
}

pub(super) fn no_driver(place: &Place) -> Error {
    let message = format!(
        "background mode is not supported in this execution context: this program has no driver for the back-end {place}"
    );
    Error::invalid(message, "start the task with mw")
}

#[cfg(test)]
mod tests {
    use mw_model::{CommandSpec, SshPlace};

    use super::*;
    use crate::launch::backend::check_backend;

    #[test]
    fn a_program_without_a_driver_refuses_the_task_as_not_supported() {
        let kind = BackendKind::Ssh(SshPlace { host: "h".to_owned(), ..SshPlace::default() });
        let place = BackendPlace { name: "far".to_owned(), kind, variables: Vec::new() };
        let command = CommandSpec::Argv(vec!["true".into()]);
        let mut request = TaskRequest::new("s", command, PathBuf::from("/"), Vec::new());
        request.run_on(Place::Backend(Box::new(place)), &[]);
        let driver = vec![RawText::from("/bin/mw"), RawText::from("backend-driver")];
        assert!(check_backend(&request, &driver).is_ok());
        let refused = check_backend(&request, &[]).unwrap_err().to_string();
        assert!(refused.contains("background mode is not supported in this execution context"), "{refused}");
    }
}
