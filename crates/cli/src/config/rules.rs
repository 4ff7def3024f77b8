//! Rules in settings files.

use meanwhile::model::policy::{Rule, Rules};
use serde::Deserialize;

use super::load::Config;
use super::source::shown;
use crate::error::CommandError;

/// What of a file is rules; the settings in it are read elsewhere.
#[derive(Deserialize)]
struct File {
    rules: Vec<Rule>,
}

impl Config {
    /// Reads the rules of the user and the project, and tries their examples.
    ///
    /// # Errors
    /// Names the file and the rule that cannot be used.
    pub(crate) fn rules(&self) -> Result<Rules, CommandError> {
        let mut rules = Rules::none();
        for (origin, path, text) in &self.rule_files {
            let refused = |why: &str| {
                let message = format!("{}: {}", shown(&path.to_string_lossy()), shown(why));
                CommandError::usage(message, "docs/approval.md says what a rule looks like")
            };
            let file: File = toml::from_str(text).map_err(|error| refused(error.message()))?;
            rules.add(file.rules, *origin).map_err(|error| refused(&error.to_string()))?;
        }
        Ok(rules)
    }
}
