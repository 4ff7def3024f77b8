//! The model of the built-in agent.

use std::{env, fs};

use mw_agents::builtin::{ModelChoice, ModelError, ModelOptions};

use super::Config;
use super::source::shown;
use crate::error::CommandError;

impl Config {
    /// Chooses the model of the built-in agent: the wanted one, or else by the settings and the environment.
    ///
    /// # Errors
    /// When the key file cannot be read. The inner error says why there is no model.
    pub(crate) fn model(
        &self,
        wanted: Option<String>,
    ) -> Result<Result<ModelChoice, ModelError>, CommandError> {
        let options = ModelOptions {
            model: wanted.or_else(|| self.agent.model.clone()),
            base_url: self.agent.base_url.clone(),
            key: self.agent.key_file.as_deref().map(key_in).transpose()?,
        };
        Ok(ModelChoice::of(&options, |name| env::var(name).ok()))
    }
}

/// Reads the API key from a file.
fn key_in(path: &str) -> Result<String, CommandError> {
    let key = fs::read_to_string(path).map_err(|error| {
        CommandError::usage(
            format!("cannot read the key file {}: {error}", shown(path)),
            "set agent.key_file to a file that contains only the key",
        )
    })?;
    match key.trim() {
        "" => Err(CommandError::usage(
            format!("the key file {} is empty", shown(path)),
            "write the key into it",
        )),
        key => Ok(key.to_owned()),
    }
}
