//! Applies the layers of settings: profile, user file, project file, environment.

use std::env;
use std::ffi::OsStr;

use meanwhile::policy::RuleOrigin;

use super::accepts::{Accepts, SettingValue};
use super::definition::{InProject, Setting};
use super::file::{FileSetting, SettingsFile};
use super::load::{Config, NotTaken};
use super::profile;
use super::settings::{find, settings};
use super::source::{Source, shown};
use super::suggest::nearest;
use crate::error::CommandError;
use crate::programs;

/// The setting that selects the profile; it is read before all others.
const PROFILE: &str = "profile";
/// The list of policy rules, which is not a setting.
const RULES: &str = "rules";
/// A table of an agent, which is not a setting.
const AGENTS: &str = "agents.";
/// A table of a back-end, which is not a setting.
const BACKENDS: &str = "backends.";
/// A table of a service, which is declared elsewhere.
const SERVICES: &str = "services.";
const HINT: &str = "mw config --default prints every setting and what it accepts";

impl Config {
    /// Selects the profile and applies its values.
    pub(super) fn take_profile(&mut self, user: &[FileSetting<'_>]) {
        let Some(setting) = find(PROFILE) else { return };
        if let Some(entry) = user.iter().find(|entry| entry.name == PROFILE)
            && let Some(value) = self.noted(read_entry(entry, &setting.accepts))
        {
            self.set(setting, &value, Source::User(entry.place.clone()));
        }
        let variable = setting.variable();
        if let Some(given) = env::var_os(&variable) {
            self.take_variable(setting, &variable, &given, &setting.accepts);
        }
        for (name, text) in self.profile.values {
            let Some(setting) = find(name) else { continue };
            if let Some(value) = setting.accepts.read_text(text) {
                self.set(setting, &value, Source::Profile(self.profile.name()));
            }
        }
    }

    /// Uses the home of the profile if the user chose the profile. A host that only uses a dialect must not hide its tasks from
    /// other clients.
    pub(super) fn take_root(&mut self) -> Result<(), CommandError> {
        let is_chosen = self.sources.iter().any(|(name, _)| *name == PROFILE);
        if is_chosen && self.profile.root.is_some() {
            let home = meanwhile::engine::home_directory(self.profile.root).unwrap_or_default();
            self.settings.executables = programs::of_home(&home)?;
            self.settings.home = home;
        }
        Ok(())
    }

    pub(super) fn take_user_file(&mut self, file: &SettingsFile) {
        let entries = self.noted(file.entries()).unwrap_or_default();
        self.take_profile(&entries);
        for entry in entries.iter().filter(|entry| entry.name != PROFILE) {
            let taken = self.take_user_entry(file, entry);
            self.noted(taken);
        }
    }

    pub(super) fn take_user_entry(
        &mut self,
        file: &SettingsFile,
        entry: &FileSetting<'_>,
    ) -> Result<(), CommandError> {
        if entry.name == RULES {
            self.rule_files.push((RuleOrigin::User, file.path.clone(), file.text.clone()));
            return Ok(());
        }
        if entry.name.starts_with(AGENTS) {
            self.agents_file = Some((file.path.clone(), file.text.clone()));
            return Ok(());
        }
        if entry.name.starts_with(BACKENDS) {
            // All of them are read at once.
            let is_read = !self.settings.backends.places.is_empty();
            return if is_read { Ok(()) } else { self.take_backends(file, &entry.place) };
        }
        let (setting, accepts) = match find(&entry.name) {
            Some(setting) => (setting, &setting.accepts),
            None => self.by_alias(entry)?,
        };
        let value = read_entry(entry, accepts)?;
        if let Source::User(earlier) = self.source(setting) {
            let (name, line) = (setting.name, earlier.line);
            return Err(refused(entry, &format!("{name} is already set in line {line}")));
        }
        self.set(setting, &value, Source::User(entry.place.clone()));
        Ok(())
    }

    /// Finds the setting that has this name in the profile.
    fn by_alias(
        &self,
        entry: &FileSetting<'_>,
    ) -> Result<(&'static Setting, &'static Accepts), CommandError> {
        let ours = self.profile.alias(&entry.name);
        if let Some((alias, setting)) = ours.and_then(|alias| Some((alias, find(alias.setting)?))) {
            return Ok((setting, &alias.accepts));
        }
        Err(unknown(entry))
    }

    pub(super) fn take_project_file(&mut self, file: &SettingsFile) {
        for entry in self.noted(file.entries()).unwrap_or_default() {
            let taken = self.take_project_entry(file, entry);
            self.noted(taken);
        }
    }

    pub(super) fn take_project_entry(
        &mut self,
        file: &SettingsFile,
        entry: FileSetting<'_>,
    ) -> Result<(), CommandError> {
        if entry.name == RULES {
            self.rule_files.push((RuleOrigin::Project, file.path.clone(), file.text.clone()));
            return Ok(());
        }
        if entry.name.starts_with(AGENTS) {
            let why =
                "a project file may not set agents, because they are programs that run with your rights";
            return Err(refused(&entry, why));
        }
        if entry.name.starts_with(BACKENDS) {
            let why = "a project file may not set back-ends, because they decide where commands run";
            return Err(refused(&entry, why));
        }
        let setting = find(&entry.name).ok_or_else(|| unknown(&entry))?;
        if setting.in_project == InProject::Nothing {
            return Err(refused(&entry, "a project file may not set it"));
        }
        let value = read_entry(&entry, &setting.accepts)?;
        let present = (setting.get)(self);
        if setting.in_project.is_stricter(&value, &present) {
            self.set(setting, &value, Source::Project(entry.place));
        } else if value != present {
            let value = setting.accepts.text(&value);
            self.not_taken.push(NotTaken { name: setting.name, value, place: entry.place });
        }
        Ok(())
    }

    /// Applies the variables; a setting's own variable takes precedence over the profile's.
    pub(super) fn take_environment(&mut self) {
        for alias in self.profile.aliases {
            if let Some((variable, setting)) = alias.variable.zip(find(alias.setting))
                && let Some(given) = env::var_os(variable)
            {
                self.take_variable(setting, variable, &given, &alias.accepts);
            }
        }
        let variables = Self::variables();
        for setting in settings().filter(|setting| setting.name != PROFILE) {
            if let Some((name, given)) = variables.iter().find(|(name, _)| setting.has_variable(name)) {
                self.take_variable(setting, name, given, &setting.accepts);
            }
        }
    }

    fn take_variable(&mut self, setting: &'static Setting, variable: &str, given: &OsStr, accepts: &Accepts) {
        let value = given.to_str().and_then(|text| accepts.read_text(text)).ok_or_else(|| {
            let (name, given) = (setting.name, shown(&given.to_string_lossy()));
            let message = format!("{variable} ({name}): \"{given}\" is not accepted; it takes {accepts}");
            CommandError::usage(message, HINT)
        });
        if let Some(value) = self.noted(value) {
            self.set(setting, &value, Source::Environment(variable.to_owned()));
        }
    }
}

fn read_entry(entry: &FileSetting<'_>, accepts: &Accepts) -> Result<SettingValue, CommandError> {
    accepts.read_toml(&entry.value).ok_or_else(|| {
        let given = shown(entry.written);
        refused(entry, &format!("{given} is not accepted; it takes {accepts}"))
    })
}

fn unknown(entry: &FileSetting<'_>) -> CommandError {
    let mut error = refused(entry, "no such setting");
    if entry.name.starts_with(SERVICES) {
        error.hint = "services are declared in meanwhile.toml, without a dot, for mw up".to_owned();
    } else if let Some((profile, alias)) = profile::knows(&entry.name) {
        let name = profile.name();
        error.hint = format!(
            "this is the name of {} in the profile {name}; use it in the user file with that profile",
            alias.setting
        );
    } else if let Some(suggestion) = nearest(&entry.name) {
        error.hint = format!("did you mean {suggestion}? {HINT}");
    }
    error
}

fn refused(entry: &FileSetting<'_>, why: &str) -> CommandError {
    CommandError::usage(format!("{}: {}: {why}", entry.place, shown(&entry.name)), HINT)
}
