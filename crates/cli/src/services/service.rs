//! A declared service, and the start that it stands for.

use std::ffi::OsString;
use std::path::PathBuf;

use meanwhile::engine::TaskRequest;

use crate::context::Context;
use crate::entry::read_start;
use crate::error::CommandError;
use crate::help::Refused;

/// What a service executes.
#[derive(Debug, PartialEq)]
pub(super) enum ServiceCommand {
    /// A script for the shell.
    Script(String),
    /// A program with its arguments.
    Words(Vec<String>),
}

/// A declared service.
#[derive(Debug, PartialEq)]
pub(crate) struct Service {
    pub(crate) name: String,
    pub(super) command: ServiceCommand,
    pub(super) dir: PathBuf,
    /// The variables that it adds to the environment.
    pub(super) env: Vec<(String, String)>,
    pub(super) depends_on: Vec<String>,
    /// More options of `mw start`.
    pub(super) options: Vec<String>,
}

impl Service {
    /// Returns the start in this batch that the service stands for. It can be started now, as far as that can be checked.
    ///
    /// # Errors
    /// When `mw start` would refuse it.
    pub(super) fn request(&self, context: &Context, batch: &str) -> Result<TaskRequest, CommandError> {
        let of_service = |error: CommandError| CommandError {
            message: format!("service {}: {}", self.name, error.message),
            ..error
        };
        let words = self.words(batch);
        let read = read_start(&words).map_err(|error| {
            let refused = Refused::of(&error, &words);
            of_service(CommandError::usage(refused.message, refused.hint))
        })?;
        read.start.request(context).map_err(of_service)
    }

    /// Returns the words of the `mw start` that it stands for.
    fn words(&self, batch: &str) -> Vec<OsString> {
        let mut words: Vec<OsString> = ["mw", "start"].map(OsString::from).into();
        words.push(format!("--name={}", self.name).into());
        words.push(format!("--batch={batch}").into());
        let mut dir = OsString::from("--cwd=");
        dir.push(&self.dir);
        words.push(dir);
        words.extend(self.env.iter().map(|(name, value)| format!("--env={name}={value}").into()));
        words.extend(self.options.iter().map(OsString::from));
        match &self.command {
            ServiceCommand::Script(script) => words.push(script.into()),
            ServiceCommand::Words(program) => {
                words.push("--".into());
                words.extend(program.iter().map(OsString::from));
            }
        }
        words
    }
}
