//! Rules in settings files.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use meanwhile::Policy;
use meanwhile::model::policy::{Profile, Rule, Rules};
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
    /// Returns what calls are decided by, whoever makes them.
    ///
    /// # Errors
    /// When a rule cannot be used.
    pub(crate) fn decides_by(&self) -> Result<Policy, CommandError> {
        let settings = &self.policy;
        Ok(Policy {
            mode: settings.mode,
            profile: Profile::named(self.profile_name()).unwrap_or_default(),
            ci_reads: settings.ci_reads,
            writable: settings.writable.iter().map(PathBuf::from).collect(),
            rules: Arc::new(self.rules()?),
            user_home: env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            patience: settings.patience,
        })
    }

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
