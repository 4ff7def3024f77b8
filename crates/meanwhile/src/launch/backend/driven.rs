//! A back-end of the configuration. The supervisor runs its driver; the command runs elsewhere.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mw_model::wire::{DriverCommand, Launch, TASKS_DIR};
use mw_model::{BackendKind, BackendPlace, RawText, TaskSpec};

use super::process::environment;
use super::{Backend, Capabilities, Plan};
use crate::error::{Error, Result};
use crate::launch::program::find_program;
use crate::request::TaskRequest;
use crate::settings::Settings;

pub(super) struct Driven<'a> {
    pub(super) place: &'a BackendPlace,
    /// The command line of the drivers, if this program has any.
    pub(super) driver: &'a [RawText],
}

impl Backend for Driven<'_> {
    fn capabilities(&self) -> Capabilities {
        let kind = match &self.place.kind {
            BackendKind::Ssh(_) => Capabilities { signals: true, ..Capabilities::LEAST },
            // The processes of a container that already exists are not limited one by one.
            BackendKind::Container(place) if place.container.is_some() => Capabilities::LEAST,
            BackendKind::Container(_) => Capabilities { memory: true, cpus: true, ..Capabilities::LEAST },
            BackendKind::Slurm(_) => {
                Capabilities { memory: true, cpus: true, signals: true, ..Capabilities::LEAST }
            }
        };
        let survives_reboot = !matches!(self.place.kind, BackendKind::Container(_));
        Capabilities { survives_reboot, ..kind }
    }

    fn check(&self, request: &TaskRequest) -> Result<()> {
        if request.agent.is_some() {
            let message = format!("agents cannot run on the back-end {}", self.place.name);
            return Err(Error::invalid(message, "start the agent here, and let it start commands there"));
        }
        if matches!(self.place.kind, BackendKind::Slurm(_)) && request.limits.resources.pids.is_some() {
            let message = format!("the back-end {} does not support a limit of processes", self.place.name);
            return Err(Error::invalid(message, "omit --pids: Slurm has no such limit for a job"));
        }
        Ok(())
    }

    fn plan(&self, home: &Path, spec: &TaskSpec, run: u32) -> Result<Plan> {
        let (program, argv) = self.program()?;
        let home = std::path::absolute(home).unwrap_or_else(|_| home.to_owned());
        let cwd: RawText = home.join(TASKS_DIR).join(spec.id.as_str()).as_os_str().as_bytes().into();
        let argv = argv.iter().cloned().chain([RawText::from(run.to_string())]).collect();
        let driver = DriverCommand { program, argv, env: environment(spec, run), cwd };
        let DriverCommand { program, argv, env, cwd } = driver.clone();
        Ok(Plan {
            launch: Launch::Spawn { program, argv, env, cwd, umask: spec.umask },
            driver: Some(driver),
        })
    }

    fn runs_here(&self) -> bool {
        false
    }

    fn probe(&self, _: &Settings) -> Result<()> {
        self.program().map(drop)
    }
}

impl Driven<'_> {
    /// Returns the path of the driver and its command line.
    fn program(&self) -> Result<(RawText, &[RawText])> {
        let [program, ..] = self.driver else { return Err(no_driver(&self.place.name)) };
        let path = OsStr::from_bytes(program.as_bytes());
        let program = find_program(path, None, Path::new("/")).map_err(|_| no_driver(&self.place.name))?;
        Ok((program.as_os_str().as_bytes().into(), self.driver))
    }
}

pub(super) fn no_driver(place: &str) -> Error {
    let message = format!(
        "background mode is not supported in this execution context: this program has no driver for the back-end {place}"
    );
    Error::invalid(message, "start the task with a program that has drivers")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use mw_model::{CommandSpec, Place, SshPlace};

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
